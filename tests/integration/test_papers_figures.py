"""Figures of the project `papers`: curves of made-up corpora, and what is kept of the papers'."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from papers_project import FOLDER, finish, papers
from pipeline.made_up import DEV, TRAIN
from study_contract import RUNS, Lines, pictures_of
from test_papers_zc11 import licensed

from spacy_structreg.cli.evaluate import evaluate
from spacy_structreg.cli.fit import fit

# Corpora of our own sentences, in the layouts of those that are licensed.
__all__ = ["licensed"]

SETTING = "training.max_epochs=2"

GRID = """
title: "A paper"
corpora:
  lines: {train: train.txt, dev: dev.txt, test: test.txt}
  licensed: {variable: STRUCTREG_OF_NOBODY, needs: "a licence", train: train, test: test}
systems:
  base: {config: z14_characters, changed: {training.max_epochs: 2}}
  words: {config: zc11_words, changed: {training.max_epochs: 1}}
  pair: {config: z14_characters, changed: {training.max_epochs: 2}, models: 2}
tables:
  averages:
    title: "Figure 1"
    because: "It is small."
    axis: {title: "averaged models", vary: models, values: [1, 2, 3]}
    columns: {seg_f: F}
    of: licensed
    seeds: {lines: 2, licensed: 2}
    rows:
      "Equation 8":
        {system: base, against: "Equation 8, 1", paper: {licensed: {seg_f: {1: 97.3, 3: 97.9}}}}
      "Equation 7": {system: base, mean: plain, against: "Equation 8"}
      "a pair": {system: pair, level: true}
  epochs:
    title: "Figure 2"
    because: "It is small."
    axis: {title: epochs, vary: epoch, values: [1, 2]}
    columns: {seg_f: F}
    "on": dev
    seeds: {lines: 2}
    rows: {"one model": {system: base}}
  speeds:
    title: "Figure 3"
    because: "It is small."
    columns: {seg_f: F}
    seeds: {lines: 2}
    panels:
      "by beam":
        axis:
          title: beam
          vary: nlp.tokenizer.model.beam
          values: [1, 4]
          by: sentences_a_second
          log: true
        rows: {"whole words": {system: words}}
      "by kind":
        axis: {title: kind}
        rows: {"all": {systems: {"characters": base, "two models": pair}}}
"""

STUDY = papers(
    GRID,
    faulty=(
        ("by: sentences_a_second", "by: luck", "by is one of value"),
        ("values: [1, 4]", "values: [0, 4]", "on a logarithmic axis"),
        ('"on": dev', '"on": train', "on is one of test, dev"),
        ('{"one model": {system: base}}', '{"one model": {system: pair}}', "a single model"),
        ('against: "Equation 8"}', 'against: "Equation 9"}', "unknown row"),
        ("vary: models", "varied: models", "averages: axis has unknown keys: varied"),
        ("{system: pair, level: true}", "{system: pair, length: 9}", "unknown keys: length"),
        ("dev: dev.txt,", "dev: dev.txt, refit: true,", "which Equation 8, 1 cannot be"),
        ('"two models": pair', '"two models": pairs', "unknown system"),
    ),
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a made-up corpus."""
    folder = tmp_path_factory.mktemp("data")
    for name, sentences in (("train", TRAIN), ("dev", DEV), ("test", TRAIN[::3] + DEV)):
        text = "".join(" ".join(words) + "\n" for words in sentences)
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """The project after its commands."""
    pytest.importorskip("matplotlib", reason="plots need matplotlib: pip install .[study]")
    project = STUDY.copied(tmp_path_factory.mktemp("projects"))
    return finish(project, data=data, plots=True)


@pytest.fixture(scope="module")
def results(drawn: Path) -> Lines:
    return STUDY.results(drawn)


