"""The commands of README.md, of the pages in docs, CONTRIBUTING.md and the projects exist, with the
options that they are given."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import srsly
from docs.pages import DOCS, README, ROOT, Command, commands
from looped import looped
from spacy.cli._util import app as spacy_app
from typer.main import get_command

from spacy_structreg.cli.app import structreg_app

# What the package of "Add a task" has, which is installed for test_pages.py alone.
ADDED = {"lemmatize", "use.py"}
# Made anew by every call, of all commands that there are.
SPACY, STRUCTREG = get_command(spacy_app), get_command(structreg_app)


def check(command: Command) -> None:
    """Raise an exception, of those of click or another one, if a command cannot be called so."""
    match command.words:
        case ["python", "-m", "spacy", "structreg", *arguments]:
            if arguments not in ([], ["--help"]):
                parse(STRUCTREG, arguments)
        case ["python", "-m", "spacy", *arguments]:
            with chdir(command.folder):
                # The config that spacy train reads is made by a line above: any file there is.
                there = ["README.md" if word.endswith(".cfg") else word for word in arguments]
                names, given = parse(SPACY, there)
            if names[:2] == ["project", "run"]:
                # That of the process is the default, and absolute.
                folder = Path(given["project_dir"])
                folder = command.folder / ("" if folder.is_absolute() else folder)
                check_project(folder, given["subcommand"])
        case ["python", "-m", "pytest" | "pip", *_] | ["python3", "-m", "venv", "env"]:
            pass
        case ["pip", "install", *_] | [".", "env/bin/activate"] | ["export" | "echo", *_]:
            pass
        case ["python", script, *_]:
            assert (command.folder / script).exists(), script
        case ["make", *arguments]:
            makefile = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", "")
            (targets,) = re.findall(r"^\.PHONY: (.*)", makefile, re.M)
            assert {word for word in arguments if "=" not in word} <= {*targets.split()}
        # Those that ask the service are run by tests/serve/test_api.py.
        case ["head" | "cat" | "curl", *_] | ["dask", "scheduler" | "worker", *_]:
            pass
        # These by test_recipes.py and test_start_page.py, as far as a test can.
        case ["uvicorn" | "gunicorn" | "celery" | "docker" | "rattler-build", *_]:
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


@looped(
    "path",
    [
        *(README, ROOT / "CONTRIBUTING.md", *DOCS),
        *sorted(ROOT.glob("projects/*/README.md")),
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_commands_can_be_called_as_they_are_written(path: Path) -> None:
    found = list(commands(path))
    assert found or path in DOCS
    for command in found:
        if ADDED.isdisjoint(command.words):
            assert said(command) is None, shlex.join(command.words)


@looped(
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
