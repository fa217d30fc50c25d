"""The project `crf_study`: its workflow on made-up corpora, and the reports that it holds."""

from __future__ import annotations

import json
import os
import random
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
from spacy_structreg.estimators.sequence_labeler import SequenceLabeler
from spacy_structreg.estimators.text_classifier import TextClassifier
from spacy_structreg.learn.settings import Learning, LogLinear

PROJECT = Path(__file__).parents[2] / "projects" / "crf_study"
MADE = ("report", "__pycache__", "project.lock", ".mypy_cache")
KEY = ("corpus", "setting", "seed")
HAN = re.compile("[\u3400-\u9fff]")

GRID = """
title: Made up
base:
  crf: {learner: crf, epochs: 3, patience: 2, rate: 0.5, decay: 0.3, l2: 0.1}
  perceptron: {learner: perceptron, epochs: 2}
corpora:
  words:
    kind: characters
    model: {types: null}
    reader: segmented
    train: [train.txt]
    test: [test.txt]
  names: &names
    kind: labels
    model: {templates: pos, scheme: io}
    reader: columns
    options: {columns: [word, label]}
    train: [{file: train.tsv, to: 0.75}]
    dev: [{file: train.tsv, from: 0.75}]
    test: [test.tsv]
  texts:
    kind: texts
    reader: segmented
    split: thirds
    train: [{file: train.txt, category: a}, {file: test.txt, category: b}]
experiments:
  pieces:
    title: Pieces
    note: Of sentences.
    against: whole
    best: [pieces]
    axis: linear
    times: true
    systems:
      whole: {setting: {learner: crf}, tune: {l2: [0.1, 10.0]}}
      pieces: {like: whole, vary: mini_sample, values: [1.5, 2.5]}
      perceptron: {setting: {learner: perceptron}}
    corpora:
      words: {seeds: 2, tune_seeds: 1}
      names: {seeds: 2, tune_seeds: 1, values: {pieces: [2.5]}, tune: {l2: [0.3]}}
  noise:
    title: Noise
    against: none
    types: [none, dropout]
    systems:
      none: {setting: {learner: crf, l2: 0.0}}
      dropout: {setting: {learner: crf, noise: dropout, l2: 0.03}, tune: {noise_level: [0.1, 0.4]}}
      more: {like: dropout, setting: {unlabelled: rest}}
    corpora:
      names: {seeds: 1, tune_seeds: 1, without: [more]}
      texts: {seeds: 2, tune_seeds: 2}
  strengths:
    title: Strengths
    axis: log
    systems:
      L2: {setting: {learner: crf}, vary: l2, values: [0.1, 10.0]}
    corpora:
      names: {seeds: 1, tune_seeds: 1}
"""

CRF = "decay=0.3 epochs=3"


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


def labelled(sentences: list[list[str]]) -> list[list[tuple[str, str]]]:
    """Words of more than one character are names; those that follow one another are one."""
    return [
        [
            (word, "O" if len(word) == 1 else "I-X" if i and len(words[i - 1]) > 1 else "B-X")
            for i, word in enumerate(words)
        ]
        for words in sentences
    ]


def by_key(text: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines()]
    keyed = {tuple(line[name] for name in KEY): line for line in lines}
    assert len(keyed) == len(lines)
    return keyed


