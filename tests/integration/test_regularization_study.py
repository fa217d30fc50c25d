"""The project `regularization_study`: its workflow on a made-up corpus, and the report it holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pipeline.made_up import DEV, TRAIN
from study_contract import (
    CONFIG,
    RUNS,
    Study,
    StudyContract,
    command,
    finished,
    project,
    write_results,
)

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.segmentation import CharacterSegmenter

# Fixtures of every study.
__all__ = ["finished", "project"]

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
    "PA-I": {algorithm: pa_i, aggressiveness: 0.1}
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


STUDY = Study(
    name="regularization_study",
    grid=GRID,
    key=("corpus", "setting", "epochs", "seeds", "mean"),
    pictures=frozenset(
        {"averaging.svg", "combinations.svg", "mini-samples.svg", "strengths-lines.svg"}
    ),
    reports=(("study", "report", "findings"),),
    faulty=(
        ("{l2: 1.0e-3}", "{l3: 1.0e-3}", "l3"),
        ("{l2: 1.0e-3}", "{l2: 2.0}", "l2"),
        ("{algorithm: pa_i, aggressiveness", "{aggressiveness", "aggressiveness"),
        ("models: 6, group: 3", "models: 5, group: 3", "no groups of 3"),
        ("tree: {epochs", "bush: {epochs", "unknown corpus"),
        ("corpora:\n  lines: {reader", "corpus:\n  lines: {reader", "not a grid"),
    ),
    line={
        **{"corpus": "lines", "setting": PLAIN, "epochs": 9, "seeds": "0", "mean": ""},
        **dict.fromkeys(("dev_f", "dev_oov_r", "test_f", "test_oov_r", "seconds"), 0.5),
        **{"checksum": "0" * 12, "version": "0"},
    },
    broken={"test_e": 0.5},
    workflow="all",
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


class TestContract(StudyContract):
    """What holds for every study."""


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


@pytest.mark.slow
def test_the_workflow_runs_the_whole_grid_once(finished):
    found = STUDY.results(finished)
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
    found = STUDY.results(finished)
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


# What the commands do for all studies -------------------------------------------------------------


@pytest.mark.slow
def test_a_second_run_trains_nothing_and_changes_no_byte(finished):
    before = {path.name: path.read_bytes() for path in (finished / "report").iterdir()}
    # Nothing is missing, so no corpus is needed.
    done = STUDY.everything(finished, None)
    assert f"all {len(STUDY.results(finished))} results are there" in done.stderr
    assert {path.name: path.read_bytes() for path in (finished / "report").iterdir()} == before


@pytest.mark.slow
def test_an_interrupted_study_goes_on(finished, project, data):
    whole = (finished / RUNS).read_text(encoding="utf-8")
    lines = whole.splitlines(keepends=True)
    kept = "".join(lines[1:4] + lines[9:20])
    # Killed while a line was written; and some lines before it are missing.
    path = write_results(project, kept + lines[0][:40])
    done = command("run", CONFIG, RUNS, folder=project, data=data)
    assert done.returncode == 0, done.stderr
    resumed = path.read_text(encoding="utf-8")
    assert resumed.startswith(kept)
    assert STUDY.without_times(resumed) == STUDY.without_times(whole)


def test_what_cannot_be_run_or_reported_is_refused(project, data, tmp_path):
    assert "set the environment variable STRUCTREG_DATA" in STUDY.fails(project, data=None)
    # An empty folder: the file that is missing is named.
    (tmp_path / "empty").mkdir()
    assert "train.txt" in STUDY.fails(project, data=tmp_path / "empty")
    old, new, said = STUDY.faulty[0]
    message = STUDY.fails(project, data=data, grid=GRID.replace(old, new, 1))
    assert "small.yml: " in message
    assert said in message
    assert not (project / "report").exists()
    message = STUDY.fails(project, data=data, results=json.dumps(STUDY.line) + "\n")
    assert "another training corpus lines" in message
    write_results(project, "")
    done = command("report", CONFIG, RUNS, "report/README.md", folder=project)
    assert done.returncode == 1
    assert "run the grid first" in done.stderr
    assert not (project / "report/README.md").exists()
