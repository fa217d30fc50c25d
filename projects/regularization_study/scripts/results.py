"""The file of results: one JSON line for each run, only ever added to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grid import Key

from spacy_structreg.cli.studies import ResultFile


@dataclass(frozen=True)
class Result:
    """The figures of one model or average, as fractions of 1.

    seconds: the CPU time of its training, reading and scoring left out; 0 for averages.
    checksum: the first digits of the checksum of the training corpus. version: of the package.
    """

    dev_f: float
    dev_oov_r: float
    test_f: float
    test_oov_r: float
    seconds: float
    checksum: str
    version: str


class Results(ResultFile[Key, Result]):
    """The results of the study by key, from a file that need not exist yet."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Key, Result)
