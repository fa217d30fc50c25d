"""Counting the n-grams of texts of any size: in threads, in bounded memory, from files or streams.

Sentences end at line breaks, behind the marks 。！？!?…; and at the end of a text. White space is
left out. The accessor variety of an n-gram to the left is the number of different characters that
stand before it, and of the sentences that it begins; to the right, of those that stand behind it,
and of the sentences that it ends (Gao, Qiu & Huang 2010, section 5). A sentence that occurs twice
counts twice.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.features.character_classes import TABLE_SIZE, WHITE_SPACE, property_table
from spacy_structreg.tasks.knowledge.ngram_counts import RunMerger, TextChunk

__all__ = [
    "CHUNK",
    "MINIMUM",
    "MOST",
    "NgramTotals",
    "character_codes",
    "count_ngrams",
    "merge_runs",
    "most_frequent",
    "runs_of_texts",
    "totals_of",
]

CHUNK: Final = 1 << 21
"""Characters that a thread sorts at a time, if no text has more."""

MINIMUM: Final = 2
"""N-grams that occur less often are left out."""

MOST: Final = 1 << 21
"""Most n-grams that are kept: of more, those that occur least often are left out."""

# Records of runs that stay in memory, 16 bytes each; more are put into a temporary file.
_IN_MEMORY: Final = 1 << 22
# N-grams that are merged at a time.
_PORTION: Final = 1 << 16

_MARKS: Final = "。！？!?…；;"
_BREAKS: Final = "\n\r\u2028\u2029"

Run: TypeAlias = NDArray[np.uint64]
InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")
Ngrams: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class NgramTotals:
    """Counts of a text.

    ngrams: the codes of 2 to 4 characters (`ngram_counts`), the first one highest and zeros behind
    shorter ones, rising: uint64 of shape (n,). frequencies, left, right: how often each occurs, and
    its accessor varieties: int64 of shape (n,). characters: how often each code occurs: int64 of
    shape (65536,).
    """

    ngrams: NDArray[np.uint64]
    frequencies: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    characters: NDArray[np.int64]


def character_codes(
    view: NDArray[np.uint32] | None = None,
) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Make the tables of a `TextChunk`. view: normalized code points; None for the identity."""
    seen = np.arange(TABLE_SIZE, dtype=np.uint32) if view is None else view
    codes = np.where(seen > 0xFFFF, 0xD800 | (seen & 0x7FF), seen).astype(np.uint16)
    codes[codes == 0] = 0xFFFF
    codes[:TABLE_SIZE][(property_table() & WHITE_SPACE) != 0] = 0
    ends = np.zeros(len(codes), np.uint8)
    ends[[ord(mark) for mark in _MARKS + _BREAKS]] = 1
    return codes, ends


def count_ngrams(
    texts: Iterable[str],
    *,
    view: NDArray[np.uint32] | None = None,
    n_threads: int = 1,
    minimum: int = MINIMUM,
    most: int = MOST,
    chunk: int = CHUNK,
    on_text: Callable[[int], object] | None = None,
) -> NgramTotals:
    """Count the n-grams of 2 to 4 characters of texts.

    The result depends on the sentences of the texts alone: not on their order, nor on how many
    threads count them or how they are parted. If more than `most` n-grams occur `minimum` times,
    the least number above it is taken for which there are no more.

    view: a table of code points (see `character_codes`). on_text: is told the number of characters
    of each portion that has been read.

    With the defaults it takes half a gigabyte of memory, 200 MB for each further thread and 60
    bytes for each character of the longest text beyond `CHUNK`; and, for long texts, about 30 bytes
    a character of disk for temporary files. Raises OSError if these do not fit; ValueError for
    numbers below 1, and for portions of about 2³⁰ characters.
    """
    if min(minimum, most, chunk) < 1:
        raise ValueError("minimum, most and chunk must be at least 1")
    characters = np.zeros(0x10000, np.int64)
    runs = runs_of_texts(texts, view=view, n_threads=n_threads, chunk=chunk, on_text=on_text)
    with _Runs() as after, _Runs() as before:
        for frequencies, *directions in runs:
            characters += frequencies
            after.add(directions[0])
            before.add(directions[1])
        to_right, to_left = in_threads(
            lambda runs: merge_runs(runs.all(), minimum, most)[0], [after, before], n_threads
        )
    return totals_of(to_right, to_left, characters)


def runs_of_texts(
    texts: Iterable[str],
    *,
    view: NDArray[np.uint32] | None = None,
    n_threads: int = 1,
    chunk: int = CHUNK,
    on_text: Callable[[int], object] | None = None,
) -> Iterator[tuple[NDArray[np.int64], Run, Run]]:
    """Yield the counts of each portion of `chunk` characters or a little more.

    That is how often each code occurs, int64 of shape (65536,), and two sorted runs, uint64 of
    shape (n, 2): of n-grams with what follows them, and of the text read backwards
    (`ngram_counts`). Runs of any portions of all texts are what `merge_runs` takes.
    view, n_threads, on_text: as of `count_ngrams`. Raises ValueError as that.
    """
    tables = character_codes(view)

    def count(portion: list[str]) -> tuple[NDArray[np.int64], Run, Run]:
        counted = TextChunk(tables)
        for text in portion:
            counted.add(text)
        frequencies = counted.frequencies
        frequencies[0] = 0
        return frequencies, *counted.runs()

    return in_threads(count, _portions(texts, chunk, on_text), n_threads)


