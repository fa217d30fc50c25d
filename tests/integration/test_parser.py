"""The parser in spaCy's own commands, on the treebank of the quickstart."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy

Command = Callable[..., "subprocess.CompletedProcess[str]"]


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(
    python: Command, tagged_treebank: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with the treebank as dependencies, a tagger, and configs of both."""
    folder = tmp_path_factory.mktemp("parser")
    shutil.copytree(tagged_treebank, folder, dirs_exist_ok=True)
    structreg = ("-m", "spacy", "structreg")
    parse, jackknifed = folder / "parse.cfg", folder / "jackknifed.spacy"
    options = ("--folds", 4, "--training.max_epochs", 3)
    python(
        *structreg, "jackknife", folder / "tag.cfg", folder / "train.spacy", jackknifed, *options
    )
    corpora = ("--train", jackknifed, "--dev", folder / "dev.spacy")
    base = ("--base", folder / "tag")
    python(*structreg, "init-config", parse, "--task", "parse", *base, *corpora)
    return folder


@pytest.fixture(scope="module")
def model_best(python: Command, folder: Path) -> Path:
    """What `spacy train` makes of the config."""
    output = folder / "training"
    options = ("--training.max_epochs", 4)
    printed = python("-m", "spacy", "train", folder / "parse.cfg", "--output", output, *options)
    assert "DEP_LAS" in printed.stdout
    return output / "model-best"


def test_the_frozen_tagger_is_the_one_it_was(folder: Path, model_best: Path) -> None:
    tagger = spacy.load(folder / "tag").get_pipe("tagger")
    assert spacy.load(model_best).get_pipe("tagger").to_bytes() == tagger.to_bytes()


def test_the_figures_are_those_of_all_commands(
    python: Command, folder: Path, model_best: Path
) -> None:
    """`spacy train`, `spacy evaluate` and `structreg evaluate` count the same words."""
    meta = json.loads((model_best / "meta.json").read_text("utf-8"))
    assert meta["performance"]["dep_las"] > 0.6
    assert "parser_loss" not in meta["performance"]
    figures = {}
    for name, command in (
        ("spacy", ("evaluate", model_best, folder / "dev.spacy", "--gold-preproc")),
        ("ours", ("structreg", "evaluate", model_best, folder / "dev.spacy", "--gold", "words")),
    ):
        output = folder / f"{name}.json"
        python("-m", "spacy", *command, "--output", output)
        figures[name] = json.loads(output.read_text("utf-8"))
    for key in ("dep_uas", "dep_las", "dep_complete_nopunct", "tag_acc"):
        assert figures["spacy"][key] == pytest.approx(figures["ours"][key])
    assert figures["ours"]["dep_las"] == pytest.approx(meta["performance"]["dep_las"])


def test_over_segmented_text_is_not_scored_as_if_it_were_gold(
    python: Command, folder: Path, model_best: Path
) -> None:
    """The pipeline has spaCy's tokenizer of single characters."""
    output = folder / "text.json"
    python("-m", "spacy", "evaluate", model_best, folder / "dev.spacy", "--output", output)
    figures = json.loads(output.read_text("utf-8"))
    assert figures["dep_las"] is figures["dep_uas"] is figures["tag_acc"] is None
    assert 0 < figures["las_f"] <= figures["uas_f"] < figures["tag_f"] < figures["token_f"]
