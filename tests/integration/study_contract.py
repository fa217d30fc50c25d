"""What holds for every study of `projects`: each has a file of tests that takes it over from here.

Such a file has a constant STUDY, a fixture `data`, the folder of its corpora, and a subclass of
`StudyContract`; it imports the other fixtures.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from warm_python import executable

PROJECTS = Path(__file__).parents[2] / "projects"
MADE = ("report", "training", "__pycache__", "project.lock", ".mypy_cache")
HAN = re.compile("[\u3400-\u9fff]")
RUNS = "report/runs.jsonl"
CONFIG = "configs/small.yml"
# Reads grids and results in one process, as that takes a second to start.
READ = """
import json, sys
from pathlib import Path
sys.path[:0] = ["scripts", ".."]
import grid
for kind, path in json.load(sys.stdin):
    try:
        getattr(grid, kind)(Path(path))
    except ValueError as error:
        print(json.dumps(str(error)))
    else:
        print("null")
"""

Lines: TypeAlias = "dict[tuple[Any, ...], dict[str, Any]]"


@dataclass(frozen=True)
class Study:
    """A study, and a small grid to try it by.

    key: the fields of a line of results that name the run. times: those that differ each time.
    pictures: of the report of the small grid. reports: grid, folder and findings of those that are
    kept. faulty: what is changed in the grid, and what is said of it then. line: a result on
    another training corpus. broken: what is changed in it so that it is none. workflow: does all.
    """

    name: str
    grid: str
    key: tuple[str, ...]
    pictures: frozenset[str] = frozenset()
    reports: tuple[tuple[str, str, str], ...] = ()
    faulty: tuple[tuple[str, str, str], ...] = ()
    line: dict[str, Any] = field(default_factory=dict)
    broken: dict[str, Any] = field(default_factory=dict)
    times: tuple[str, ...] = ("seconds",)
    workflow: str = "study"

    @property
    def folder(self) -> Path:
        return PROJECTS / self.name

    def copied(self, folder: Path) -> Path:
        """A copy of the project without what it made, and with the small grid."""
        for source, target in ((self.folder, "study"), (PROJECTS / "studies", "studies")):
            shutil.copytree(source, folder / target, ignore=shutil.ignore_patterns(*MADE))
        (folder / "study" / CONFIG).write_text(self.grid, encoding="utf-8")
        return folder / "study"

    def everything(self, project: Path, data: Path | None) -> subprocess.CompletedProcess[str]:
        """Run the workflow on the small grid; it must succeed."""
        done = run(
            *("-m", "spacy", "project", "run", self.workflow, project.name),
            *("--vars.grid", CONFIG),
            folder=project.parent,
            data=data,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def results(self, project: Path) -> Lines:
        return self.by_key((project / RUNS).read_text(encoding="utf-8"))

    def by_key(self, text: str) -> Lines:
        lines = [json.loads(line) for line in text.splitlines()]
        keyed = {tuple(line[name] for name in self.key): line for line in lines}
        assert len(keyed) == len(lines)
        return keyed

    def without_times(self, text: str) -> Lines:
        return {
            key: {name: value for name, value in line.items() if name not in self.times}
            for key, line in self.by_key(text).items()
        }

    def fails(
        self, project: Path, *, data: Path | None, grid: str = "", results: str | None = None
    ) -> str:
        """What the command `run` says when it fails, by the small grid or another one."""
        (project / CONFIG).write_text(grid or self.grid, encoding="utf-8")
        if results is not None:
            write_results(project, results)
        done = command("run", CONFIG, RUNS, folder=project, data=data)
        assert done.returncode == 1
        # Corpora that are left out are named before.
        assert re.search("^error: ", done.stderr, re.MULTILINE), done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    def said(self, project: Path, grids: Sequence[str], results: Sequence[str]) -> list[str]:
        """What is said of grids and of results that cannot be read."""
        files = []
        for kind, texts in (("Grid", grids), ("Results", results)):
            for number, text in enumerate(texts):
                path = project / f"{kind}-{number}"
                path.write_text(text, encoding="utf-8")
                files.append((kind, path.name))
        done = run("-c", READ, folder=project, text=json.dumps(files))
        assert done.returncode == 0, done.stderr
        found = [json.loads(line) for line in done.stdout.splitlines()]
        for (_, name), each in zip(files, found, strict=True):
            assert each is not None, f"nothing is said of {(project / name).read_text('utf-8')}"
            assert each.startswith(f"{name}:")
        return found


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the project without what it made, and with the small grid."""
    return request.module.STUDY.copied(tmp_path)


