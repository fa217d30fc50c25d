"""The project `regularization_study`: its workflow on a made-up corpus, and the report it holds."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pipeline.made_up import DEV, TRAIN

from spacy_structreg.estimators.character_segmenter import CharacterSegmenter
from spacy_structreg.learn.settings import Learning

PROJECT = Path(__file__).parents[2] / "projects" / "regularization_study"
MADE = ("report", "__pycache__", "project.lock", ".mypy_cache")
KEY = ("corpus", "setting", "epochs", "seeds", "mean")
HAN = re.compile("[\u3400-\u9fff]")

GRID = """
base: {types: null, half_width: false}
corpora:
  lines: {reader: segmented, train: lines/train.txt, test: lines/test.txt}
  days:
    reader: pfr
    train: {file: days.txt, days: [1, 2]}
    dev: {file: days.txt, days: [3, 3]}
    test: {file: days.txt, days: [4, 5]}
  tree: {reader: conllu, train: train.conllu, dev: dev.conllu, test: dev.conllu}
mini_samples:
  curves:
    sizes: {parameter: mini_sample, values: [2.5, null]}
  corpora:
    lines: {epochs: 2, models: 2}
    tree: {epochs: 1, models: 1, values: {sizes: [4]}}
defaults:
  settings:
    "SR 5": {types: extended, half_width: true, mini_sample: 5}
  corpora:
    lines: {epochs: 1, models: 2, group: 2}
combinations:
  settings:
    plain: {}
    "L2": {l2: 1.0e-3}
    "PA-I": {update: pa_i, aggressiveness: 0.1}
  corpora:
    lines: {epochs: 2, models: 2, group: 2, more_models: {plain: 4, PA-I: 4}}
    days: {epochs: 1, models: 2, group: 2, settings: [plain]}
averaging:
  settings:
    plain: {}
  corpora:
    lines: {epochs: 2, models: 6, group: 3}
strengths:
  curves:
    "L2": {parameter: l2, values: [0, 1.0e-3]}
    "dropout": {parameter: dropout, values: [0, 0.1]}
  corpora:
    lines: {epochs: 2, models: 2, group: 2, values: {dropout: []}}
claims:
  - {source: A, says: averaging helps, more: plain x 2, less: plain}
  - {source: B, says: L2 helps, more: L2, less: plain}
"""

# What the grid asks for, in words: of each (corpus, setting, epochs), how many single models, and
# the groups that are averaged in both ways.
PLAIN = "half_width=False types=None"
EXPECTED = {
    ("lines", PLAIN, 2): (6, ["0-1", "2-3", "0-2", "3-4", "3-5"]),
    ("lines", f"half_width=False mini_sample=2.5 {PLAIN.split()[1]}", 2): (2, []),
    ("lines", "half_width=False l2=0.001 types=None", 2): (2, ["0-1"]),
    ("lines", f"aggressiveness=0.1 {PLAIN} update=pa_i", 2): (4, ["0-1", "2-3"]),
    ("lines", "half_width=True mini_sample=5 types=extended", 1): (2, ["0-1"]),
    ("days", PLAIN, 1): (2, ["0-1"]),
    ("tree", "half_width=False mini_sample=4 types=None", 1): (1, []),
}


def run(
    *arguments: object, folder: Path, data: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in a folder, with `data` as the folder of corpora."""
    environment = {**os.environ, "PYTHONUTF8": "1"}
    environment.pop("STRUCTREG_DATA", None)
    if data is not None:
        environment["STRUCTREG_DATA"] = str(data)
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
    )


