"""Make the runs of a study that are missing, draw its pictures, write its report.

    python ../studies run GRID RESULTS [--jobs 4 | --scheduler tcp://10.0.0.1:8786]
                          [--only TABLE …] [--corpus NAME …] [--anew yes]
    python ../studies todo GRID RESULTS [--only TABLE …] [--corpus NAME …]
    python ../studies plots GRID RESULTS FOLDER [--suffix .svg]
    python ../studies report GRID RESULTS REPORT [--findings FILE] [--plots .svg]

in the folder of a study. GRID says what to run (YAML). RESULTS has a JSON line for each run; stop
`run` whenever you like, the next call goes on. It looks for corpora in the folder that the variable
STRUCTREG_DATA names. With --jobs, so many processes make runs side by side; with --scheduler, the
workers of a Dask cluster do, which should have a thread each, as runs note their CPU time. --only
and --corpus choose tables and corpora of a grid that has tables, as those of papers do. With --anew
yes, results of another version of a config or corpus are made again, which are else refused. `todo`
says what `run` would make, and how long that takes. `plots` needs matplotlib. `report` writes
Markdown, made of the grid and the results alone, with FINDINGS, what they show in words, before the
tables, and the pictures that `plots` draws.

What is a study's own stands in these modules of its folder `scripts`:

    grid      Grid, which is a `GridFile`; Results, a `ResultFile`
    corpora   read_corpus(name, entry, folder), of an entry of `Grid.corpora`: a corpus with its
              `checksum`
    run       tasks(grid, results): what is missing, each a `runs.Task`; it may have
              expected(grid, results, tasks): the seconds of each, and todo(grid, results): lines
    plots     pictures(grid, results): by its name, what makes each figure
    report    head(grid, results), sections(grid, results, suffix): paragraphs and tables; it may
              have pages(grid, results, suffix): by their names, further files beside REPORT
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

PROJECTS = Path(__file__).resolve().parents[1]


def run(grid: Any, results: Any, given: argparse.Namespace) -> None:
    """Make the runs that are missing."""
    from joblib import parallel_config

    from spacy_structreg.cli.options import trained_by
    from studies.runs import run

    if given.only or given.corpus:
        grid.choose(given.only, given.corpus)
    in_processes = given.jobs > 1 and not given.scheduler
    with (
        trained_by(given.scheduler),
        parallel_config("loky", n_jobs=given.jobs) if in_processes else nullcontext(),
    ):
        study = import_module("run")
        expected = getattr(study, "expected", None)
        run(grid, results, study.tasks, import_module("corpora").read_corpus, expected)


def todo(grid: Any, results: Any, given: argparse.Namespace) -> None:
    """Say what is missing, and how long it takes."""
    if given.only or given.corpus:
        grid.choose(given.only, given.corpus)
    study = import_module("run")
    if hasattr(study, "todo"):
        print("\n".join(study.todo(grid, results)))
    else:
        print(f"{len(study.tasks(grid, results))} missing")


def plots(grid: Any, results: Any, given: argparse.Namespace) -> None:
    """Draw the pictures."""
    from studies.pictures import save_pictures

    try:
        # Nothing is shown.
        import_module("matplotlib").use("Agg")
    except ImportError as error:
        raise ValueError(f"{error}; plots need matplotlib: pip install '../..[study]'") from error
    pictures = import_module("plots").pictures(grid, results)
    for path in save_pictures(pictures, given.folder, given.suffix, Path.cwd().name):
        print(path.name, file=sys.stderr)


def report(grid: Any, results: Any, given: argparse.Namespace) -> None:
    """Write the report."""
    from spacy_structreg.corpora.files import replace_text

    made = import_module("report")
    findings = ""
    if given.findings is not None and given.findings.exists():
        findings = given.findings.read_text(encoding="utf-8")
    elif given.findings is not None:
        print(f"no findings in words: there is no {given.findings}", file=sys.stderr)
    parts = [*made.head(grid, results), findings, *made.sections(grid, results, given.plots)]
    pages = {given.report.name: parts}
    if hasattr(made, "pages"):
        pages |= made.pages(grid, results, given.plots)
    given.report.parent.mkdir(parents=True, exist_ok=True)
    for name, parts in pages.items():
        with replace_text(given.report.with_name(name)) as stream:
            stream.write("\n\n".join(part.strip() for part in parts if part.strip()) + "\n")


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="studies", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    for command in (run, todo, plots, report):
        sub = commands.add_parser(command.__name__, help=command.__doc__)
        sub.set_defaults(command=command)
        sub.add_argument("grid", type=Path)
        sub.add_argument("results", type=Path)
        if command is run:
            sub.add_argument("--jobs", type=int, default=1)
            sub.add_argument("--scheduler")
        if command in (run, todo):
            sub.add_argument("--anew", choices=["yes", "no"], default="no")
            sub.add_argument("--only", nargs="*", default=[], help="tables; all without it")
            sub.add_argument("--corpus", nargs="*", default=[], help="corpora; all without it")
        elif command is plots:
            sub.add_argument("folder", type=Path)
            sub.add_argument("--suffix", default=".svg", choices=[".svg", ".png"])
        elif command is report:
            sub.add_argument("report", type=Path)
            sub.add_argument("--findings", type=Path)
            sub.add_argument("--plots", default=".svg", help="how the names of plots end")
    return parser.parse_args()


if __name__ == "__main__":
    # Of numpy, before it is imported: idle threads would spin, and count as the time of a run.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    given = parse()
    sys.path[:0] = [str(Path("scripts").resolve()), str(PROJECTS)]
    try:
        study = import_module("grid")
        grid, results = study.Grid(given.grid), study.Results(given.results)
        grid.settle(results)
        results.anew = getattr(given, "anew", "no") == "yes"
        given.command(grid, results, given)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
