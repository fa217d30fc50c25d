"""The constituency parser in spaCy's own commands, on the treebank of the quickstart."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.util import load_config

Command = Callable[..., "subprocess.CompletedProcess[str]"]


CHARACTERS = """
(IP (NP (PN 我)) (VP (VV 看) (NP (NN 书))) (PU 。))
(IP (NP (ADJP (JJ 小)) (NP (NN 店))) (VP (ADVP (AD 又)) (VP (VV 卖) (NP (NN 米)))) (PU 。))
(FRAG (NN 书) (NN 米))
"""


pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("extensions")]


@pytest.fixture(scope="module")
def folder(
    python: Command, tagged_treebank: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder with the treebank, a tagger, and configs of both."""
    folder = tmp_path_factory.mktemp("constituency")
    shutil.copytree(tagged_treebank, folder, dirs_exist_ok=True)
    corpora = ("--train", folder / "train.spacy", "--dev", folder / "dev.spacy")
    task = ("--task", "constituency", "--base", folder / "tag")
    config = folder / "constituency.cfg"
    python("-m", "spacy", "structreg", "init-config", config, *task, *corpora)
    return folder


@pytest.fixture(scope="module")
def model_best(python: Command, folder: Path) -> Path:
    """What `spacy train` makes of the config."""
    output = folder / "training"
    options = ("--training.max_epochs", 4, "--components.constituency.model.beam", 4)
    config = folder / "constituency.cfg"
    printed = python("-m", "spacy", "train", config, "--output", output, *options)
    assert "BRACKETS_F" in printed.stdout
    return output / "model-best"


def test_the_figures_are_those_of_all_commands(
    python: Command, folder: Path, model_best: Path
) -> None:
    """`spacy train`, `spacy evaluate` and `structreg evaluate` count the same brackets."""
    meta = json.loads((model_best / "meta.json").read_text("utf-8"))
    assert meta["performance"]["brackets_f"] > 0.6
    given = ("--gold", "words")
    figures = figures_of(python, "structreg", "evaluate", model_best, folder / "dev.spacy", *given)
    assert figures["brackets_f"] == pytest.approx(meta["performance"]["brackets_f"])
    # In this file all words are those that the pipeline finds, single characters.
    source, gold = folder / "characters.bracket", folder / "characters.spacy"
    source.write_text(CHARACTERS, "utf-8")
    python("-m", "spacy", "structreg", "convert", source, gold, "--head-rules", "ctb")
    ours = figures_of(python, "structreg", "evaluate", model_best, gold, *given)
    spacys = figures_of(python, "evaluate", model_best, gold)
    for key in ("brackets_f", "brackets_complete", "brackets_crossing", "head_acc", "tag_acc"):
        assert spacys[key] == pytest.approx(ours[key])
    assert 0 < ours["brackets_f"] < 1


def test_text_is_not_scored_as_if_it_were_gold(
    python: Command, folder: Path, model_best: Path
) -> None:
    figures = figures_of(python, "evaluate", model_best, folder / "dev.spacy")
    assert figures["brackets_f"] is figures["head_acc"] is None


def figures_of(python: Command, *command: object) -> dict[str, float]:
    """The figures that a command writes about its pipeline."""
    with tempfile.NamedTemporaryFile(suffix=".json") as output:
        python("-m", "spacy", *command, "--output", output.name)
        return dict(json.loads(Path(output.name).read_text("utf-8")))


def test_sourced_and_frozen(python: Command, folder: Path, model_best: Path) -> None:
    """Beside a tagger that is trained, the parser stays what it was."""
    config = load_config(folder / "tag.cfg")
    config["nlp"]["pipeline"] = ["tagger", "constituency"]
    config["components"]["constituency"] = {"source": str(model_best)}
    config["training"]["frozen_components"] = ["constituency"]
    config["training"]["max_epochs"] = 1
    path, output = folder / "both.cfg", folder / "both"
    config.to_disk(path)
    python("-m", "spacy", "train", path, "--output", output)
    before, after = (spacy.load(name) for name in (model_best, output / "model-last"))
    assert after.get_pipe("constituency").to_bytes() == before.get_pipe("constituency").to_bytes()
    assert after.get_pipe("tagger").to_bytes() != before.get_pipe("tagger").to_bytes()
    assert after("我们看书。").spans["constituents"]
