"""A task of another package goes through every command; and no command names a task."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path

import catalogue  # type: ignore[import-untyped]
import pytest
from docs.pages import INSTALL, ROOT, blocks
from looped import looped
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from warm_python import executable

import spacy_structreg
from spacy_structreg.pipeline.display import drawn_styles
from spacy_structreg.pipeline.task import all_tasks, registry

COLUMNS = """\
ships ship
sailed sail
north north

the the
ship ship
sails sail

boats boat
sailed sail

the the
boats boat
leave leave
"""
TEST = """\
ships ship
leave leave
north south
"""
PAGE = ROOT / "docs/add_task.md"
COMMANDS = Path(spacy_structreg.__file__).parent / "cli"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package of the page "Add a task", which is installed, and of corpora."""
    folder = tmp_path_factory.mktemp("outside")
    for block in blocks(PAGE):
        if block.marker == "file":
            (folder / block.value).write_text(block.text, "utf-8")
    subprocess.run([sys.executable, *INSTALL], cwd=folder, check=True)
    (folder / "train.col").write_text(COLUMNS * 3, "utf-8")
    (folder / "test.col").write_text(TEST, "utf-8")
    return folder


def run(folder: Path, *arguments: object) -> str:
    """What a command prints, which must end well."""
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [executable(), "-m", "spacy", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def lemmas(path: Path) -> list[list[str]]:
    docs = DocBin().from_disk(path).get_docs(Vocab())
    return [[token.lemma_ for token in doc] for doc in docs]


@pytest.mark.slow
def test_every_command(folder: Path) -> None:
    for part in ("train", "test"):
        columns = ("--columns", "word,lemma")
        run(folder, "structreg", "convert", f"{part}.col", f"{part}.spacy", *columns)
    assert lemmas(folder / "test.spacy") == [[line.split()[1] for line in TEST.splitlines()]]
    corpora = ("--train", "train.spacy", "--dev", "train.spacy")
    assert "lemmatize  " in run(folder, "structreg", "init-config", "--help")
    config = ("toy.cfg", "--task", "lemmatize", "--lang", "en")
    run(folder, "structreg", "init-config", *config, *corpora)
    text = (folder / "toy.cfg").read_text("utf-8")
    assert '[components.lemmas.scorer]\n@scorers = "spacy_structreg.task_scorer.v1"\n' in text
    assert '[components.lemmas.model]\n@architectures = "spacy_structreg.Tagger.v1"\n' in text
    run(folder, "train", "toy.cfg", "--output", "trained", "--training.max_epochs", 3)
    settings = ("--components.lemmas.model.seed", 4, "--training.seed", 4)
    run(folder, "structreg", "fit", "toy.cfg", "fitted", *corpora, *settings)
    run(folder, "structreg", "average", "trained/model-best", "fitted", "averaged")
    compare = ("--compare", "fitted", "--output", "report.json")
    printed = run(
        folder, "structreg", "evaluate", "averaged", "test.col", "--columns", "word,lemma",
        "--gold", "words", "--explain", *compare,
    )  # fmt: skip
    report = json.loads((folder / "report.json").read_text("utf-8"))
    assert report["lemma_right"] == 2 / 3
    assert report["counts"]["lemmas"] == {"words": 3, "right": 2}
    assert re.search(r"^lemma_right +66\.67 +share of words with the right lemma$", printed, re.M)
    assert report["compare"]["figures"]["lemma_right"]["p"] == 1.0
    assert re.search(r"^lemma_right +66\.67 +66\.67 +\+0\.00 +1\.0000", printed, re.M)
    printed = run(folder, "structreg", "jackknife", "toy.cfg", "train.spacy", "jack.spacy", "-k", 3)
    # Each third has all the words of the others.
    assert printed == "jack.spacy: lemma_right 100.00 by the gold annotation of the corpus\n"
    assert lemmas(folder / "jack.spacy") == lemmas(folder / "train.spacy")
    run(folder, "structreg", "draw", "test.spacy", "--output", "test.svg")
    assert ">ship leave south</text>" in (folder / "test.svg").read_text("utf-8")
    (folder / "text.txt").write_text("ships sailed\n", "utf-8")
    run(folder, "structreg", "draw", "text.txt", "-p", "averaged", "-o", "text.svg")
    assert ">ship sail</text>" in (folder / "text.svg").read_text("utf-8")
    explained = run(folder, "structreg", "explain", "averaged", "ships sailed")
    assert re.search(r"ships.*\bship\b", explained)
    segmented = run(folder, "structreg", "segment", "averaged", "text.txt")
    assert segmented == "ships sailed\n"


def test_what_is_no_task_is_refused(fails: Callable[..., str]) -> None:
    """By its entry point, in a line, as a package may be damaged."""
    registry.register("broken", func=object())
    all_tasks.cache_clear()
    try:
        message = fails("init-config", "-", "--task", "segment")
    finally:
        del catalogue.REGISTRY[(*registry.namespace, "broken")]
    assert message.startswith("the entry point 'broken' of spacy_structreg_tasks is no task")


# No command names a task -------------------------------------------------------------------------


def words_of(source: str) -> Iterator[tuple[str, bool]]:
    """The names and the strings of a module, except for docstrings; and which are strings."""
    tree = ast.parse(source)
    texts = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            yield node.value, True
        elif isinstance(node, ast.ImportFrom):
            yield from ((name, False) for name in (f"{node.module}", *(n.name for n in node.names)))
        elif isinstance(node, (ast.Name, ast.Attribute)):
            yield node.id if isinstance(node, ast.Name) else node.attr, False


def names_of_tasks() -> tuple[set[str], set[str]]:
    """What a command could know a task by.

    Stems, factories and classes, which may be part of other names; and configs and styles, which
    are words of their own.
    """
    names = {task.stem for task in all_tasks()}
    for group in ("spacy_factories", "spacy_tokenizers", "spacy_architectures", "spacy_scorers"):
        for entry in entry_points(group=group):
            if entry.value.startswith("spacy_structreg."):
                names |= (
                    {entry.name, entry.name.split(".")[-2]} if "." in entry.name else {entry.name}
                )
    for entry in entry_points(group="spacy_structreg_tasks"):
        names.add(entry.value.partition(":")[0].removeprefix("spacy_structreg."))
    words = set(drawn_styles())
    words |= {template.name for task in all_tasks() for template in task.templates}
    # That of a command too.
    return names, words - {"segment"}


def faults(source: str) -> list[str]:
    names, whole = names_of_tasks()
    part = re.compile(r"(?<![A-Za-z])(?:" + "|".join(map(re.escape, names)) + r")(?![a-z])")
    return [
        word
        for word, is_string in words_of(source)
        if (is_string and word in whole) or part.search(word)
    ]


@looped("path", sorted(COMMANDS.glob("*.py")), ids=lambda path: path.name)
def test_no_command_names_a_task(path: Path) -> None:
    assert faults(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "from spacy_structreg.pipeline.parser import DEPENDENCIES",
        'if task == "parse": pass',
        'if pipe.factory == "structreg_tagger": pass',
        "isinstance(tokenizer, JointTagger)",
        'styles = ["dep"]',
        "scores = score_joint(docs)",
    ],
)
def test_what_names_a_task_is_found(line: str) -> None:
    assert faults(line)
