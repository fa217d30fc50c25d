"""Counts of the n-grams of texts of any size: in threads, in bounded memory, from files or streams.

Sentences end at line breaks, behind the marks 。！？!?…; and at the end of a text. White space is
left out. The accessor variety of an n-gram to the left is the number of different characters that
stand before it, and of the sentences that it begins; to the right, of those that stand behind it,
and of the sentences that it ends (Gao, Qiu & Huang 2010, section 5). A sentence that occurs twice
counts twice.

What was counted once is read by many trainings from a file, in place of the text.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.features.character_classes import TABLE_SIZE, WHITE_SPACE, property_table
from spacy_structreg.learn.model_file import field, read_model, write_model
from spacy_structreg.learn.threads import side_by_side
from spacy_structreg.tasks.knowledge.ngram_counts import RunMerger, TextChunk

CHUNK: Final = 1 << 21
"""Characters that a thread sorts at a time, if no text has more."""

MINIMUM: Final = 2
"""N-grams that occur less often are left out."""

MOST: Final = 1 << 21
"""Most n-grams that are kept: of more, those that occur least often are left out."""

# N-grams that are merged at a time.
_PORTION: Final = 1 << 16

_MARKS: Final = "。！？!?…；;"
_BREAKS: Final = "\n\r\u2028\u2029"

TASK: Final = "ngrams"
_N_CODES: Final = 1 << 16

Run: TypeAlias = NDArray[np.uint64]
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
    bytes for each character of the longest text beyond `CHUNK`; and about 30 bytes a character of
    disk for temporary files. Raises OSError if these do not fit; ValueError for
    numbers below 1, and for portions of about 2³⁰ characters.
    """
    if min(minimum, most, chunk) < 1:
        raise ValueError("minimum, most and chunk must be at least 1")
    characters = np.zeros(_N_CODES, np.int64)
    runs = runs_of_texts(texts, view=view, n_threads=n_threads, chunk=chunk, on_text=on_text)
    with _Runs() as after, _Runs() as before:
        for frequencies, *directions in runs:
            characters += frequencies
            after.add(directions[0])
            before.add(directions[1])
        to_right, to_left = side_by_side(
            lambda runs: merge_runs(runs.all(), minimum, most).ngrams(), [after, before], n_threads
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

    return side_by_side(count, _portions(texts, chunk, on_text), n_threads)


def totals_of(to_right: Ngrams, to_left: Ngrams, characters: NDArray[np.int64]) -> NgramTotals:
    """Combine the merged runs of both directions into the counts of a text.

    characters: how often each code occurs.
    """
    ngrams, frequencies, right = _ordered(*to_right)
    turned, _, left = _ordered(_turned(to_left[0]), *to_left[1:])
    assert np.array_equal(ngrams, turned), "the text read backwards has other n-grams"
    return NgramTotals(ngrams, frequencies, left, right, characters)


class _Runs:
    """Runs of one direction, in a temporary file."""

    def __init__(self) -> None:
        self._file: Any = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end
        # Where runs end, in numbers of 64 bits.
        self._ends = [0]

    def __enter__(self) -> _Runs:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, run: Run) -> None:
        try:
            self._file.write(run.data)
            self._file.flush()
        except OSError as error:
            # What has not been written would be tried again when the file is closed.
            self._file.raw.close()
            # What does not fit on a disk says nothing of the file.
            place = f"a temporary file in {tempfile.gettempdir()}"
            raise OSError(error.errno, error.strerror, place) from error
        self._ends.append(self._ends[-1] + run.size)

    def all(self) -> list[Run]:
        if not self._ends[-1]:
            return []
        mapped = np.memmap(self._file, np.uint64, "r")
        return [mapped[begin:end].reshape(-1, 2) for begin, end in pairwise(self._ends)]


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


def merge_runs(runs: Sequence[Run], minimum: int, most: int) -> MostFrequent:
    """Merge runs of one direction.

    runs: all of a text; or all of what begins with the same two characters, as n-grams that differ
    in these have nothing to do with each other.
    """
    merger = RunMerger(runs, minimum)
    found = MostFrequent(minimum, most)
    while len((part := merger.next(_PORTION))[0]):
        found.add(part)
        merger.raise_minimum(found.minimum)
    return found


