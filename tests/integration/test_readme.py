"""The READMEs: their Python runs, and their commands exist, with the options they are given."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import spacy
import srsly
from click.testing import CliRunner
from spacy.cli._util import app as spacy_app
from spacy.tokens.underscore import Underscore
from typer.main import get_command

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.corpora.constituents import constituency_sentences

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
QUICKSTART = Path("projects", "quickstart")
TREEBANK = ROOT / QUICKSTART / "assets" / "treebank"

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Commands within sentences, which may go over the end of a line.
INLINE = re.compile(r"`((?:[A-Z_]+=\S+ )?python -m [^`]+)`")


class Command(NamedTuple):
    """A command line, and the folder that it is called in."""

    folder: Path
    words: list[str]


def blocks(path: Path, language: str) -> list[str]:
    found = BLOCK.findall(path.read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


def commands(path: Path) -> Iterator[Command]:
    """The commands of a README, as a shell would call them; what is redirected is left out."""
    for text in blocks(path, "bash"):
        folder = path.parent
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                del words[0]
            if ">" in words:
                del words[words.index(">") :]
            if words[:1] == ["cd"]:
                folder = (folder / words[1]).resolve()
                assert folder.is_dir(), line
            elif words:
                yield Command(folder, words)
    prose = BLOCK.sub("", path.read_text(encoding="utf-8"))
    for line in INLINE.findall(prose):
        words = shlex.split(line)
        yield Command(path.parent, words[words.index("python") :])


def check(command: Command) -> None:
    """Raise an exception, of those of click or another one, if a command cannot be called so."""
    match command.words:
        case ["python", "-m", "spacy", "structreg"] | [
            "python",
            "-m",
            "spacy",
            "structreg",
            "--help",
        ]:
            pass
        case ["python", "-m", "spacy", "structreg", *arguments]:
            parse(get_command(structreg_app), arguments)
        case ["python", "-m", "spacy", *arguments]:
            with chdir(command.folder):
                # The config that spacy train reads is made by a line above: any file there is.
                there = ["README.md" if word.endswith(".cfg") else word for word in arguments]
                names, given = parse(get_command(spacy_app), there)
            if names[:2] == ["project", "run"]:
                # That of the process is the default, and absolute.
                folder = given["project_dir"]
                folder = command.folder / ("" if folder.is_absolute() else folder)
                check_project(folder, given["subcommand"])
        case ["python", "-m", "pytest" | "pip", *_] | ["pip", "install", *_] | ["export", *_]:
            pass
        case ["python", script, *_]:
            assert (command.folder / script).exists(), script
        case ["make", *arguments]:
            targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
            assert {word for word in arguments if "=" not in word} <= {*targets}
        case [".", ".venv/bin/activate"]:
            pass
        case _:
            pytest.fail(f"a command of a kind that this test does not know: {command.words}")


def said(command: Command) -> str | None:
    """What is wrong with a command; None for nothing."""
    try:
        check(command)
    except Exception as error:
        # Those of click have no text of their own.
        return f"{error} {getattr(error, 'message', '')}"
    return None


def parse(group: Any, arguments: list[str]) -> tuple[list[str], dict[str, Any]]:
    """The names of a command and of those above it, and what it is given, without calling it."""
    names = []
    command = group
    rest = list(arguments)
    while hasattr(command, "commands"):
        assert rest, f"no command of {names} is named"
        names.append(rest.pop(0))
        assert names[-1] in command.commands, f"there is no command {' '.join(names)}"
        command = command.commands[names[-1]]
    # Of commands that take settings of a config as options, those are left.
    return names, command.make_context(names[-1], rest).params


def check_project(folder: Path, name: str) -> None:
    project = srsly.read_yaml(folder / "project.yml")
    known = [*project.get("workflows", {}), *(each["name"] for each in project["commands"])]
    assert name in known, f"{folder.name} has no workflow {name}"


@contextmanager
def chdir(folder: Path) -> Iterator[None]:
    """Work in another folder; contextlib has it from Python 3.11 on."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.mark.parametrize(
    "path",
    [README, ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("projects/*/README.md"))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_commands_can_be_called_as_they_are_written(path: Path) -> None:
    found = list(commands(path))
    assert found
    for command in found:
        assert said(command) is None, shlex.join(command.words)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("python -m spacy structreg segments a b", "no command segments"),
        ("python -m spacy structreg segment a b --loud", "--loud"),
        ("python -m spacy structreg init-config a.cfg --task dance", "dance"),
        ("python -m spacy structreg convert", "inputs"),
        ("python -m spacy project run everything projects/quickstart", "everything"),
        ("python -m spacy project run all projects/nothing", "projects/nothing"),
        ("python benchmarks/nothing", "benchmarks/nothing"),
        ("make coffee", "coffee"),
    ],
)
def test_commands_that_there_are_not_are_found(line: str, fault: str) -> None:
    assert fault in str(said(Command(ROOT, line.split())))


# ---- Python ----


def structreg(*arguments: object) -> None:
    result = CliRunner().invoke(get_command(structreg_app), list(map(str, arguments)))
    assert result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the README's Python reads: the quickstart after its workflow, and made-up corpora."""
    folder = tmp_path_factory.mktemp("readme")
    ignored = shutil.ignore_patterns("corpus", "training", "metrics", "project.lock")
    shutil.copytree(ROOT / QUICKSTART, folder / QUICKSTART, ignore=ignored)
    trees = {}
    for part in ("train", "dev", "test"):
        path = TREEBANK / f"{part}.bracket"
        structreg("convert", path, folder / f"{part}.spacy", "--head-rules", "ctb")
        trees[part] = list(constituency_sentences(path, "ctb"))[:40]
        text = "".join(f"{' '.join(tree.words)}\n" for tree in trees[part])
        (folder / f"{part}.txt").write_text(text, "utf-8")
    (folder / "words.txt").write_text("自然语言\n", "utf-8")
    (folder / "cities.txt").write_text("杭州\n", "utf-8")
    model = folder / QUICKSTART / "training" / "segment" / "model-best"
    config = folder / QUICKSTART / "configs" / "segment.cfg"
    corpora = ("--train", folder / "train.spacy", "--dev", folder / "dev.spacy")
    structreg("fit", config, model, *corpora)
    nlp = spacy.load(model)
    tagger = nlp.add_pipe("structreg_tagger", name="tagger")
    tagger.estimator.fit([list(zip(tree.words, tree.tags, strict=True)) for tree in trees["train"]])
    nlp.add_pipe("structreg_constituency", name="constituency").estimator.fit(trees["train"])
    nlp.to_disk(folder / "pipeline")
    return folder


@pytest.fixture
def extensions() -> Iterator[None]:
    """The test leaves those extensions that there were."""
    before = Underscore.get_state()
    yield
    Underscore.load_state(before)


@pytest.mark.slow
def test_python_runs_as_it_is_written_one_block_after_the_other(
    folder: Path,
    extensions: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    # Which comes with an extra alone.
    monkeypatch.setitem(sys.modules, "scipy", None)
    names: dict[str, Any] = {"__name__": "readme"}
    for text in blocks(README, "python"):
        exec(compile(text, "README.md", "exec"), names)
        # What stands in a comment below is what is printed.
        for expected in re.findall(r"^print\(.*\n# (.*)$", text, re.MULTILINE):
            assert expected in capsys.readouterr().out.splitlines()
    assert names["doc"].text == "我们在北京学习语言。"
    assert names["crf"].classes_ == ["rest", "run"]
