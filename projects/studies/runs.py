"""The runs of a study that are missing: one after the other, or in the processes of joblib."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Protocol

import cloudpickle

from spacy_structreg.about import __version__
from spacy_structreg.models.parallel import in_other_processes, run_tasks
from studies.grids import GridFile
from studies.results import ResultFile

PROJECTS: Final = Path(__file__).resolve().parents[1]
VARIABLE: Final = "STRUCTREG_DATA"


class Task(Protocol):
    """Runs that are made together, on one corpus; its text is for the progress."""

    corpus: str

    def run(self, corpus: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield the key and the fields of each result, but for checksum and version.

        Those that there are already may be among them.
        """


def data_folder(entry: Mapping[str, Any] | None = None) -> Path:
    """The folder of a corpus. Raises ValueError, with what to do, if none is named.

    entry: of the corpus in the grid: its `folder`, if it comes with the projects; or else the
        folder that the environment variable `variable` names, `STRUCTREG_DATA` without it.
    """
    entry = entry or {}
    if "folder" in entry:
        return Path(entry["folder"])
    variable = entry.get("variable", VARIABLE)
    named = os.environ.get(variable)
    if not named:
        raise ValueError(
            f"no corpora: set the environment variable {variable} to the folder that holds those "
            "that the grid names (see the project's README.md)"
        )
    folder = Path(named)
    if not folder.is_dir():
        raise ValueError(f"{variable} names a folder that does not exist: {folder}")
    return folder


def missing_corpora(grid: GridFile) -> dict[str, str]:
    """The corpora that not everybody has, and that are not there, each with the reason.

    Their entries have `needs`, a text that says what one must have.
    """
    missing = {}
    for name, entry in grid.corpora.items():
        if "needs" in entry:
            try:
                data_folder(entry)
            except ValueError:
                variable = entry.get("variable", VARIABLE)
                missing[name] = f"it needs {entry['needs']}, in the folder that {variable} names"
    return missing


def run(
    grid: GridFile,
    results: ResultFile[Any, Any],
    tasks: Callable[[Any, Any], Sequence[Task]],
    read_corpus: Callable[[str, Mapping[str, Any], Path], Any],
    expected: Callable[[Any, Any, Sequence[Any]], Sequence[float] | None] | None = None,
) -> None:
    """Make the runs that are missing, with progress on standard error.

    tasks: what is missing; asked again after all were run, as what they find may say what else is
        to be run. read_corpus: reads the corpus of an entry of the grid, from a folder. expected:
        the seconds that each of some tasks takes, or None; else all are alike. The time that is
        left is told by what tasks have taken so far.

    Where ``joblib.parallel_config`` has chosen a backend of other processes, these make the runs;
    what comes of them is the same. A corpus with `needs` that cannot be read is left out.
    Raises ValueError if there are no corpora, or if they are not those that the results so far were
    made on; and in the end, when all else is run, if a corpus was left out as it cannot be read.
    """
    corpora: dict[str, Any] = {}
    unread: dict[str, str] = {}
    while missing := [task for task in tasks(grid, results) if task.corpus not in unread]:
        n_done, began = 0, time.monotonic()
        seconds = None if expected is None else expected(grid, results, missing)
        if seconds is None:
            seconds = [1.0] * len(missing)
        else:
            print(f"to be run: about {as_time(sum(seconds))} of one process", file=sys.stderr)
        of_task = dict(zip(map(id, missing), seconds, strict=True))
        left, done = sum(seconds), 0.0
        for name, group in groupby(missing, lambda task: task.corpus):
            if name not in corpora:
                entry = grid.corpora[name]
                try:
                    corpora[name] = read_corpus(name, entry, data_folder(entry))
                except (OSError, ValueError) as error:
                    if "needs" not in entry:
                        raise
                    unread[name] = f"it needs {entry['needs']}: {error}"
                    print(f"left out: {name}, {unread[name]}", file=sys.stderr)
                    left -= sum(of_task[id(task)] for task in group)
                    continue
                results.check(name, corpora[name].checksum)
            checksum = corpora[name].checksum
            for task, found in made(list(group), corpora[name]):
                for key, fields in found:
                    result = results.result(**fields, checksum=checksum, version=__version__)
                    results.add(key, result)
                n_done += 1
                done += of_task[id(task)]
                left -= of_task[id(task)]
                spent = time.monotonic() - began
                print(
                    f"[{n_done}/{len(missing)}] {name}, {task} ({as_time(spent)} so far, about "
                    f"{as_time(spent * left / done)} left)",
                    file=sys.stderr,
                )
    if unread:
        reasons = "".join(f"\n{name}: {reason}" for name, reason in unread.items())
        raise ValueError(
            "all else is run, but for corpora that cannot be read; mend their files, or unset the "
            f"variable of the environment that names their folder:{reasons}"
        )
    print(f"all {len(results):,} results are there", file=sys.stderr)


def as_time(seconds: float) -> str:
    """A time as people say it: ``40 s``, ``12 min``, ``3 h 05 min``."""
    if seconds < 100:
        return f"{max(0.0, seconds):.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"


def made(
    tasks: Sequence[Task], corpus: Any
) -> Iterator[tuple[Task, Iterable[tuple[Any, dict[str, Any]]]]]:
    """Tasks on one corpus, each with its results.

    Here they are made one after the other, as they are asked for. Threads would not do: the times
    of runs are CPU times of their process. Other processes make tasks side by side, if joblib's
    backend has any; each is told of when it is whole.
    """
    if not in_other_processes():
        for task in tasks:
            yield task, task.run(corpus)
        return
    # The modules of studies are no package that other machines could import.
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(module, ModuleType) and file and PROJECTS in Path(file).resolve().parents:
            cloudpickle.register_pickle_by_value(module)
    with closing(run_tasks(run_whole, corpus, tasks)) as found:
        yield from zip(tasks, found, strict=True)


def run_whole(corpus: Any, task: Task) -> list[tuple[Any, dict[str, Any]]]:
    """All results of a task."""
    return list(task.run(corpus))
