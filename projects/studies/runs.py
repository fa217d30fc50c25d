"""The runs of a study that are missing, made one after the other."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from spacy_structreg.about import __version__
from studies.grids import GridFile
from studies.results import ResultFile

VARIABLE: Final = "STRUCTREG_DATA"


class Task(Protocol):
    """Runs that are made together, on one corpus; its text is for the progress."""

    corpus: str

    def run(self, corpus: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield the key and the fields of each result, but for checksum and version.

        Those that there are already may be among them.
        """


def data_folder() -> Path:
    """The folder of corpora. Raises ValueError, with what to do, if none is named."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise ValueError(
            f"no corpora: set the environment variable {VARIABLE} to the folder that holds those "
            "that the grid names (see the project's README.md)"
        )
    folder = Path(named)
    if not folder.is_dir():
        raise ValueError(f"{VARIABLE} names a folder that does not exist: {folder}")
    return folder


def run(
    grid: GridFile,
    results: ResultFile[Any, Any],
    tasks: Callable[[Any, Any], Sequence[Task]],
    read_corpus: Callable[[str, Mapping[str, Any], Path], Any],
) -> None:
    """Make the runs that are missing, with progress on standard error.

    tasks: what is missing; asked again after all were run, as what they find may say what else is
        to be run. read_corpus: reads the corpus of an entry of the grid, from a folder.

    Raises ValueError if there are no corpora, or if they are not those that the results so far were
    made on.
    """
    corpora: dict[str, Any] = {}
    began = time.monotonic()
    while missing := tasks(grid, results):
        for number, task in enumerate(missing, 1):
            name = task.corpus
            if name not in corpora:
                corpora[name] = read_corpus(name, grid.corpora[name], data_folder())
                results.check(name, corpora[name].checksum)
            checksum = corpora[name].checksum
            for key, fields in task.run(corpora[name]):
                result = results.result(**fields, checksum=checksum, version=__version__)
                results.add(key, result)
            spent = time.monotonic() - began
            print(
                f"[{number}/{len(missing)}] {name}, {task} ({spent:.0f} s so far)", file=sys.stderr
            )
    print(f"all {len(results):,} results are there", file=sys.stderr)