def totals_of(to_right: Ngrams, to_left: Ngrams, characters: NDArray[np.int64]) -> NgramTotals:
    """Combine the merged runs of both directions into the counts of a text.

    characters: how often each code occurs.
    """
    ngrams, frequencies, right = _ordered(*to_right)
    turned, _, left = _ordered(_turned(to_left[0]), *to_left[1:])
    assert np.array_equal(ngrams, turned), "the text read backwards has other n-grams"
    return NgramTotals(ngrams, frequencies, left, right, characters)


class _Runs:
    """Runs of one direction, of which most lie in a temporary file."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._file: IO[bytes] | None = None
        # Where each run in the file begins and ends, in numbers of 64 bits.
        self._filed: list[tuple[int, int]] = []
        self._n_kept = 0

    def __enter__(self) -> _Runs:
        return self

    def __exit__(self, *error: object) -> None:
        self._runs.clear()
        if self._file is not None:
            self._file.close()

    def add(self, run: Run) -> None:
        if self._n_kept + len(run) <= _IN_MEMORY:
            self._n_kept += len(run)
            self._runs.append(run)
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end
        self._file.write(run.data)
        begin = self._filed[-1][1] if self._filed else 0
        self._filed.append((begin, begin + run.size))

    def all(self) -> list[Run]:
        if self._file is None:
            return self._runs
        self._file.flush()
        mapped = np.memmap(self._file, np.uint64, "r")
        return self._runs + [mapped[begin:end].reshape(-1, 2) for begin, end in self._filed]


def _portions(
    texts: Iterable[str], chunk: int, on_text: Callable[[int], object] | None
) -> Iterator[list[str]]:
    """Texts in portions of `chunk` characters, or a little more."""
    portion: list[str] = []
    size = 0
    for text in texts:
        # Subclasses of str, such as numpy's, are not what compiled code takes.
        portion.append(str(text))
        size += len(text)
        if on_text is not None:
            on_text(len(text))
        if size >= chunk:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def in_threads(
    work: Callable[[InputT], OutputT], inputs: Iterable[InputT], n_threads: int
) -> Iterator[OutputT]:
    """Map `work` over inputs in threads, in order; at most one output per thread waits."""
    if n_threads <= 1:
        yield from map(work, inputs)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        pending: deque[Future[OutputT]] = deque()
        for each in inputs:
            pending.append(pool.submit(work, each))
            if len(pending) > n_threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def merge_runs(runs: Sequence[Run], minimum: int, most: int) -> tuple[Ngrams, int]:
    """The n-grams of runs of one direction that occur `minimum` times, and are not too many.

    runs: all of a text; or all of what begins with the same two characters, as n-grams that differ
    in these have nothing to do with each other.
    Returns as `most_frequent`: n-grams, their frequencies and varieties.
    """
    merger = RunMerger(runs, minimum)
    parts: list[Ngrams] = []
    n_kept = 0
    while len((part := merger.next(_PORTION))[0]):
        parts.append(part)
        n_kept += len(part[0])
        if n_kept > 2 * most:
            kept, minimum = most_frequent(parts, minimum, most)
            merger.raise_minimum(minimum)
            parts, n_kept = [kept], len(kept[0])
    return most_frequent(parts, minimum, most)


def most_frequent(parts: Iterable[Ngrams], minimum: int, most: int) -> tuple[Ngrams, int]:
    """The n-grams that occur `minimum` times; of more than `most`, those that occur more often.

    parts: of different n-grams each, whole down to the minimum.
    Returns the n-grams, and the number that is needed to be among them, at least `minimum`: if
    parts of the n-grams have numbers of their own, the highest one is the minimum of them all.
    """
    empty = (np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))
    ngrams, frequencies, varieties = map(np.concatenate, zip(empty, *parts, strict=True))
    kept = frequencies >= minimum
    if (n_kept := int(np.count_nonzero(kept))) > most:
        # The first one that is too much, from the highest down.
        place = len(ngrams) - most - 1
        minimum = int(np.partition(frequencies, place)[place]) + 1
        kept = frequencies >= minimum
        n_kept = 0
    if n_kept < len(ngrams):
        ngrams, frequencies, varieties = ngrams[kept], frequencies[kept], varieties[kept]
    return (ngrams, frequencies, varieties), minimum


def _ordered(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Arrays in the order of the first."""
    order = np.argsort(arrays[0])
    return tuple(array[order] for array in arrays)


def _turned(ngrams: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """N-grams read backwards."""
    turned = np.zeros_like(ngrams)
    for place in range(4):
        code = (ngrams >> np.uint64(16 * place)) & np.uint64(0xFFFF)
        # Zeros that stood behind an n-gram stay there.
        turned = np.where(code > 0, turned << np.uint64(16) | code, turned)
    # The lowest of a shorter one is moved up to where the first one belongs.
    for _ in range(2):
        turned = np.where(turned >> np.uint64(48) == 0, turned << np.uint64(16), turned)
    return turned
