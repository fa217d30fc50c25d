"""The commands as spaCy's command line finds them, and how their errors end."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from configparser import ConfigParser
from errno import ENOENT
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from warm_python import executable

from spacy_structreg.about import __version__
from spacy_structreg.cli.app import structreg_app
from spacy_structreg.cli.convert import convert
from spacy_structreg.cli.user_errors import user_errors
from spacy_structreg.corpora.any_format import all_formats

Command = Callable[..., "subprocess.CompletedProcess[bytes]"]

# Every command of spaCy imports this module, so it may not bring in the kernels.
LIGHT = """
import sys
import spacy.cli
before = set(sys.modules)
import spacy_structreg.cli.app
ours = {name for name in set(sys.modules) - before if not name.startswith("typing")}
foreign = {name for name in ours if name.split(".")[0] != "spacy_structreg"}
floors = {name for name in ours if name.count(".") and not name.startswith("spacy_structreg.cli")}
light = {"about", "corpora", "corpora.corpus_options", "corpora.palette", "serve", "serve.settings"}
light = {f"spacy_structreg.{name}" for name in light}
print(sorted(foreign | floors - light))
"""


def test_spacy_lists_the_commands() -> None:
    command = [sys.executable, "-W", "error", "-m", "spacy", "structreg", "--help"]
    result = subprocess.run(command, capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, b"")
    for name in get_command(structreg_app).commands:  # type: ignore[attr-defined]
        assert f"\n  {name} ".encode() in result.stdout


def test_helps_leave_out_what_is_for_python() -> None:
    commands = get_command(structreg_app).commands  # type: ignore[attr-defined]
    assert convert.__doc__ is not None
    assert "\n    Returns the numbers" in convert.__doc__
    for command in commands.values():
        assert command.help
        assert not re.search("^(Returns|Raises) ", command.help, re.MULTILINE), command.name


def test_helps_of_what_reads_corpora_list_the_formats(invoke: Callable[..., Any]) -> None:
    commands = get_command(structreg_app).commands  # type: ignore[attr-defined]
    takes = {
        name: {opt for each in command.params for opt in each.opts}
        for name, command in commands.items()
    }
    reading = [name for name, options in takes.items() if {"--format", "--head-rules"} <= options]
    assert {"convert", "evaluate", "draw"} < set(reading)
    for name in reading:
        shown = " ".join(invoke(name, "--help").stdout.split())
        for format in all_formats().values():
            assert f" {format.name} {format.summary}" in shown, name


def test_unknown_formats_are_refused(invoke: Callable[..., Any]) -> None:
    for options in (["--format", "words"], ["--train-format", "words"]):
        result = invoke("evaluate", "pipeline", "gold.txt", *options)
        assert result.exit_code == 2
        assert "'words' is no format; they are auto, " in " ".join(result.stderr.split())


def test_importing_the_commands_imports_nothing_else() -> None:
    result = subprocess.run(
        [sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("corpus.txt:3: a fault; do this"), "corpus.txt:3: a fault; do this"),
        (FileNotFoundError(ENOENT, "No such file or directory", "a b"), "a b: No such file"),
        (OSError("[E050] Can't find model 'x'."), "[E050] Can't find model 'x'."),
    ],
)
def test_faults_of_the_input_are_one_line(
    error: Exception, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as caught, user_errors():
        raise error
    assert caught.value.exit_code == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(f"✘ {message}")
    assert (captured.err.count("\n"), captured.out) == (1, "")


@pytest.mark.parametrize("error", [TypeError("x"), KeyError("x"), AssertionError(), IndexError()])
def test_faults_of_the_program_keep_their_traceback(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, user_errors():
        raise error
    assert caught.value is error


# ---- the program of its own ----

POINT = "spacy_structreg.cli.app:main"
# As the script that pip makes of an entry point.
SCRIPT = "import sys; from spacy_structreg.cli.app import main; sys.exit(main())"


@pytest.fixture
def structreg(tmp_path: Path) -> Command:
    """Run the program; warnings are errors."""
    settings = ConfigParser()
    settings.read(Path(__file__).parents[2] / "setup.cfg", "utf-8")
    scripts = settings["options.entry_points"]["console_scripts"]
    assert scripts.split() == ["structreg", "=", POINT]

    def run(*arguments: object) -> subprocess.CompletedProcess[bytes]:
        command = [executable(), "-W", "error", "-c", SCRIPT, *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    return run


def test_the_program_does_what_the_group_of_spacy_does(
    structreg: Command, command: Command, pipeline: str, tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text("老师和学生一起去公园！\n", "utf-8")
    arguments = ("segment", pipeline, "text.txt")
    own, spacys = structreg(*arguments), command("structreg", *arguments)
    assert own.stdout.decode() == "老师 和 学生 一起 去 公园 ！\n"
    assert (own.returncode, own.stdout, own.stderr) == (0, spacys.stdout, b"")
    assert structreg("--version").stdout.decode() == f"spacy_structreg {__version__}\n"
    assert command("structreg", "--version").stdout == structreg("--version").stdout


def test_messages_name_the_command_that_was_typed(
    structreg: Command, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "damaged.spacy").write_bytes(b"damaged")
    arguments = ("convert", "damaged.spacy", "out.txt")
    faulty = ("convert", "--faulty")
    for run, group, name in (
        (structreg, (), "structreg"),
        (command, ("structreg",), "python -m spacy structreg"),
    ):
        damaged = run(*group, *arguments)
        assert damaged.returncode == 1
        assert damaged.stderr.decode().endswith(f"; make one with '{name} convert'\n")
        assert f"Usage: {name} convert [OPTIONS]" in run(*group, *faulty).stderr.decode()
