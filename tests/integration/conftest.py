"""Corpora, a config and a trained pipeline for the tests that run spaCy's own commands."""

from __future__ import annotations

import lzma
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pipeline.made_up import DEV, TRAIN, gold_doc
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from warm_python import executable

from spacy_structreg.cli.init_config import init_config

TREEBANK = Path(__file__).parents[2] / "treebank"

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def python() -> Command:
    """Runs Python with arguments; the test fails if that does, unless `fails` is given."""

    def run(
        *arguments: object, fails: bool = False, path: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "ANSI_COLORS_DISABLED": "1"}
        if path is not None:
            environment["PYTHONPATH"] = str(path)
        done = subprocess.run(
            [executable(), *map(str, arguments)],
            capture_output=True,
            encoding="utf-8",
            env=environment,
            check=False,
        )
        assert (done.returncode != 0) == fails, f"{done.stdout}\n{done.stderr}"
        return done

    return run


@pytest.fixture(scope="session")
def corpora(made_once: Callable[..., Path]) -> Path:
    """A folder with train and dev, as spaCy's binary format and as text, and config.cfg."""
    return made_once("corpora", write_corpora)


def write_corpora(folder: Path) -> None:
    for name, sentences in (("train", TRAIN), ("dev", DEV)):
        text = "".join(" ".join(words) + "\n" for words in sentences)
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
        (folder / f"{name}.txt.xz").write_bytes(lzma.compress(text.encode()))
        vocab = Vocab()
        docs = [gold_doc(vocab, words, tags=[f"T{len(w)}" for w in words]) for words in sentences]
        DocBin(docs=docs).to_disk(folder / f"{name}.spacy")
    config = init_config(None, task="segment")
    for name, value in (("max_epochs", 6), ("eval_frequency", 20), ("size", 10)):
        config = re.sub(rf"(?m)^{name} = \d+$", f"{name} = {value}", config)
    (folder / "config.cfg").write_text(config, encoding="utf-8")


@pytest.fixture(scope="session")
def tagged_treebank(python: Command, made_once: Callable[..., Path]) -> Path:
    """A folder with the treebank of the quickstart as {train,dev,test}.spacy, and a tagger, tag."""

    def fill(folder: Path) -> None:
        structreg = ("-m", "spacy", "structreg")
        for part in ("train", "dev", "test"):
            source, target = TREEBANK / f"{part}/general.bracket", folder / f"{part}.spacy"
            python(*structreg, "convert", source, target, "--head-rules", "ctb")
        corpora = ("--train", folder / "train.spacy", "--dev", folder / "dev.spacy")
        config = folder / "tag.cfg"
        python(*structreg, "init-config", config, "--task", "tag", *corpora)
        python(*structreg, "fit", config, folder / "tag", *corpora, "--training.max_epochs", 6)

    return made_once("tagged_treebank", fill)


@pytest.fixture(scope="session")
def train(python: Command, corpora: Path) -> Command:
    """Runs ``spacy train`` into a folder, with overrides such as ``training_seed=1``."""

    def run(
        output: Path,
        *,
        config: Path | None = None,
        suffix: str = ".spacy",
        fails: bool = False,
        **overrides: object,
    ) -> subprocess.CompletedProcess[str]:
        settings = {
            "paths.train": corpora / f"train{suffix}",
            "paths.dev": corpora / f"dev{suffix}",
            **{name.replace("__", "."): value for name, value in overrides.items()},
        }
        arguments = [part for name, value in settings.items() for part in (f"--{name}", value)]
        config = config or corpora / "config.cfg"
        return python("-m", "spacy", "train", config, "--output", output, *arguments, fails=fails)

    return run


@pytest.fixture(scope="session")
def training(train: Command, made_once: Callable[..., Path]) -> tuple[Path, str]:
    """The output folder of one ``spacy train``, and what it printed."""

    def fill(folder: Path) -> None:
        (folder / "printed.txt").write_text(train(folder / "output").stdout, "utf-8")

    folder = made_once("training", fill)
    return folder / "output", (folder / "printed.txt").read_text("utf-8")


@pytest.fixture(scope="session")
def model_best(training: tuple[Path, str]) -> Path:
    """A trained pipeline."""
    return training[0] / "model-best"
