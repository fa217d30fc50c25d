"""The project `papers`: its workflow on a made-up corpus, and the pages it holds."""

from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path

import pytest
import srsly
from papers_project import TREES, papers
from pipeline.made_up import DEV, TRAIN
from study_contract import (
    CONFIG,
    RUNS,
    StudyContract,
    command,
    finished,
    project,
    run,
    tables,
)

from spacy_structreg.cli.evaluate import evaluate
from spacy_structreg.cli.fit import fit
from spacy_structreg.corpora.formats.brackets import read_brackets

# Fixtures of every study.
__all__ = ["finished", "project"]

PAPERS = ("zc11", "z14", "s14", "w13", "g10")

GRID = """
title: "A paper"
corpora:
  lines: {train: lines/train.txt, test: lines/test.txt, refit: true}
  folded: {whole: lines/test.txt, folds: 3}
  ctb: {whole: ctb, split: segmentation, format: brackets, counts: any}
  licensed: {variable: STRUCTREG_OF_NOBODY, needs: "a license", train: train, test: test}
systems:
  base: {config: z14_characters, changed: {training.max_epochs: 2}}
  shuffle: {config: z14_characters, changed: {training.max_epochs: 2}, models: 2}
  one: {config: z14_characters, changed: {training.max_epochs: 1}, drawn: false}
tables:
  first:
    title: "Table 1"
    because: "It is small."
    columns: {seg_f: F, oov_r: "OOV recall"}
    of: licensed
    against: base
    seeds: {lines: 2, folded: 1, ctb: 1, licensed: 2}
    rows:
      base: {system: base, paper: {licensed: {seg_f: 97.3}, lines: {seg_f: 80}}}
      "two models": {system: shuffle}
      "one epoch": {system: one}
  second: {title: "Table 2", because: "Nobody has it."}
"""

STUDY = papers(
    GRID,
    faulty=(
        ("models: 2", "models: 0", "models 1 or more"),
        ("config: z14_characters", "config: none", "there is no systems/none.cfg"),
        ("{system: shuffle}", "{system: shuffled}", "unknown system"),
        ("against: base", "against: bass", "unknown row"),
        ("folded: 1, ctb", "folder: 1, ctb", "unknown corpus"),
        ("title: ", "titles: ", "not a grid"),
        ("    because: ", "    becuase: ", "first has unknown keys: becuase"),
        ("{system: shuffle}", "{system: shuffle, seed: 2}", "two models has unknown keys: seed"),
        ("drawn: false", "drawn: false, to_the_optimum: true", "which one epoch cannot be"),
    ),
    line={
        **{"corpus": "lines", "system": "x", "setting": "", "seed": 0, "fold": 0},
        **{"figures": {}, "sentences": {}, "epochs": [1], "config": "0", "commit": ""},
        **{"training_seconds": 1.0, "decoding_seconds": 1.0},
        **{"checksum": "0" * 12, "version": "0"},
    },
    broken={"figures": 0.5},
    times=("training_seconds", "decoding_seconds"),
    workflow="all",
)


class TestContract(StudyContract):
    """What holds for every study."""


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A folder with a made-up corpus, and one in the layout of the Chinese Treebank."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "lines").mkdir()
    for name, sentences in (("train", TRAIN), ("test", DEV)):
        text = "".join(" ".join(words) + "\n" for words in sentences)
        (folder / "lines" / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / "ctb/bracketed").mkdir(parents=True)
    for number, part in ((1, "train"), (301, "dev"), (271, "test")):
        trees = islice(read_brackets(TREES / part / "general.bracket"), 30)
        (folder / f"ctb/bracketed/chtb_{number:03}.fid").write_text(
            "".join(f"{tree.to_bracket(2)}\n" for tree in trees), encoding="utf-8"
        )
    return folder


@pytest.mark.slow
def test_each_run_is_made_once(finished):
    found = STUDY.results(finished)
    base, two = "training.max_epochs=2", "mean=nonzero models=2 training.max_epochs=2"
    one = "training.max_epochs=1"
    expected = {
        *(("lines", setting, seed, 0) for setting in (base, two) for seed in (0, 1)),
        *(("folded", setting, 0, fold) for setting in (base, two, one) for fold in range(3)),
        *(("ctb", setting, 0, 0) for setting in (base, two, one)),
        ("lines", one, 0, 0),
    }
    assert {(corpus, setting, seed, fold) for corpus, _, setting, seed, fold in found} == expected
    assert all(line["system"] == "z14_characters" for line in found.values())
    # Those that are refitted have learned from the development set.
    assert all(bool(line["dev"]) == (key[0] != "lines") for key, line in found.items())
    assert all(len(line["config"]) == len(line["checksum"]) == 12 for line in found.values())


