"""Small stand-ins for the Chinese pipelines, which the pages and the start page are run with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import spacy
from copy_data import copy_data
from docs.pages import ROOT
from typer.testing import CliRunner
from warm_python import executable

from spacy_structreg.cli.app import structreg_app

TREEBANK = ROOT / "treebank"
QUICKSTART = ROOT / "projects/quickstart"
# As few as the sentences of the pages need, of registers and of epochs.
REGISTERS = ("general", "everyday", "novels", "social")
RARE = ("中华人民 ", "学生会 ")
EPOCHS = {
    "segment": 6,
    "joint": 6,
    "pipeline/constituency": 3,
    "pipeline/parser": 3,
    "pipeline/entities": 4,
}


def frequent_words(folder: Path) -> Path:
    """The frequent words of the list of jieba; models take seconds to read all 349,000.

    With them are two that are rare, and found within others by pages.
    """
    words = folder / "words.txt"
    copy_data([f"jieba:dict.txt={words}"])
    lines = words.read_text("utf-8").splitlines(keepends=True)
    kept = (s for s in lines if int(s.split()[1]) >= 100 or s.startswith(RARE))
    words.write_text("".join(kept), "utf-8")
    return words


def structreg(*arguments: object) -> None:
    """Run a command of this package. Raises AssertionError if it fails."""
    result = CliRunner().invoke(structreg_app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output


def train_stand_ins(folder: Path) -> None:
    """A pipeline of all the parts of the Chinese one, with a fast tokenizer, and one of words."""
    corpora = []
    for part in ("train", "dev"):
        corpus = folder / f"{part}.spacy"
        files = [TREEBANK / part / f"{register}.bracket" for register in REGISTERS]
        structreg("convert", *files, corpus, "--format", "brackets", "--head-rules", "ctb")
        corpora += [f"--{part}", corpus]
    words, lists = frequent_words(folder), folder / "lists"
    script = [executable(), QUICKSTART / "scripts/name_lists.py", words, lists]
    subprocess.run(script, check=True, capture_output=True)
    kinds = ("place", "institution", "person", "other")
    text = {"lexicon": words, "script": "simplified", "typed_runs": "true"}
    settings = {
        "segment": text,
        "joint": text,
        "pipeline/entities": {kind: lists / f"{kind}s.txt" for kind in kinds},
    }
    sections = {
        "segment": "nlp.tokenizer.model",
        "joint": "nlp.tokenizer.model",
        "pipeline/entities": "initialize.components.entities.gazetteers.lists",
    }
    for name, epochs in EPOCHS.items():
        given: list[object] = ["--training.max_epochs", epochs]
        for setting, value in settings.get(name, {}).items():
            given += [f"--{sections[name]}.{setting}", value]
        config, output = QUICKSTART / f"configs/{name}.cfg", folder / Path(name).name
        structreg("fit", config, output, *corpora, *given)
    (folder / "segment").rename(folder / "zh_structreg_fast")
    nlp = spacy.load(folder / "joint", exclude=["tokenizer_trainer"])
    for name in ("constituency", "parser", "entities"):
        nlp.add_pipe(name, source=spacy.load(folder / name))
    nlp.to_disk(folder / "assembled")
    made = folder / "zh_structreg"
    structreg("calibrate", folder / "assembled", folder / "dev.spacy", "--output", made)
