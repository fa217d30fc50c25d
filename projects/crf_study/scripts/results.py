"""The file of results: one JSON line for each training, only ever added to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grid import Key

from spacy_structreg.cli.studies import ResultFile


@dataclass(frozen=True)
class Result:
    """The figures of one model: of the epoch that is best on the dev set.

    curve: the score on the dev set after each epoch, a fraction of 1. epoch: the best one, from 1.
    test: its score on the test set. types: of spans, for each label, how many are gold, predicted
    and correct, in the dev set and in the test set.
    seconds: the CPU time of an epoch, scoring left out; None where the two cannot be told apart.
    checksum: the first digits of the checksum of the corpus. version: of the package.
    """

    curve: list[float]
    epoch: int
    test: float
    types: dict[str, dict[str, list[int]]]
    seconds: float | None
    checksum: str
    version: str

    def __post_init__(self) -> None:
        if not 1 <= self.epoch <= len(self.curve):
            raise ValueError(f"there is no epoch {self.epoch}")
        if not all(0 <= score <= 1 for score in (*self.curve, self.test)):
            raise ValueError("a score is not a fraction of 1")

    @property
    def dev(self) -> float:
        """The score on the dev set."""
        return self.curve[self.epoch - 1]


class Results(ResultFile[Key, Result]):
    """The results of the study by key, from a file that need not exist yet."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Key, Result)