class MostFrequent:
    """The n-grams that occur `minimum` times; of more than `most`, those that occur more often.

    minimum: so often an n-gram has to occur to be among them; it rises if there are too many.
    """

    def __init__(self, minimum: int, most: int) -> None:
        self.minimum = minimum
        self._most = most
        self._parts: list[Ngrams] = []
        self._n = 0

    def add(self, part: Ngrams, minimum: int = 0) -> None:
        """Add n-grams that are in no other part. minimum: down to which the part is whole."""
        self.minimum = max(self.minimum, minimum)
        self._parts.append(part)
        self._n += len(part[0])
        if self._n > 2 * self._most:
            self._drop_others()

    def _drop_others(self) -> None:
        """Drop the n-grams that are not among them."""
        empty = (np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64))
        ngrams, frequencies, varieties = map(np.concatenate, zip(empty, *self._parts, strict=True))
        if np.count_nonzero(frequencies >= self.minimum) > self._most:
            # The first one that is too much, from the highest down.
            place = len(ngrams) - self._most - 1
            self.minimum = int(np.partition(frequencies, place)[place]) + 1
        kept = frequencies >= self.minimum
        self._parts = [(ngrams[kept], frequencies[kept], varieties[kept])]
        self._n = int(np.count_nonzero(kept))

    def ngrams(self) -> Ngrams:
        """The n-grams, their frequencies and their varieties."""
        self._drop_others()
        return self._parts[0]


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


# Files ----------------------------------------------------------------------------------------


def write_ngrams(
    path: StrPath, totals: NgramTotals, view: NDArray[np.uint32], seen: dict[str, Any]
) -> None:
    """Write a file of counts, a model file of the task `ngrams`, whole or not at all.

    view: the normalized code points (`CharacterAtoms.normalization`). seen: the settings that
    it follows from, `half_width` and `script`, for errors.
    """
    header = {"task": TASK, "state": "trained", "view": zlib.crc32(view.tobytes()), "seen": seen}
    write_model(path, header, asdict(totals))


def read_ngrams(path: StrPath, view: NDArray[np.uint32]) -> NgramTotals:
    """The counts of a file.

    view: as which characters others look to the model that needs them.
    Raises ValueError, naming the file, if it is damaged or none of counts, or characters looked
    otherwise when they were counted; OSError if it cannot be read.
    """
    header, arrays = read_model(path)
    if header.get("task") != TASK:
        raise ValueError(f"{path}: not a file of n-gram counts; make one with 'count-ngrams'")
    if field(header, "view", int) != zlib.crc32(view.tobytes()):
        seen = ", ".join(f"{name} = {value}" for name, value in field(header, "seen", dict).items())
        raise ValueError(
            f"{path}: the n-grams were counted with {seen:.200}, unlike the settings of this "
            "model; count the text again with the model's settings"
        )
    if set(arrays) != {each.name for each in fields(NgramTotals)}:
        raise ValueError(f"{path}: unexpected arrays; count the text again")
    totals = NgramTotals(**arrays)
    numbers = (totals.frequencies, totals.left, totals.right)
    if (
        totals.ngrams.dtype != np.uint64
        or any(each.dtype != np.int64 or each.shape != totals.ngrams.shape for each in numbers)
        or totals.characters.dtype != np.int64
        or totals.characters.shape != (_N_CODES,)
        or totals.ngrams.ndim != 1
        or (totals.ngrams[1:] <= totals.ngrams[:-1]).any()
        or any((each < 1).any() for each in numbers)
        or (totals.characters < 0).any()
        or not _characters_counted(totals)
    ):
        raise ValueError(f"{path}: counts out of range; count the text again")
    return totals


def _characters_counted(totals: NgramTotals) -> bool:
    """True if the characters of all bigrams were counted: information divides by their numbers."""
    pairs = totals.ngrams[totals.ngrams & np.uint64(0xFFFFFFFF) == 0]
    codes = np.concatenate((pairs >> np.uint64(48), pairs >> np.uint64(32) & np.uint64(0xFFFF)))
    return bool((totals.characters[codes] > 0).all())
