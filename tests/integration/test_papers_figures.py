"""Figures of the project `papers`: curves of made-up corpora, and what is kept of the papers'."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import srsly
from papers_project import FOLDER, finish, papers
from pipeline.made_up import DEV, TRAIN
from study_contract import CONFIG, RUNS, Lines, command, pictures_of, tables
from test_papers_zc11 import licensed, variables_of

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
    here: in part
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
    here: in part
    because: "It is small."
    axis: {title: epochs, vary: epoch, values: [1, 2]}
    columns: {seg_f: F}
    "on": dev
    seeds: {lines: 2}
    rows: {"one model": {system: base}}
  speeds:
    title: "Figure 3"
    here: in part
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
        ('"on": dev', '"on": train', "on one of test, dev"),
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


def page(project: Path, name: str) -> str:
    return (project / f"report/{name}.md").read_text(encoding="utf-8")


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
def test_the_page_has_the_points_of_the_picture(drawn: Path, results: Lines) -> None:
    text = page(drawn, "averages")
    assert "![Figure 1](averages.svg)" in text
    rows = {row[0]: row for row in tables(text)[0][1:]}
    assert [*rows] == [
        *(f"Equation 8, {n}" for n in (1, 2, 3)),
        *(f"Equation 7, {n}" for n in (1, 2, 3)),
        "a pair",
    ]

    def values(setting: str) -> list[float]:
        lines = (results["lines", "z14_characters", setting, seed, 0] for seed in (0, 1))
        return [100 * line["figures"]["seg_f"] for line in lines]

    one = values(f"models=1 of=3 {SETTING}")
    two = values(f"mean=nonzero models=2 of=3 {SETTING}")
    mean = statistics.mean(two)
    # Student's t with one degree of freedom: 12.706.
    half = 12.7062 * statistics.stdev(two) / 2**0.5
    assert rows["Equation 8, 2"][3:5] == [f"{mean:.2f}", f"{mean - half:.2f} to {mean + half:.2f}"]
    assert rows["Equation 8, 2"][5].startswith(f"{mean - statistics.mean(one):+.2f} ± ")
    assert rows["Equation 8, 3"][2] == "97.9"
    assert rows["Equation 7, 1"][5] == "+0.00 ± 0.00"
    assert {name: row[1] for name, row in rows.items()} == {
        **{"Equation 8, 1": "", "a pair": ""},
        **{f"Equation 8, {n}": "Equation 8, 1" for n in (2, 3)},
        **{f"Equation 7, {n}": f"Equation 8, {n}" for n in (1, 2, 3)},
    }
    assert 'Points are held against: "Equation 8, 1"; "Equation 8". *Difference* is' in text
    # Nothing is said of what the page does not have.
    assert "*p*" not in text
    assert "Dotted lines" in text
    assert "Hollow points" in text
    for name in ("epochs", "speeds"):
        other = page(drawn, name)
        assert "Points are means" in other
        assert not re.search(r"held against|Dotted|Hollow|\*Difference\*", other)
    assert "Not run yet: it needs a licence." in text


@pytest.mark.slow
def test_points_on_the_development_set_say_so(drawn: Path, results: Lines) -> None:
    text = page(drawn, "epochs")
    assert "Figures are those of the development set." in text
    for number, row in enumerate(tables(text)[0][1:]):
        curves = (results["lines", "z14_characters", SETTING, seed, 0]["after"] for seed in (0, 1))
        values = [100 * curve["seg_f"][number] for curve in curves]
        assert row[:2] == [f"one model, {number + 1}", f"{statistics.mean(values):.2f}"]


@pytest.mark.slow
def test_speeds_are_sentences_a_second(drawn: Path, results: Lines, data: Path) -> None:
    n_sentences = len((data / "test.txt").read_text(encoding="utf-8").splitlines())
    rows = tables(page(drawn, "speeds"))[0]
    assert rows[0][1] == "sentences a second"
    for row, beam in zip(rows[1:], (1, 4), strict=True):
        setting = f"nlp.tokenizer.model.beam={beam} training.max_epochs=1"
        speeds = [
            n_sentences / results["lines", "zc11_words", setting, seed, 0]["decoding_seconds"]
            for seed in (0, 1)
        ]
        assert row[0] == f"whole words, {beam}"
        assert float(row[1]) == pytest.approx(statistics.mean(speeds), rel=0.01)


def texts_of(picture: Path) -> list[str]:
    """The texts of an SVG picture."""
    root = ElementTree.parse(picture).getroot()
    return ["".join(each.itertext()).strip() for each in root.iter() if each.tag.endswith("text")]


@pytest.mark.slow
def test_pictures_name_their_axes_curves_and_points(drawn: Path) -> None:
    pictures = {path.name for path in (drawn / "report").glob("*.svg")}
    assert pictures == {"averages.svg", "epochs.svg", "speeds.svg"}
    texts = texts_of(drawn / "report/averages.svg")
    assert {"lines", "the paper: licensed", "averaged models", "F, %, test set"} <= {*texts}
    assert texts.count("Equation 8") == texts.count("a pair") == 1
    texts = texts_of(drawn / "report/epochs.svg")
    assert {"lines", "epochs", "F, %, development set"} <= {*texts}
    texts = texts_of(drawn / "report/speeds.svg")
    assert {"by beam: lines", "by kind: lines", "characters", "two models"} <= {*texts}
    assert "sentences a second (log scale); numbers: beam" in texts
    assert "prefers-color-scheme:dark" in (drawn / "report/speeds.svg").read_text("utf-8")


@pytest.mark.slow
def test_a_figure_without_all_its_points_is_not_drawn(drawn: Path, tmp_path: Path) -> None:
    """Those that are there stand in its table."""
    project = STUDY.copied(tmp_path)
    lines = (drawn / RUNS).read_text(encoding="utf-8").splitlines(keepends=True)
    (project / "report").mkdir()
    kept = [line for line in lines if f'"models=1 of=3 {SETTING}","seed":1' not in line]
    assert len(kept) == len(lines) - 1
    (project / RUNS).write_text("".join(kept), encoding="utf-8")
    for arguments in (("plots", "report"), ("report", "report/README.md")):
        done = command(arguments[0], CONFIG, RUNS, arguments[1], folder=project)
        assert done.returncode == 0, done.stderr
    text = page(project, "averages")
    assert not pictures_of(text)
    rows = {row[0]: row for row in tables(text)[0][1:]}
    assert rows["Equation 8, 1"][3] == "not run yet"
    assert rows["Equation 8, 3"] == [*tables(page(drawn, "averages"))[0][3][:5], ""]
    assert {path.name for path in (project / "report").glob("*.svg")} == {
        "epochs.svg",
        "speeds.svg",
    }


@pytest.mark.slow
def test_a_run_that_was_kept_without_the_development_set_is_named(
    drawn: Path, data: Path, tmp_path: Path
) -> None:
    project = STUDY.copied(tmp_path)
    lines = map(json.loads, (drawn / RUNS).read_text(encoding="utf-8").splitlines())
    text = "".join(json.dumps({**line, "after": {}}) + "\n" for line in lines)
    message = STUDY.fails(project, data=data, results=text)
    assert f"z14_characters {SETTING}, seed 0, fold 0 on lines lacks" in message
    assert "remove the line" in message


def test_faulty_figures_are_refused(tmp_path: Path) -> None:
    project = STUDY.copied(tmp_path)
    assert all(old in GRID for old, _, _ in STUDY.faulty)
    grids = [GRID.replace(old, new, 1) for old, new, _ in STUDY.faulty]
    for (_, new, said), message in zip(STUDY.faulty, STUDY.said(project, grids, []), strict=True):
        assert said in message, new


def cut(given: Any, needs: set[str]) -> Any:
    """A part of a grid with licensed corpora alone, one seed, and two points of each curve."""
    if not isinstance(given, dict):
        return given
    found = {name: cut(each, needs) for name, each in given.items()}
    if "seeds" in found:
        found["seeds"] = {corpus: 1 for corpus in found["seeds"] if corpus in needs}
    if "values" in found:
        found["values"] = [1, 2] if "models" in found.values() else found["values"][:2]
    if "against" in found and "," in found["against"]:
        del found["against"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["zc11", "z14"])
def test_figures_are_drawn_of_corpora_in_the_layouts_of_the_licensed_ones(
    paper: str, licensed: Path, tmp_path: Path
) -> None:
    project = STUDY.copied(tmp_path)
    grid = srsly.read_yaml(FOLDER / f"configs/{paper}.yml")
    needs = {name for name, entry in grid["corpora"].items() if "needs" in entry}
    figures = {name: each for name, each in grid["tables"].items() if name.startswith("figure_")}
    for corpus in needs:
        grid["corpora"][corpus]["counts"] = "any"
    for system in grid["systems"].values():
        system["changed"] = {**system.get("changed", {}), "training.max_epochs": 1}
    for figure in figures.values():
        if figure.get("axis", {}).get("vary") == "epoch":
            figure["axis"]["values"] = [1]
    grid["tables"] = cut(figures, needs)
    srsly.write_yaml(project / CONFIG, grid)
    finish(project, variables=variables_of(licensed), plots=True)
    if paper == "zc11":
        # A fifth of 72 sentences, which is the test set, too.
        drawn = [each for key, each in STUDY.results(project).items() if key[0] == "ctb4_rest"]
        assert [each["n_sentences"] for each in drawn] == [14] * 6
        assert all(each["figures"]["joint_f"] == each["dev"]["joint_f"] for each in drawn)
    for name in figures:
        text = page(project, name)
        # Not where the grid tells of our own runs.
        assert not re.search(r"\| not run yet|^Not run yet", text, re.MULTILINE)
        assert pictures_of(text) == {f"{name}.svg"}


def test_every_kept_figure_has_its_picture() -> None:
    n_drawn = 0
    for folder in (path for path in (FOLDER / "report").iterdir() if path.is_dir()):
        text = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.md"))
        assert pictures_of(text) == {path.name for path in folder.glob("*.svg")}, folder.name
        n_drawn += len(pictures_of(text))
    assert n_drawn
