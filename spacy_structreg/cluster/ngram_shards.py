"""Counts of n-grams over shards: workers count and sort, and merge what begins alike.

Each unit of work is counted by itself, and its sorted runs (`tasks.knowledge.ngram_counts`) are
written to a folder that all workers see. Then each range of n-grams, by their first two
characters, is read from all of these files and merged. Nothing is estimated: the result is that of
`count_ngrams` on all texts, whatever the units, the ranges and the workers are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.cluster.records import BadRecord, Unit, read_records
from spacy_structreg.cluster.shard_results import results_of, tried
from spacy_structreg.corpora.files import replace_bytes
from spacy_structreg.features.scripts import read_script
from spacy_structreg.tasks.knowledge.ngrams import (
    MINIMUM,
    MOST,
    MostFrequent,
    Ngrams,
    NgramTotals,
    merge_runs,
    runs_of_texts,
    totals_of,
)
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

if TYPE_CHECKING:
    from distributed import Client, Future

RANGE_BYTES: Final = 128 << 20
"""About as many bytes of runs are merged by a task."""

# Of so many records of a run, one is sampled, to know where ranges begin.
_STEP: Final = 1024
_RECORD_BYTES: Final = 16
_N_BEGINNINGS: Final = 1 << 32
"""The number of beginnings of two characters."""

Beginnings = NDArray[np.uint64]


@dataclass(frozen=True)
class FiledRun:
    """A run in a file: its first record and the one behind its last, and every 1,024th beginning.

    beginnings: the codes of the first two characters of a record as one number, uint64.
    """

    file: Path
    begin: int
    end: int
    beginnings: Beginnings

    def between(self, low: int, high: int) -> FiledSlice:
        """The place of beginnings from `low` to below `high`, and at most 2,048 records more."""
        first, last = np.searchsorted(self.beginnings, np.array([low, high], np.uint64)).tolist()
        begin = self.begin + max(first - 1, 0) * _STEP
        return self.file, begin, min(self.begin + last * _STEP, self.end)


FiledSlice = tuple[Path, int, int]


@dataclass(frozen=True)
class UnitRuns:
    """The counts of a unit.

    characters: how often each code occurs, int64 of shape (65536,). runs: of both directions.
    n_bad, first_bad: records that cannot be read.
    """

    characters: NDArray[np.int64]
    runs: tuple[list[FiledRun], list[FiledRun]]
    n_bad: int
    first_bad: BadRecord | None


def count_unit(unit: Unit, atoms: CharacterAtoms, folder: Path, text_column: str) -> UnitRuns:
    """Count a unit, and write its runs into two files of a folder."""
    bad: list[BadRecord] = []
    n_bad = 0

    def on_bad(record: BadRecord) -> None:
        nonlocal n_bad
        n_bad += 1
        bad[1:] = []
        bad.append(record)

    characters = np.zeros(0x10000, np.int64)
    filed: tuple[list[FiledRun], list[FiledRun]] = ([], [])
    after, before = (folder / f"{unit.number:06}-{name}.runs" for name in ("after", "before"))
    with replace_bytes(after) as to_right, replace_bytes(before) as to_left:
        records = read_records(unit, text_column=text_column, on_bad=on_bad)
        texts = (record.text for record in records)
        for frequencies, *runs in runs_of_texts(texts, view=atoms.normalization()):
            characters += frequencies
            for run, known, path, stream in zip(
                runs, filed, (after, before), (to_right, to_left), strict=True
            ):
                stream.write(run.data)
                begin = known[-1].end if known else 0
                beginnings = run[::_STEP, 0] >> np.uint64(32)
                known.append(FiledRun(path, begin, begin + len(run), beginnings))
    return UnitRuns(characters, filed, n_bad, bad[0] if bad else None)


def merge_range(
    slices: Sequence[FiledSlice], low: int, high: int, minimum: int, most: int
) -> tuple[Ngrams, int]:
    """Merge what begins with two characters from `low` to below `high`: as `merge_runs`.

    Returns the n-grams, and how often one has to occur to be among them.
    """
    runs = []
    for file, begin, end in slices:
        try:
            run = np.fromfile(
                file, np.uint64, 2 * (end - begin), offset=begin * _RECORD_BYTES
            ).reshape(-1, 2)
        except FileNotFoundError as error:
            raise OSError(
                f"{file.parent}: a worker does not see what another one wrote there; name a folder "
                "that all workers share"
            ) from error
        beginnings = run[:, 0] >> np.uint64(32)
        first, last = np.searchsorted(beginnings, np.array([low, high], np.uint64)).tolist()
        runs.append(run[first:last])
    found = merge_runs(runs, minimum, most)
    return found.ngrams(), found.minimum


def ranges_of(runs: Sequence[FiledRun], n_bytes: int) -> list[tuple[int, int]]:
    """Ranges of beginnings, of about `n_bytes` of records each, that together have them all."""
    total = sum(run.end - run.begin for run in runs) * _RECORD_BYTES
    n_ranges = max(1, -(-total // n_bytes))
    beginnings = np.sort(np.concatenate([np.empty(0, np.uint64), *(r.beginnings for r in runs)]))
    places = [len(beginnings) * number // n_ranges for number in range(1, n_ranges)]
    inner = sorted(set(beginnings[places].tolist()) - {0})
    limits = [0, *inner, _N_BEGINNINGS]
    return list(pairwise(limits))


def characters_of(half_width: bool, script: str | None) -> CharacterAtoms:
    """The look of characters to what counts them, by the settings of a model that will read counts.

    Raises as `features.scripts.read_script`.
    """
    return CharacterAtoms(None, half_width, script=read_script(script))


def count_ngrams_of_units(
    client: Client,
    units: Sequence[Unit],
    folder: Path,
    *,
    atoms: CharacterAtoms,
    text_column: str = "text",
    minimum: int = MINIMUM,
    most: int = MOST,
    max_bad: int = 0,
    range_bytes: int = RANGE_BYTES,
    on_unit: Callable[[int], object] | None = None,
) -> tuple[NgramTotals, int]:
    """Count the n-grams of all units: as `count_ngrams` of their texts, and the bad records.

    folder: an empty one, which all workers see under this path, for about 30 bytes a character.
    atoms: give the normalization of characters. max_bad: so many records may be unreadable.
    range_bytes: about as much memory a merging worker takes. on_unit: is told the number of
        characters of each unit that has been counted.
    Raises ValueError if more records cannot be read, OSError if the folder does not hold the runs.
    """
    if min(minimum, most) < 1:
        raise ValueError("minimum and most must be at least 1")
    characters = np.zeros(0x10000, np.int64)
    filed: tuple[list[FiledRun], list[FiledRun]] = ([], [])
    n_bad = 0
    settings: dict[str, Any] = {"atoms": atoms, "folder": folder, "text_column": text_column}
    for counted in results_of(
        client, client.map(partial(tried, count_unit), units, pure=False, **settings)
    ):
        characters += counted.characters
        n_bad += counted.n_bad
        if n_bad > max_bad and counted.first_bad is not None:
            bad = counted.first_bad
            raise ValueError(
                f"{n_bad} records cannot be read, one of them {bad.file}, record {bad.record}: "
                f"{bad.reason}; mend the file, or allow for them by --max-bad"
            )
        for known, runs in zip(filed, counted.runs, strict=True):
            known.extend(runs)
        if on_unit is not None:
            on_unit(int(counted.characters.sum()))
    merging = [_merging(client, runs, range_bytes, minimum, most) for runs in filed]
    to_right, to_left = (_most_frequent(client, futures, minimum, most) for futures in merging)
    return totals_of(to_right, to_left, characters), n_bad


def _merging(
    client: Client, runs: Sequence[FiledRun], range_bytes: int, minimum: int, most: int
) -> list[Future[Any]]:
    """Tasks that merge the ranges of one direction."""
    ranges = ranges_of(runs, range_bytes)
    slices = [[run.between(low, high) for run in runs] for low, high in ranges]
    lows, highs = zip(*ranges, strict=True)
    settings: dict[str, Any] = {"minimum": minimum, "most": most}
    return list(
        client.map(partial(tried, merge_range), slices, lows, highs, pure=False, **settings)
    )


def _most_frequent(
    client: Client, futures: Iterable[Future[Any]], minimum: int, most: int
) -> Ngrams:
    """The n-grams of all ranges of one direction."""
    found = MostFrequent(minimum, most)
    for part, needed in results_of(client, futures):
        found.add(part, needed)
    return found.ngrams()
