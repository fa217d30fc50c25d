"""The quickstart with small pipelines, which the pages and the start page are run with."""

from __future__ import annotations

import shutil
from pathlib import Path

from copy_data import copy_data
from docs.pages import ROOT
from typer.testing import CliRunner

from spacy_structreg.cli.app import structreg_app

TREEBANK = ROOT / "treebank"
PARTS = ("train", "dev", "test")


def structreg(*arguments: object) -> None:
    """Run a command of this package. Raises AssertionError if it fails."""
    result = CliRunner().invoke(structreg_app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output


def train_quickstart(folder: Path) -> None:
    """The pipelines of the workflows, trained by `fit`, which is faster."""
    ignored = shutil.ignore_patterns("corpus", "training", "metrics", "project.lock")
    shutil.copytree(ROOT / "projects/quickstart", folder, dirs_exist_ok=True, ignore=ignored)
    for part in PARTS:
        corpus = folder / f"corpus/{part}.spacy"
        structreg("convert", TREEBANK / f"{part}/general.bracket", corpus, "--head-rules", "ctb")
    words = folder / "corpus/words.txt"
    copy_data([f"jieba:dict.txt={words}"])
    # The constituents of the sentences below need no more than these epochs.
    for name, epochs in (("segment", 20), ("joint", 20), ("constituents", 4)):
        output = folder / "training" / name / "model-best"
        corpora = (f"--{part}={folder}/corpus/{part}.spacy" for part in ("train", "dev"))
        settings = ["--training.max_epochs", epochs]
        if name == "constituents":
            settings += ["--components.constituency.dependencies", "model"]
        else:
            settings += ["--nlp.tokenizer.model.lexicon", str(words)]
        config = folder / f"configs/{name}.cfg"
        structreg("fit", config, output, *corpora, *settings)
