"""The project `papers` with a small grid, as its tests run it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from study_contract import CONFIG, PROJECTS, RUNS, Study, command

FOLDER = PROJECTS / "papers"
TREES = PROJECTS.parent / "treebank"
KEY = ("corpus", "system", "setting", "seed", "fold")


def papers(grid: str, **fields: Any) -> Study:
    """The project with this grid; fields: more of `Study`."""
    return Study(name="papers", grid=grid, key=KEY, **fields)


def finish(
    project: Path,
    *,
    data: Path | None = None,
    variables: Mapping[str, object] | None = None,
    plots: bool = False,
    anew: bool = False,
) -> Path:
    """Run all that the small grid has and write its report; gives the project.

    data, variables: where corpora lie; see `run` of `study_contract`. With variables, every corpus
    must be there. plots: draw figures, too. anew: make results of other versions
    of a corpus again.
    """
    for arguments in (
        ("run", CONFIG, RUNS, *(("--anew", "yes") if anew else ())),
        *([("plots", CONFIG, RUNS, "report")] if plots else []),
        ("report", CONFIG, RUNS, "report/README.md"),
    ):
        done = command(*arguments, folder=project, data=data, variables=variables)
        assert done.returncode == 0, done.stderr
        assert not variables or "left out" not in done.stderr
    return project