def conllu(sentences: list[list[str]]) -> str:
    blocks = (
        "".join(
            f"{number}\t{word}\t_\tX\t_\t_\t{number - 1}\t{'dep' if number > 1 else 'root'}\t_\t_\n"
            for number, word in enumerate(words, 1)
        )
        for words in sentences
    )
    return "\n".join(blocks) + "\n"


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def by_key(text: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    lines = rows(text)
    keyed = {tuple(line[name] for name in KEY): line for line in lines}
    assert len(keyed) == len(lines)
    return keyed


def without_time(text: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {
        key: {name: value for name, value in line.items() if name != "seconds"}
        for key, line in by_key(text).items()
    }


def tables(text: str) -> list[list[list[str]]]:
    """The tables of a Markdown file: rows of cells, the header first."""
    found: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [[rows[0], *rows[2:]] for rows in found if rows]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A folder with a made-up corpus in the three formats."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "lines").mkdir()
    for name, sentences in (("train", TRAIN), ("test", DEV)):
        text = "".join(" ".join(words) + "\n" for words in sentences)
        (folder / "lines" / f"{name}.txt").write_text(text, encoding="utf-8")
        (folder / f"{'dev' if name == 'test' else name}.conllu").write_text(
            conllu(sentences), encoding="utf-8"
        )
    (folder / "days.txt").write_text(
        "".join(
            f"199801{1 + number % 5:02}-01-001-{number:03}/m  "
            + "  ".join(f"{word}/n" for word in words)
            + "\n"
            for number, words in enumerate([*TRAIN[:60], *DEV])
        ),
        encoding="utf-8",
    )
    return folder


@pytest.fixture
def project(tmp_path) -> Path:
    """A copy of the project without what it made, and with the small grid."""
    return copied(tmp_path)


def copied(folder: Path) -> Path:
    project = folder / "study"
    shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns(*MADE))
    (project / "configs" / "small.yml").write_text(GRID, encoding="utf-8")
    return project


@pytest.fixture(scope="module")
def finished(tmp_path_factory, data) -> Path:
    """The project after its workflow `all` on the small grid."""
    pytest.importorskip("matplotlib", reason="plots need matplotlib: pip install .[study]")
    project = copied(tmp_path_factory.mktemp("projects"))
    (project / "findings.md").write_text("## Found\n\nNothing much.\n", encoding="utf-8")
    done = everything(project, data)
    assert done.returncode == 0, done.stdout + done.stderr
    return project


def everything(project: Path, data: Path | None) -> subprocess.CompletedProcess[str]:
    return run(
        *("-m", "spacy", "project", "run", "all", project.name),
        *("--vars.grid", "configs/small.yml"),
        folder=project.parent,
        data=data,
    )


@pytest.mark.slow
def test_the_workflow_runs_the_whole_grid_once(finished):
    found = by_key((finished / "report" / "runs.jsonl").read_text(encoding="utf-8"))
    expected = set()
    for (corpus, setting, epochs), (n_models, groups) in EXPECTED.items():
        expected |= {(corpus, setting, epochs, str(seed), "") for seed in range(n_models)}
        expected |= {
            (corpus, setting, epochs, group, mean)
            for group in groups
            for mean in ("plain", "nonzero")
        }
    assert set(found) == expected
    assert all(0 <= line[name] <= 1 for line in found.values() for name in line if "_" in name)
    assert all((line["seconds"] == 0) == bool(line["mean"]) for line in found.values())


@pytest.mark.slow
@pytest.mark.parametrize("mean", ["plain", "nonzero"])
def test_an_average_is_what_the_segmenter_makes_of_several_models(finished, mean):
    found = by_key((finished / "report" / "runs.jsonl").read_text(encoding="utf-8"))
    kept = len(TRAIN) * 9 // 10
    train, dev = TRAIN[:kept], TRAIN[kept:]
    model = CharacterSegmenter(
        types=None, half_width=False, learning=Learning(l2=1e-3), epochs=2, n_models=2, mean=mean
    ).fit(train)
    line = found["lines", "half_width=False l2=0.001 types=None", 2, "0-1", mean]
    vocabulary = {word for words in train for word in words}
    for part, sentences in (("dev", dev), ("test", DEV)):
        scores = model.evaluate(sentences, vocabulary=vocabulary)
        assert line[f"{part}_f"] == pytest.approx(scores.seg_f, abs=1e-6)
        assert line[f"{part}_oov_r"] == pytest.approx(scores.oov_r or 0.0, abs=1e-6)


@pytest.mark.slow
def test_the_tables_give_means_deviations_and_intervals(finished):
    found = by_key((finished / "report" / "runs.jsonl").read_text(encoding="utf-8"))
    text = (finished / "report" / "README.md").read_text(encoding="utf-8")
    assert "Nothing much." in text
    singles = [
        table
        for table in tables(text)
        if table[0][:2] == ["setting", "seeds"] and len(table) == 4  # the corpus `lines`
    ]
    assert len(singles) == 1
    row = dict(zip(singles[0][0], singles[0][1], strict=True))
    figures = [100 * found["lines", PLAIN, 2, str(seed), ""]["test_f"] for seed in range(4)]
    mean, sd = statistics.mean(figures), statistics.stdev(figures)
    assert row["setting"] == "plain"
    assert row["seeds"] == "4"
    assert row["test F"] == f"{mean:.2f} ± {sd:.2f}"
    # Student's t with three degrees of freedom: 3.182.
    half = 3.182446 * sd / 2
    assert row["95 % interval"] == f"{mean - half:.2f} to {mean + half:.2f}"
    claims = next(table for table in tables(text) if table[0][0] == "source")
    assert [cells[0] for cells in claims[1:]] == ["A", "B"]
    averages = [
        100 * found["lines", PLAIN, 2, group, "nonzero"]["test_f"] for group in ("0-1", "2-3")
    ]
    gains = [averages[i] - statistics.mean(figures[2 * i : 2 * i + 2]) for i in range(2)]
    assert claims[1][2].startswith(f"{statistics.mean(gains):+.2f} ± ")
    second = [100 * found["lines", EXPECTED_L2, 2, str(seed), ""]["test_f"] for seed in range(2)]
    assert claims[2][2].startswith(
        f"{statistics.mean(a - b for a, b in zip(second, figures, strict=False)):+.2f} ± "
    )
    assert claims[2][3] == "not run"


EXPECTED_L2 = "half_width=False l2=0.001 types=None"


@pytest.mark.slow
def test_every_picture_of_the_report_is_there(finished):
    text = (finished / "report" / "README.md").read_text(encoding="utf-8")
    pictures = set(re.findall(r"!\[[^]]+\]\(([^)]+)\)", text))
    assert len(pictures) == 4
    for picture in pictures:
        drawn = (finished / "report" / picture).read_text(encoding="utf-8")
        assert drawn.startswith("<?xml")
        assert drawn.rstrip().endswith("</svg>")


@pytest.mark.slow
def test_a_second_run_trains_nothing_and_changes_no_byte(finished):
    before = {path.name: path.read_bytes() for path in (finished / "report").iterdir()}
    # Nothing is missing, so no corpus is needed.
    done = everything(finished, None)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"all {len(before['runs.jsonl'].splitlines())} results are there" in done.stderr
    assert {path.name: path.read_bytes() for path in (finished / "report").iterdir()} == before


@pytest.mark.slow
def test_an_interrupted_study_goes_on(finished, project, data):
    whole = (finished / "report" / "runs.jsonl").read_text(encoding="utf-8")
    lines = whole.splitlines(keepends=True)
    results = project / "report" / "runs.jsonl"
    results.parent.mkdir()
    # Killed while a line was written; and some lines of groups are missing.
    kept = "".join(lines[1:4] + lines[9:20])
    results.write_text(kept + lines[21][:40], encoding="utf-8")
    done = run("scripts/run.py", "configs/small.yml", results, folder=project, data=data)
    assert done.returncode == 0, done.stderr
    resumed = results.read_text(encoding="utf-8")
    assert resumed.startswith(kept)
    assert without_time(resumed) == without_time(whole)


def fails(project: Path, *, data: Path | None, grid: str = GRID, results: str | None = None) -> str:
    """What the command `run` says when it fails."""
    (project / "configs" / "small.yml").write_text(grid, encoding="utf-8")
    path = project / "report" / "runs.jsonl"
    if results is not None:
        path.parent.mkdir()
        path.write_text(results, encoding="utf-8")
    done = run("scripts/run.py", "configs/small.yml", path, folder=project, data=data)
    assert done.returncode == 1
    assert done.stderr.startswith("error: "), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_without_a_folder_of_corpora_it_says_what_to_set(project, tmp_path):
    assert "set the environment variable STRUCTREG_DATA" in fails(project, data=None)
    assert "does not exist" in fails(project, data=tmp_path / "nowhere")
    # An empty folder: the file that is missing is named.
    (tmp_path / "empty").mkdir()
    assert "train.txt" in fails(project, data=tmp_path / "empty")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{l2: 1.0e-3}", "{l3: 1.0e-3}", "l3"),
        ("{l2: 1.0e-3}", "{l2: 2.0}", "l2"),
        ("{update: pa_i, aggressiveness", "{aggressiveness", "aggressiveness"),
        ("models: 6, group: 3", "models: 5, group: 3", "no groups of 3"),
        ("tree: {epochs", "bush: {epochs", "unknown corpus"),
        ("corpora:\n  lines: {reader", "corpus:\n  lines: {reader", "not a grid"),
    ],
)
def test_a_faulty_grid_is_refused_before_anything_runs(project, data, old, new, said):
    assert old in GRID
    message = fails(project, data=data, grid=GRID.replace(old, new, 1))
    assert "small.yml: " in message
    assert said in message
    assert not (project / "report").exists()