@pytest.mark.slow
def test_a_system_is_what_structreg_fit_makes_of_it(finished, data, tmp_path):
    """Not refitted: the corpus in the layout of the Chinese Treebank."""
    paths = {}
    for number, part in ((1, "train"), (301, "dev"), (271, "test")):
        paths[part] = tmp_path / f"{part}.txt"
        trees = read_brackets(data / f"ctb/bracketed/chtb_{number:03}.fid")
        words = [[word for word, _ in tree.remove_empties().tagged_words()] for tree in trees]
        text = "".join(" ".join(each) + "\n" for each in words)
        paths[part].write_text(text, encoding="utf-8")
    fit(
        finished / "systems/z14_characters.cfg",
        tmp_path / "model",
        train=paths["train"],
        dev=paths["dev"],
        overrides={"training.max_epochs": 2},
    )
    line = STUDY.results(finished)["ctb", "z14_characters", "training.max_epochs=2", 0, 0]
    scores = evaluate(str(tmp_path / "model"), paths["test"], train=paths["train"])
    for name in ("seg_f", "seg_p", "oov_r"):
        assert line["figures"][name] == pytest.approx(scores[name], abs=1e-6)


@pytest.mark.slow
def test_chosen_corpora_are_run_though_one_of_them_cannot_be_read(project, data):
    """One that comes first, in a folder that other corpora lie in."""
    entry = "  broken: {needs: 'a license', train: none/train.txt, test: none/test.txt}\n"
    grid = GRID.replace("corpora:\n", f"corpora:\n{entry}").replace(
        "{lines: 2", "{broken: 1, lines: 2"
    )
    (project / CONFIG).write_text(grid, encoding="utf-8")
    done = run(
        *("-m", "spacy", "project", "run", "run", project.name, "--vars.grid", CONFIG),
        *("--vars.only", "first second", "--vars.corpus", "broken lines"),
        folder=project.parent,
        data=data,
    )
    assert done.returncode == 1
    assert "left out: broken, it needs a license: " in done.stderr
    assert "error: all else is run" in done.stderr
    assert "train.txt" in done.stderr.partition("error: ")[2]
    assert "Traceback" not in done.stderr
    assert sorted((key[0], *key[2:4]) for key in STUDY.results(project)) == [
        ("lines", "mean=nonzero models=2 training.max_epochs=2", 0),
        ("lines", "mean=nonzero models=2 training.max_epochs=2", 1),
        ("lines", "training.max_epochs=1", 0),
        ("lines", "training.max_epochs=2", 0),
        ("lines", "training.max_epochs=2", 1),
    ]


def test_the_readme_names_each_variable_and_its_papers():
    named: dict[str, set[str]] = {}
    for paper in PAPERS:
        grid = srsly.read_yaml(STUDY.folder / f"configs/{paper}.yml")
        for entry in grid["corpora"].values():
            if not {"folder", "signals"} & set(entry):
                named.setdefault(entry.get("variable", "STRUCTREG_DATA"), set()).add(paper.upper())
    named["STRUCTREG_DATA"] = {"all"}
    text = (STUDY.folder / "README.md").read_text(encoding="utf-8")
    rows = next(rows for rows in tables(text) if rows[0][0] == "variable")[1:]
    assert {row[0].strip("`"): set(row[2].split(", ")) for row in rows} == named


def test_a_choice_of_what_the_grid_does_not_have_is_refused(project):
    for option, said in (("--only", "no table 'third'"), ("--corpus", "no corpus 'third'")):
        done = command("run", CONFIG, RUNS, option, "third", folder=project)
        assert done.returncode == 1
        assert f"error: configs/small.yml: {said}; choose from " in done.stderr


@pytest.mark.slow
def test_results_of_another_config_are_refused(finished, project, data):
    text = (finished / RUNS).read_text(encoding="utf-8")
    config = project / "systems/z14_characters.cfg"
    config.write_text(config.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    assert "another version of systems/z14_characters.cfg" in STUDY.fails(
        project, data=data, results=text
    )


@pytest.mark.slow
def test_every_page_that_is_kept_is_that_of_its_results(tmp_path):
    for path in sorted(STUDY.folder.glob("configs/*.yml")):
        paper = path.stem
        made = ("report", f"configs/{paper}.yml", f"report/{paper}/runs.jsonl")
        done = command(*made, tmp_path / paper / "README.md", folder=STUDY.folder)
        assert done.returncode == 0, done.stderr
        kept = STUDY.folder / "report" / paper
        expected = {path.name: path.read_bytes() for path in kept.glob("*.md")}
        assert {path.name: path.read_bytes() for path in (tmp_path / paper).iterdir()} == expected
    pytest.importorskip("matplotlib", reason="plots need matplotlib: pip install .[study]")
    shutil.copytree(STUDY.folder / "report", tmp_path / "report")
    index, picture = (tmp_path / "report" / name for name in ("index.md", "claims.svg"))
    index.unlink()
    picture.unlink()
    done = run("scripts/index.py", *PAPERS, index, folder=STUDY.folder)
    assert done.returncode == 0, done.stderr
    assert index.read_bytes() == (STUDY.folder / "report/index.md").read_bytes()
    assert picture.read_text(encoding="utf-8").rstrip().endswith("</svg>")