def without_time(text: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {
        key: {name: value for name, value in line.items() if name != "seconds"}
        for key, line in by_key(text).items()
    }


def tables(text: str) -> list[list[dict[str, str]]]:
    """The tables of a Markdown file: each row by the titles of its columns."""
    found: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [[dict(zip(rows[0], row, strict=True)) for row in rows[2:]] for rows in found if rows]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A folder with made-up corpora."""
    folder = tmp_path_factory.mktemp("data")
    for name, sentences in (("train", TRAIN), ("test", DEV)):
        (folder / f"{name}.txt").write_text(
            "".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8"
        )
        (folder / f"{name}.tsv").write_text(
            "".join(
                "".join(f"{word}\t{label}\n" for word, label in rows) + "\n"
                for rows in labelled(sentences)
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
    """The project after its workflow on the small grid."""
    pytest.importorskip("matplotlib", reason="plots need matplotlib: pip install .[study]")
    project = copied(tmp_path_factory.mktemp("projects"))
    (project / "findings.md").write_text("## Found\n\nNothing much.\n", encoding="utf-8")
    done = everything(project, data)
    assert done.returncode == 0, done.stdout + done.stderr
    return project


def everything(project: Path, data: Path | None) -> subprocess.CompletedProcess[str]:
    return run(
        *("-m", "spacy", "project", "run", "study", project.name),
        *("--vars.grid", "configs/small.yml"),
        folder=project.parent,
        data=data,
    )


def results(project: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    return by_key((project / "report" / "runs.jsonl").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_what_is_best_on_the_dev_set_is_taken_for_what_follows(finished):
    found = results(finished)
    first = {
        l2: max(found["words", f"{CRF} l2={l2} learner=crf patience=2 rate=0.5", 0]["curve"])
        for l2 in ("0.1", "10")
    }
    best = "0.1" if first["0.1"] >= first["10"] else "10"
    other = "10" if best == "0.1" else "0.1"
    expected = {("words", f"{CRF} l2={other} learner=crf patience=2 rate=0.5", 0)}
    for seed in range(2):
        rest = "patience=2 rate=0.5"
        expected |= {
            ("words", f"{CRF} l2={best} learner=crf {rest}", seed),
            ("words", f"{CRF} l2={best} learner=crf mini_sample=1.5 {rest}", seed),
            ("words", f"{CRF} l2={best} learner=crf mini_sample=2.5 {rest}", seed),
            ("words", "epochs=2 learner=perceptron", seed),
        }
    assert {key for key in found if key[0] == "words"} == expected
    # One of two levels of noise for all seeds; both for those that it was chosen by.
    levels = [key[1] for key in found if key[0] == "names" and "noise=dropout" in key[1]]
    assert len(levels) == 2


@pytest.mark.slow
def test_a_line_is_what_the_estimators_give(finished):
    found = results(finished)
    kept = len(TRAIN) * 9 // 10
    perceptron = CharacterSegmenter(types=None, learning=Learning(), epochs=2, seed=1)
    perceptron.fit(TRAIN[:kept], TRAIN[kept:])
    line = found["words", "epochs=2 learner=perceptron", 1]
    assert line["curve"] == pytest.approx([r.primary for r in perceptron.history], abs=1e-6)
    assert line["test"] == pytest.approx(perceptron.evaluate(DEV).seg_f, abs=1e-6)
    assert line["types"] == {"dev": {}, "test": {}}

    rows = labelled(TRAIN)
    cut = round(0.75 * len(rows))
    learning = LogLinear(rate=0.5, decay=0.3, l2=0.3, mini_sample=2.5)
    labeller = SequenceLabeler(
        templates="pos", scheme="io", learning=learning, epochs=3, patience=2, seed=0
    ).fit(rows[:cut], rows[cut:])
    setting = f"{CRF} l2=0.3 learner=crf mini_sample=2.5 patience=2 rate=0.5"
    line = found["names", setting, 0]
    assert line["curve"] == pytest.approx([r.primary for r in labeller.history], abs=1e-6)
    assert line["epoch"] == 1 + line["curve"].index(max(line["curve"]))
    scores = labeller.evaluate(labelled(DEV))
    assert line["test"] == pytest.approx(scores.ents_f, abs=1e-6)
    assert line["types"]["test"] == {"X": [scores.gold, scores.predicted, scores.correct]}
    assert line["seconds"] > 0


@pytest.mark.slow
def test_thirds_are_drawn_by_the_seed_and_one_of_them_has_no_labels(finished):
    found = results(finished)
    texts = [(words, "a") for words in TRAIN] + [(words, "b") for words in DEV]
    random.Random(1).shuffle(texts)
    size = len(texts) // 3
    train, test, rest = texts[:size], texts[size : 2 * size], texts[2 * size : 3 * size]
    kept = size * 9 // 10
    more = {key: line for key, line in found.items() if "unlabelled=rest" in key[1]}
    assert len(more) == 2
    (level,) = {re.search("noise_level=(.*?) ", setting)[1] for _, setting, _ in more}
    learning = LogLinear(rate=0.5, decay=0.3, l2=0.03, noise="dropout", noise_level=float(level))
    model = TextClassifier(learning=learning, epochs=3, patience=2, seed=1)
    model.fit(train[:kept], train[kept:], unlabelled=[words for words, _ in rest])
    line = next(line for key, line in more.items() if key[2] == 1)
    assert line["curve"] == pytest.approx([r.primary for r in model.history], abs=1e-6)
    assert line["test"] == pytest.approx(model.evaluate(test).cats_acc, abs=1e-6)
    assert line["seconds"] is None


@pytest.mark.slow
def test_the_tables_give_means_intervals_differences_and_times(finished):
    found = results(finished)
    text = (finished / "report" / "README.md").read_text(encoding="utf-8")
    assert "Nothing much." in text
    assert "Of sentences." in text
    best, words, *_ = tables(text)
    chosen = words[0]["chosen on dev"].removeprefix("l2 ")
    runs = {
        name: [found["words", setting, seed] for seed in range(2)]
        for name, setting in (
            ("perceptron", "epochs=2 learner=perceptron"),
            ("whole", f"{CRF} l2={chosen} learner=crf patience=2 rate=0.5"),
        )
    }
    row = next(row for row in words if row["system"] == "perceptron")
    figures = [100 * line["test"] for line in runs["perceptron"]]
    mean, sd = statistics.mean(figures), statistics.stdev(figures)
    assert row["test"] == f"{mean:.2f} ± {sd:.2f}"
    # Student's t with one degree of freedom: 12.706.
    half = 12.7062 * sd / 2**0.5
    assert row["95 % interval"] == f"{mean - half:.2f} to {mean + half:.2f}"
    gains = [a["test"] - b["test"] for a, b in zip(*runs.values(), strict=True)]
    assert row["test - its"] == f"{100 * statistics.mean(gains):+.2f}"
    times = [line["epoch"] * line["seconds"] for line in runs["perceptron"]]
    assert row["CPU s"].startswith(f"{statistics.mean(times):.2f} ± ")
    # Until the dev set has what the reference of that seed ends with.
    reached = []
    for line, other in zip(*runs.values(), strict=True):
        score = max(other["curve"])
        if max(line["curve"]) >= score:
            n = 1 + next(i for i, each in enumerate(line["curve"]) if each >= score)
            reached.append(n * line["seconds"])
    said = f"{statistics.mean(reached):.2f}" if len(reached) == 2 else f"{len(reached)} of 2 do"
    assert row["s to its dev"] == said
    assert [row["corpus"] for row in best] == ["words", "names"]
    pieces = [row for row in words if row["system"] == "pieces"]
    top = max(pieces, key=lambda row: float(row["dev"].split()[0]))
    assert best[0]["test - its"] == top["test - its"]
    assert best[0]["verdict"] in ("better", "worse", "undecided")


@pytest.mark.slow
def test_each_label_has_its_figures_from_the_counts_of_all_seeds(finished):
    found = results(finished)
    text = (finished / "report" / "README.md").read_text(encoding="utf-8")
    by_label = [table for table in tables(text) if "label" in table[0]]
    assert len(by_label) == 2  # dev and test, of the names
    setting = f"{CRF} l2=0 learner=crf patience=2 rate=0.5"
    _, predicted, correct = found["names", setting, 0]["types"]["test"]["X"]
    row = by_label[1][0]
    assert row["label"] == "X"
    assert row["none: P"] == f"{100 * correct / predicted:.2f}"
    assert [row["label"] for row in by_label[1]] == ["X", "all"]


@pytest.mark.slow
def test_every_picture_of_the_report_is_there(finished):
    text = (finished / "report" / "README.md").read_text(encoding="utf-8")
    pictures = set(re.findall(r"!\[[^]]+\]\(([^)]+)\)", text))
    assert pictures == {"pieces.svg", "strengths.svg"}
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
    path = project / "report" / "runs.jsonl"
    path.parent.mkdir()
    # Killed while a line was written; and some lines before it are missing.
    kept = "".join(lines[1:4] + lines[7:12])
    path.write_text(kept + lines[13][:40], encoding="utf-8")
    done = run("scripts/run.py", "configs/small.yml", path, folder=project, data=data)
    assert done.returncode == 0, done.stderr
    resumed = path.read_text(encoding="utf-8")
    assert resumed.startswith(kept)
    assert without_time(resumed) == without_time(whole)


def fails(project: Path, *, data: Path | None, grid: str = GRID, lines: str | None = None) -> str:
    """What the command `run` says when it fails."""
    (project / "configs" / "small.yml").write_text(grid, encoding="utf-8")
    path = project / "report" / "runs.jsonl"
    if lines is not None:
        path.parent.mkdir()
        path.write_text(lines, encoding="utf-8")
    done = run("scripts/run.py", "configs/small.yml", path, folder=project, data=data)
    assert done.returncode == 1
    assert done.stderr.startswith("error: "), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_without_a_folder_of_corpora_it_says_what_to_set(project, tmp_path):
    assert "set the environment variable STRUCTREG_DATA" in fails(project, data=None)
    # An empty folder: the file that is missing is named.
    (tmp_path / "empty").mkdir()
    assert "train.txt" in fails(project, data=tmp_path / "empty")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("l2: 0.03}, tune", "l3: 0.03}, tune", "l3"),
        ("noise_level: [0.1", "noise_level: [2.0", "noise_level"),
        ("unlabelled: rest", "unlabelled: some", "unlabelled"),
        ("{like: whole", "{like: half", "no system 'half'"),
        ("best: [pieces]", "best: [cuts]", "unknown system, 'cuts'"),
        ("axis: log", "axis: cubic", "cubic"),
        ("{setting: {learner: perceptron}", "{setting: {learner: tree}", "no learner"),
        ("kind: texts", "kind: text", "kind"),
        ("model: {types: null}", "model: {tables: null}", "tables"),
        ("texts: {seeds: 2", "text: {seeds: 2", "unknown corpus"),
        ("corpora:\n  words:", "corpus:\n  words:", "not a grid"),
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
        **dict(zip(KEY, ("words", "epochs=9", 0), strict=True)),
        **{"curve": [0.5, 0.75], "epoch": 2, "test": 0.5, "types": {}, "seconds": 0.5},
        **{"checksum": "0" * 12, "version": "0"},
    }
    text = json.dumps(line) + "\n"
    assert "another training corpus words" in fails(project, data=data, lines=text)
    for broken in ("{}\n", text.replace('"epoch": 2', '"epoch": 3')):
        shutil.rmtree(project / "report")
        assert "runs.jsonl:2: " in fails(project, data=data, lines=text + broken + text)


def test_a_report_of_an_unfinished_study_is_refused(project):
    path = project / "report" / "runs.jsonl"
    path.parent.mkdir()
    path.write_text("", encoding="utf-8")
    target = project / "report" / "README.md"
    done = run("scripts/report.py", "configs/small.yml", path, target, folder=project)
    assert done.returncode == 1
    assert "run the grid first" in done.stderr
    assert not target.exists()


@pytest.mark.parametrize(
    ("grid", "folder", "findings"),
    [("structure", "report", "findings"), ("noising", "report/noising", "noising")],
)
def test_the_reports_that_are_kept_are_those_of_their_results(tmp_path, grid, folder, findings):
    made = tmp_path / "README.md"
    done = run(
        *("scripts/report.py", f"configs/{grid}.yml", f"{folder}/runs.jsonl", made),
        *("--findings", f"{findings}.md"),
        folder=PROJECT,
    )
    assert done.returncode == 0, done.stderr
    assert made.read_bytes() == (PROJECT / folder / "README.md").read_bytes()


def test_what_is_kept_holds_figures_and_no_text_of_a_corpus():
    files = [path for path in (PROJECT / "report").rglob("*") if path.is_file()]
    assert {"README.md", "runs.jsonl"} <= {path.name for path in files}
    for path in files:
        assert not HAN.search(path.read_text(encoding="utf-8")), path.name
    assert sum(path.stat().st_size for path in files) < 1_500_000
