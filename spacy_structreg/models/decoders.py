"""Decoders lent to threads, and streams of inputs that threads decode side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import repeat, zip_longest
from typing import Any, Final, Generic, TypeVar

from spacy_structreg.learn.frozen_rows import FrozenRows
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.learn.threads import side_by_side
from spacy_structreg.models.protocols import DecoderT

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")
GivenT = TypeVar("GivenT")

WORD: Final = 10
"""The number of characters, about, that are segmented while a word is tagged or parsed."""

PORTION: Final = 20_000
"""The number of characters that one thread takes at a time."""

# So many sentences are not parted.
_FEW: Final = 4
# Working memory for more characters than this is given back after use.
_KEPT: Final = 1_000_000


def with_given(
    sentences: Iterable[InputT], given: Iterable[GivenT | None] | None
) -> Iterator[tuple[InputT, GivenT | None]]:
    """Pair each sentence with its constraints. Raises ValueError if one of the two ends first.

    given: the constraints of each sentence; None for none at all.
    """
    if given is None:
        return zip(sentences, repeat(None))
    if isinstance(sentences, list) and isinstance(given, list) and len(sentences) == len(given):
        return zip(sentences, given, strict=True)
    return _paired(sentences, given)


def _paired(
    sentences: Iterable[InputT], given: Iterable[GivenT]
) -> Iterator[tuple[InputT, GivenT]]:
    end: Any = object()
    for number, (sentence, known) in enumerate(zip_longest(sentences, given, fillvalue=end)):
        if known is end:
            raise ValueError(
                f"something is given for {number} sentences, but there are more; give None for "
                "those of which nothing is known"
            )
        if sentence is end:
            raise ValueError(f"something is given for more than the {number} sentences there are")
        yield sentence, known


class DecoderPool(Generic[DecoderT]):
    """Decoders of one set of weights, each lent to one thread at a time.

    tables: the weights. make: makes a decoder of them.
    """

    def __init__(
        self, tables: list[TrainedRows], make: Callable[[list[TrainedRows]], DecoderT]
    ) -> None:
        self.tables = tables
        self._make = make
        self.idle: list[DecoderT] = []

    @property
    def is_frozen(self) -> bool:
        """True if the weights are frozen."""
        return any(isinstance(table, FrozenRows) for table in self.tables)

    def new_decoder(self) -> DecoderT:
        """A decoder of its own, which is not lent again."""
        return self._make(self.tables)

    def borrow(self) -> _Loan[DecoderT]:
        """Lend a decoder that nobody else uses, for a ``with`` block."""
        return _Loan(self)

    def run(
        self, decode: Callable[[DecoderT, list[InputT]], list[OutputT]], inputs: list[InputT]
    ) -> list[OutputT]:
        """The outputs of `decode` for inputs that are one portion, by a decoder that is lent."""
        try:
            decoder = self.idle.pop()
        except IndexError:
            decoder = self.new_decoder()
        outputs = decode(decoder, inputs)
        # It does not come back after an error.
        if decoder.capacity <= _KEPT:
            self.idle.append(decoder)
        return outputs

    def batch(
        self,
        inputs: list[InputT],
        decode: Callable[[DecoderT, list[InputT]], list[OutputT]],
        *,
        size: Callable[[InputT], int],
        n_threads: int = 1,
    ) -> list[OutputT]:
        """As `stream`, for inputs that are all there; few of them are one portion."""
        if len(inputs) <= _FEW:
            return self.run(decode, inputs) if inputs else []
        return list(self.stream(inputs, decode, size=size, n_threads=n_threads))

    def stream(
        self,
        inputs: Iterable[InputT],
        decode: Callable[[DecoderT, list[InputT]], list[OutputT]],
        *,
        size: Callable[[InputT], int],
        n_threads: int = 1,
    ) -> Iterator[OutputT]:
        """Decode any number of inputs in bounded memory; the outputs come in their order.

        decode: gives the outputs of a portion of the inputs; threads call it side by side.
        size: of an input, in characters; a word counts as `WORD` of them.
        """
        return self.stream_portions(portions(inputs, size), decode, n_threads=n_threads)

    def stream_portions(
        self,
        inputs: Iterable[list[InputT]],
        decode: Callable[[DecoderT, list[InputT]], list[OutputT]],
        *,
        n_threads: int = 1,
    ) -> Iterator[OutputT]:
        """As `stream`, for inputs that come in portions already."""
        for outputs in side_by_side(partial(self.run, decode), inputs, n_threads):
            yield from outputs


class _Loan(Generic[DecoderT]):
    """A decoder of a pool, lent for a ``with`` block; it does not come back after an error."""

    __slots__ = ("_decoder", "_pool")

    def __init__(self, pool: DecoderPool[DecoderT]) -> None:
        self._pool = pool

    def __enter__(self) -> DecoderT:
        # Taking from and adding to a list are atomic.
        try:
            self._decoder = self._pool.idle.pop()
        except IndexError:
            self._decoder = self._pool.new_decoder()
        return self._decoder

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._decoder.capacity <= _KEPT:
            self._pool.idle.append(self._decoder)


def portions(
    inputs: Iterable[InputT], size: Callable[[InputT], int], limit: int | None = None
) -> Iterator[list[InputT]]:
    """A stream of inputs in portions that a thread takes at a time.

    size: as of `DecoderPool.stream`. limit: of the number of inputs in a portion.
    """
    portion: list[InputT] = []
    total = 0
    for item in inputs:
        portion.append(item)
        total += size(item) + 1
        if total >= PORTION or len(portion) == limit:
            yield portion
            portion, total = [], 0
    if portion:
        yield portion