def test_results_of_other_data_and_broken_lines_are_refused(project, data):
    line = {
        **dict(zip(KEY, ("lines", PLAIN, 9, "0", ""), strict=True)),
        **dict.fromkeys(("dev_f", "dev_oov_r", "test_f", "test_oov_r", "seconds"), 0.5),
        "checksum": "0" * 12,
        "version": "0",
    }
    text = json.dumps(line) + "\n"
    assert "another training corpus lines" in fails(project, data=data, results=text)
    shutil.rmtree(project / "report")
    assert "runs.jsonl:2: " in fails(project, data=data, results=text + "{}\n" + text)


def test_a_report_of_an_unfinished_study_is_refused(project):
    results = project / "report" / "runs.jsonl"
    results.parent.mkdir()
    results.write_text("", encoding="utf-8")
    target = project / "report" / "README.md"
    done = run("scripts/report.py", "configs/small.yml", results, target, folder=project)
    assert done.returncode == 1
    assert "run the grid first" in done.stderr
    assert not target.exists()


def test_the_report_that_is_kept_is_that_of_its_results(tmp_path):
    made = tmp_path / "README.md"
    done = run(
        *("scripts/report.py", "configs/study.yml", "report/runs.jsonl", made),
        *("--findings", "findings.md"),
        folder=PROJECT,
    )
    assert done.returncode == 0, done.stderr
    assert made.read_bytes() == (PROJECT / "report" / "README.md").read_bytes()


def test_what_is_kept_holds_figures_and_no_text_of_a_corpus():
    files = [path for path in (PROJECT / "report").iterdir() if path.suffix != ".lock"]
    assert {"README.md", "runs.jsonl"} <= {path.name for path in files}
    for path in files:
        assert not HAN.search(path.read_text(encoding="utf-8")), path.name
    assert sum(path.stat().st_size for path in files) < 1_500_000