@pytest.fixture(scope="module")
def finished(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, data: Path
) -> Path:
    """The project after its workflow on the small grid."""
    pytest.importorskip("matplotlib", reason="plots need matplotlib: pip install .[study]")
    study: Study = request.module.STUDY
    project = study.copied(tmp_path_factory.mktemp("projects"))
    (project / "findings.md").write_text("## Found\n\nNothing much.\n", encoding="utf-8")
    study.everything(project, data)
    return project


class StudyContract:
    """The tests of every study; what one runner does for all of them is tested with one study."""

    @pytest.fixture
    def study(self, request: pytest.FixtureRequest) -> Study:
        return request.module.STUDY

    @pytest.mark.slow
    def test_every_picture_of_the_report_is_there(self, study: Study, finished: Path) -> None:
        text = report_of(finished)
        assert "Nothing much." in text
        assert pictures_of(text) == study.pictures
        for picture in study.pictures:
            drawn = (finished / "report" / picture).read_text(encoding="utf-8")
            assert drawn.startswith("<?xml")
            assert drawn.rstrip().endswith("</svg>")

    def test_faulty_grids_and_broken_lines_are_refused(self, study: Study, project: Path) -> None:
        assert all(old in study.grid for old, _, _ in study.faulty)
        grids = [study.grid.replace(old, new, 1) for old, new, _ in study.faulty]
        line = json.dumps(study.line) + "\n"
        broken = ["{}\n", json.dumps(study.line | study.broken) + "\n"]
        found = study.said(project, grids, [line + each + line for each in broken])
        for (_, new, said), message in zip(study.faulty, found, strict=False):
            assert said in message, new
        for message in found[len(grids) :]:
            assert re.match(r"Results-\d:2: ", message)

    @pytest.mark.slow
    def test_the_reports_that_are_kept_are_those_of_their_results(
        self, study: Study, tmp_path: Path
    ) -> None:
        for grid, folder, findings in study.reports:
            made = tmp_path / "README.md"
            done = command(
                *("report", f"configs/{grid}.yml", f"{folder}/runs.jsonl", made),
                *("--findings", f"{findings}.md"),
                folder=study.folder,
            )
            assert done.returncode == 0, done.stderr
            kept = study.folder / folder
            assert made.read_bytes() == (kept / "README.md").read_bytes()
            pages = [path.read_text(encoding="utf-8") for path in tmp_path.glob("*.md")]
            pictures = set().union(*map(pictures_of, pages))
            assert pictures == {path.name for path in kept.glob("*.svg")}

    def test_what_is_kept_holds_figures_and_no_text_of_a_corpus(self, study: Study) -> None:
        files = [path for path in (study.folder / "report").rglob("*") if path.is_file()]
        assert {"README.md", "runs.jsonl"} <= {path.name for path in files}
        for path in files:
            assert not HAN.search(path.read_text(encoding="utf-8")), path.name
        # The counts of each sentence take most of it.
        assert max(path.stat().st_size for path in files) < 6_000_000


def run(
    *arguments: object,
    folder: Path,
    data: Path | None = None,
    variables: Mapping[str, object] | None = None,
    text: str | None = None,
    python: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in a folder, with `data` as the folder of corpora.

    variables: further ones of the environment. python: the interpreter, where that must be able
    to start others.
    """
    environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("STRUCTREG_DATA", None)
    if data is not None:
        environment["STRUCTREG_DATA"] = str(data)
    environment |= {name: str(value) for name, value in (variables or {}).items()}
    return subprocess.run(
        [python or executable(), *map(str, arguments)],
        cwd=folder,
        input=text,
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )


def command(
    *arguments: object,
    folder: Path,
    data: Path | None = None,
    variables: Mapping[str, object] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command of the studies in the folder of one."""
    return run("../studies", *arguments, folder=folder, data=data, variables=variables)


def write_results(project: Path, text: str) -> Path:
    path = project / RUNS
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a Markdown file: rows of cells, the header first."""
    found: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [[rows[0], *rows[2:]] for rows in found if rows]


def pictures_of(text: str) -> set[str]:
    """The pictures that a report shows."""
    return set(re.findall(r"!\[[^]]+\]\(([^)]+)\)", text))


def report_of(project: Path) -> str:
    return (project / "report/README.md").read_text(encoding="utf-8")