def fitted(folder: Path, data: Path, output: Path, **settings: Any) -> dict[str, Any]:
    """Train by `structreg fit`; the seed and best F on the development set of each model."""
    report = output.with_suffix(".json")
    fit(
        folder / "systems/z14_characters.cfg",
        output,
        train=data / "train.txt",
        dev=data / "dev.txt",
        n_models=settings.pop("models", 1),
        patience=9,
        report=report,
        overrides={f"training.{name}": value for name, value in settings.items()},
    )
    return dict(json.loads(report.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_the_first_models_of_a_group_are_those_of_a_training_of_so_many(
    drawn: Path, results: Lines, data: Path, tmp_path: Path
) -> None:
    """Seeds of groups of three are three apart."""
    fitted(drawn, data, tmp_path / "two", models=2, max_epochs=2, seed=3)
    key = ("lines", "z14_characters", f"mean=nonzero models=2 of=3 {SETTING}", 1, 0)
    for part in ("test", "dev"):
        scores = evaluate(str(tmp_path / "two"), data / f"{part}.txt", train=data / "train.txt")
        found = results[key]["figures" if part == "test" else "dev"]
        assert found["seg_f"] == pytest.approx(scores["seg_f"], abs=1e-6)
    # One of a group of one is the same by both means, and all three are a plain average.
    settings = {setting for _, system, setting, _, _ in results if system == "z14_characters"}
    assert settings == {
        SETTING,
        f"models=1 of=3 {SETTING}",
        *(f"mean={mean} models=2 of=3 {SETTING}" for mean in ("nonzero", "plain")),
        *(f"mean={mean} models=3 {SETTING}" for mean in ("nonzero", "plain")),
        f"mean=nonzero models=2 {SETTING}",
    }


@pytest.mark.slow
def test_a_curve_over_epochs_is_of_one_training(
    drawn: Path, results: Lines, data: Path, tmp_path: Path
) -> None:
    after = results["lines", "z14_characters", SETTING, 1, 0]["after"]
    assert len(after["seg_f"]) == len(after["seconds"]) == 2
    assert 0 <= after["seconds"][0] <= after["seconds"][1]
    report = fitted(drawn, data, tmp_path / "one", max_epochs=1, seed=1)
    assert after["seg_f"][0] == pytest.approx(report["dev_seg_f"][0], abs=1e-6)
    report = fitted(drawn, data, tmp_path / "both", max_epochs=2, seed=1)
    assert max(after["seg_f"]) == pytest.approx(report["dev_seg_f"][0], abs=1e-6)
    # Runs that no such curve is of keep none.
    assert [key for key, line in results.items() if line["after"]] == [
        ("lines", "z14_characters", SETTING, seed, 0) for seed in (0, 1)
    ]


@pytest.mark.slow
def test_a_run_that_was_kept_without_the_development_set_is_named(
    drawn: Path, data: Path, tmp_path: Path
) -> None:
    project = STUDY.copied(tmp_path)
    lines = map(json.loads, (drawn / RUNS).read_text(encoding="utf-8").splitlines())
    text = "".join(json.dumps({**line, "after": {}}) + "\n" for line in lines)
    message = STUDY.fails(project, data=data, results=text)
    assert f"z14_characters {SETTING}, seed 0, fold 0 on lines lacks" in message
    assert "--anew yes" in message


def test_faulty_figures_are_refused(tmp_path: Path) -> None:
    project = STUDY.copied(tmp_path)
    assert all(old in GRID for old, _, _ in STUDY.faulty)
    grids = [GRID.replace(old, new, 1) for old, new, _ in STUDY.faulty]
    for (_, new, said), message in zip(STUDY.faulty, STUDY.said(project, grids, []), strict=True):
        assert said in message, new


def test_every_kept_figure_has_its_picture() -> None:
    n_drawn = 0
    for folder in (path for path in (FOLDER / "report").iterdir() if path.is_dir()):
        text = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.md"))
        assert pictures_of(text) == {path.name for path in folder.glob("*.svg")}, folder.name
        n_drawn += len(pictures_of(text))
    assert n_drawn
