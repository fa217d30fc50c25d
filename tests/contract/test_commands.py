"""Contract of every command: mistakes are a line, without traceback, and leave nothing."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import Result
from commands import (
    ELSEWHERE,
    LINES,
    known_commands,
    line_of,
    make_workplace,
    options_of,
    outputs_of,
    variants,
)
from looped import looped
from typer.testing import CliRunner
from warm_python import executable

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.cli.outputs import replace_folder
from spacy_structreg.corpora import folders
from spacy_structreg.corpora.files import replace_bytes

# Those that train, or start other processes, are slow.
EVERY = pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ("count-ngrams", "search")))
        for name in sorted(LINES.keys() & known_commands())
    ],
)
# Folders, and files of nothing, that may be there.
SOUND = {
    ("fit", "."),
    ("jackknife", "."),
    ("keywords", "empty"),
    ("search", "."),
    ("segment", "empty"),
    ("draw", "."),
}

FIT = "fit segment.cfg out --train c.spacy --dev c.spacy"
JACKKNIFE = "jackknife tag.cfg c.spacy j.spacy -k 2"

CONFIGS = ["empty.cfg", "bytes", "nul.cfg", "broken.cfg", "twice.cfg", "variable.cfg", "short.cfg"]
CONFIGS += ["list.cfg", "none.cfg", ".", "c.spacy", "/dev/null"]

SETTINGS = [
    "--training.max_epochs x",
    "--training.max_epochs 1.5",
    "--training.max_epochs true",
    "--training.max_epochs -7",
    '--training.seed "x"',
    "--training.seed -1",
    "--training.seed 99999999999999",
    "--training.epochs 3",
    "--training.=3",
    "--training.frozen_components x",
    "--training.frozen_components [1]",
    "--nlp.lang xx-yy",
    "--nlp.lang null",
    "--nlp.langs zh",
    "--nlp.batch_size x",
    '--nlp.pipeline ["nope"]',
    "--nlp.tokenizer.@tokenizers nope.v1",
    "--nlp.tokenizer.model.@architectures nope.v1",
    "--nlp.tokenizer.model.nope 3",
    "--nlp.tokenizer.model.epochs 0",
    "--nlp.tokenizer.model.templates nope",
    "--nlp.tokenizer.model.learning.algorithm nope",
    "--nlp.tokenizer.model.learning.dropout x",
    "--components.tokenizer_trainer.factory nope",
    "--initialize.tokenizer.user_words nope.txt",
    "--initialize.tokenizer.pkuseg_model x",
    "--initialize.before_init x",
    "--initialize.vectors nope",
    "--corpora.train.gold 3",
    "--unlabeled c.spacy",
    "--all words.txt.no",
    "--dev /dev/null",
    "--report .",
    "--report empty/r.json",
    "--report /proc/r.json",
]

# Ended by the command line itself, which says how the command is used.
USAGE = [
    f"{FIT} --nope",
    f"{FIT} --nope=3",
    f"{FIT} --nope 3",
    f"{FIT} -x",
    f"{FIT} extra",
    f"{FIT} --training 3",
    f"{FIT} --models 0",
    f"{FIT} --models 1000000000",
    f"{FIT} --models x",
    f"{JACKKNIFE} --folds 1",
    "fit segment.cfg",
    "info",
    "convert words.txt o.spacy --format nope",
    "explain pipeline x -d one",
    "calibrate pipeline words.txt --method x",
    "compile-words words.txt o.words --mode nope",
    "nope",
    "--nope",
]

OTHERS = [
    "compress pipeline a --bits 7",
    "search segment.cfg space.yml s --train c.spacy",
    "search segment.cfg space.yml s --train c.spacy --dev c.spacy --folds 2",
    "search segment.cfg space.yml s --train c.spacy --folds 100",
    "search segment.cfg segment.cfg s --train c.spacy --dev c.spacy",
    *(f"search segment.cfg space.yml {out} --train c.spacy --dev c.spacy"
      for out in ("/", "/dev/null", "..", "t")),
    "search segment.cfg space.yml s --train c.spacy --dev c.spacy --plot empty",
    "search segment.cfg space.yml s --train c.spacy --dev c.spacy --training.seed x",
    f"{JACKKNIFE} --folds 100",
    f"{JACKKNIFE} --training.max_epochs x",
    f"{JACKKNIFE} --components.tagger.attribute nope",
    f"{JACKKNIFE} --components.tagger nope",
    "jackknife tag.cfg c.spacy j.txt",
    *(f"fit segment.cfg {out} --train c.spacy --dev c.spacy"
      for out in ("/", "empty", "/dev/null", "..")),
    "agree c.spacy o.spacy",
    "agree c.spacy c.spacy o.spacy",
    "convert words.txt o.xyz",
    "convert words.txt o.spacy --percent 90:10",
    "convert words.txt o.spacy --days x",
    "convert words.txt o.spacy --columns x",
    "convert words.txt o.spacy --part x",
    f"convert words.txt {'x' * 300}.spacy",
    "segment pipeline text.txt --tags",
    "segment pipeline text.txt -e nope",
    "uncertain pipeline text.txt text.txt",
    "explain pipeline x --component none",
    "explain pipeline x -d 0",
    "explain pipeline x -o o.txt",
    "uncertain pipeline text.txt o.partial --share 0",
    "uncertain pipeline text.txt o.partial --share 0.5 -n 3",
    "calibrate pipeline words.txt --plot o.txt",
    "word-classes words.txt words.txt",
    "word-classes words.txt .",
    "word-classes words.txt o.txt --workers 1",
    "count-ngrams words.txt words.txt",
    "count-ngrams words.txt o.ngrams --script nope",
    "count-ngrams words.txt o.ngrams --scratch words.txt",
    "count-ngrams words.txt o.ngrams --scheduler nowhere",
    "count-ngrams words.txt o.ngrams --scheduler tcp://127.0.0.1:1 --workers 2",
    "evaluate pipeline words.txt --train none",
    "evaluate pipeline words.txt --punctuation X",
    "draw text.txt -o o.svg --pipeline none",
    "draw text.txt -o o.svg --pipeline pipeline",
    "correct pipeline words.txt pipeline",
    "correct pipeline words.txt a --pipe nope",
    "correct pipeline words.txt a --sample bytes",
    "correct pipeline words.txt a --sample empty.spacy",
    "correct pipeline words.txt a --report words.txt",
    "correct pipeline words.txt a --format conllu",
    "compile-words words.txt o.words --mode bonus",
    "compile-words words.txt o.words --mode force --bonus 2",
    "compile-words words.txt o.words --bonus 1e300",
    "compile-words words.txt o.words -e nope",
    "compile-words words.txt words.txt",
    "compress pipeline a --prune -1",
    "compress pipeline a --max-loss nan",
    "compress pipeline a --corpus none",
    "compress pipeline empty --force --corpus text.txt --gold words",
    "average pipeline pipeline empty --force",
    "adapt pipeline text.txt a",
    "adapt pipeline text.txt empty --force",
    "adapt pipeline text.txt a -e nope",
    "adapt adaptable text.txt a -e utf-16",
    "init-config --task tag segment.cfg",
    "init-config --task tag x.cfg --lang xx-yy",
    "init-config --task tag x.cfg --train none",
    "init-config --task tag x.cfg --train a$b",
    "init-config x.cfg --base none --task tag",
    "init-config x.cfg --task joint --tag-map nope",
]  # fmt: skip

HOSTILE = [
    *(f"fit {config} out --train c.spacy --dev c.spacy" for config in CONFIGS),
    *(f"jackknife {config} c.spacy j.spacy" for config in CONFIGS[:3]),
    *(f"{FIT} {setting}" for setting in SETTINGS),
    *OTHERS,
]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what there is in the command lines."""
    folder = tmp_path_factory.mktemp("workplace")
    make_workplace(folder)
    return folder


@pytest.fixture
def run(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], Result]:
    """Run a command in the workplace, in this process."""
    monkeypatch.chdir(workplace)
    return lambda line: CliRunner().invoke(structreg_app, line)


def check_refused(line: list[str], run: Callable[[list[str]], Result]) -> str:
    """Hold a command line to a line of error, and nothing left behind; what is said."""
    before = sorted(Path().rglob("*"))
    result = run(line)
    assert isinstance(result.exception, SystemExit), (line, result.exception)
    assert (result.exit_code, result.stdout) == (1, ""), line
    assert result.stderr.startswith("✘ "), result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    assert ".tmp" not in result.stderr
    assert sorted(Path().rglob("*")) == before
    return str(result.stderr).removeprefix("✘ ").strip()


# Every command ------------------------------------------------------------------------------------


def test_every_command_is_here() -> None:
    assert known_commands() <= {*LINES, *ELSEWHERE}
    assert all(line.split()[0] == command for command, line in LINES.items())


@EVERY
def test_commands_replace_by_force_alone(
    command: str, run: Callable[[list[str]], Result], workplace: Path
) -> None:
    """The lines below do something; what is there already is left, or replaced."""
    before = {path.name for path in workplace.iterdir()}
    result = run(line_of(command))
    assert result.exit_code == 0, result.stderr
    made = {path.name for path in workplace.iterdir()} - before
    outputs = {part[1:] for part in LINES[command].split() if part.startswith(">")}
    assert outputs <= made
    try:
        if outputs and "--force" in options_of(command):
            contents = [
                path.read_bytes() for path in sorted(Path(*outputs).rglob("*")) if path.is_file()
            ]
            said = check_refused(line_of(command), run)
            assert "--force" in said
            found = [
                path.read_bytes() for path in sorted(Path(*outputs).rglob("*")) if path.is_file()
            ]
            assert found == contents
            assert run([*line_of(command), "--force"]).exit_code == 0
        elif outputs:
            assert run(line_of(command)).exit_code in (0, 1)
    finally:
        for name in made:
            remove(workplace / name)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


@EVERY
def test_inputs_that_are_missing_or_damaged(
    command: str, run: Callable[[list[str]], Result]
) -> None:
    for name, line in variants(command, "<", ["none", "bytes", "empty", "."]):
        if (command, name) not in SOUND:
            said = check_refused(line, run)
            assert name in said or name in (".", "empty"), (line, said)


@EVERY
def test_outputs_that_cannot_be(command: str, run: Callable[[list[str]], Result]) -> None:
    inputs = [part[1:] for part in LINES[command].split() if part.startswith("<")]
    for name, line in variants(command, ">", [".", "empty/x", "/proc/x", *inputs]):
        if (command, name) not in SOUND:
            said = check_refused(line, run)
            assert name in said or name == ".", (line, said)


@pytest.mark.slow
@EVERY
def test_a_full_disk_is_named_by_the_file(
    command: str, run: Callable[[list[str]], Result], workplace: Path
) -> None:
    """Files may have few bytes only."""
    (workplace / "full").mkdir(exist_ok=True)
    for name in outputs_of(command):
        line = [f"full/{part}" if part == name else part for part in line_of(command)]
        if command == "count-ngrams":
            # Its work is done in other processes.
            done = subprocess.run(
                [sys.executable, "-m", "spacy", "structreg", *line],
                cwd=workplace,
                preexec_fn=partial(limit, 64),
                capture_output=True,
                text=True,
                check=False,
            )
            said = (done.returncode, done.stdout, done.stderr)
        else:
            before = resource.getrlimit(resource.RLIMIT_FSIZE)
            limit(16)
            try:
                result = run(line)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
            said = (result.exit_code, result.stdout, result.stderr)
        assert said[:2] == (1, "")
        assert "Traceback" not in said[2]
        last = said[2].splitlines()[-1]
        place = "a temporary file in .*" if command == "adapt" else ".*full/.*"
        assert re.fullmatch(rf"✘ {place}: File too large", last), last
        assert list((workplace / "full").iterdir()) == []


def limit(size: int) -> None:
    """Let files have few bytes only, as on a full disk."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_standard_output_that_is_full_or_closed(workplace: Path) -> None:
    """A full one is an error; one that nobody reads any more is none."""
    for line in ("segment pipeline text.txt", "info pipeline"):
        command = [executable(), "-m", "spacy", "structreg", *line.split()]
        with Path("/dev/full").open("w") as full:
            result = subprocess.run(
                command, cwd=workplace, stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert (result.returncode, result.stderr) == (
            1, "✘ standard output: No space left on device\n"
        ), line  # fmt: skip
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run(
            command, cwd=workplace, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(writer)
        assert result.stderr == "", line


# What is wrong in other ways ----------------------------------------------------------------------


@looped("line", [*HOSTILE, *USAGE])
def test_mistakes_are_said_in_a_line(
    line: str, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workplace)
    before = sorted(path.name for path in workplace.iterdir())
    result = CliRunner().invoke(structreg_app, line.split())
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.stdout == ""
    if line in USAGE:
        assert result.exit_code == 2
        assert result.stderr.startswith("Usage: ")
    else:
        assert result.exit_code == 1
        assert result.stderr.startswith("✘ ")
        assert result.stderr.count("\n") == 1
        assert ".tmp" not in result.stderr
    assert sorted(path.name for path in workplace.iterdir()) == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{FIT} --training.max_epochs 1.5", "segment.cfg: training.max_epochs is 1.5; it must be"),
        (f"{FIT} --nlp.lang xx-yy", "segment.cfg: [E048] Can't import language"),
        (f"{FIT} --training.epochs 3", "segment.cfg: there is no setting training.epochs"),
        ("fit empty.cfg out --train c.spacy --dev c.spacy", "empty.cfg: "),
        ("fit bytes out --train c.spacy --dev c.spacy", "bytes:"),
        ("convert words.txt empty/o.spacy", "empty/o.spacy: "),
        ("draw trees.txt -o o.xyz", "o.xyz: name a file that ends in .svg or .html, or a folder"),
        ("convert words.txt /proc/o.spacy", "/proc/o.spacy: "),
        (f"convert words.txt {'x' * 300}.spacy", f"{'x' * 300}.spacy: "),
        ("convert words.txt ./c.spacy c.spacy", "c.spacy is an input, and would be replaced"),
        ("evaluate pipeline c.spacy --output c.spacy", "c.spacy is an input"),
        ("evaluate pipeline c.spacy --train words.txt --output words.txt", "words.txt is an input"),
        ("jackknife tag.cfg c.spacy c.spacy", "c.spacy is an input"),
        (f"{FIT} --report c.spacy", "c.spacy is an input"),
    ],
)
def test_messages_name_what_was_given(
    line: str, message: str, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workplace)
    result = CliRunner().invoke(structreg_app, line.split())
    assert result.stderr.removeprefix("✘ ").startswith(message)


def test_errors_of_inputs_are_not_blamed_on_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "output"
    for error in (OSError(5, "Input/output error"), OSError(2, "No such file", "input.txt")):
        with pytest.raises(OSError, match=r"error|No such") as caught, replace_bytes(output):
            raise error
        assert caught.value is error
    monkeypatch.chdir(tmp_path)
    for error in (OSError(5, "Input/output error"), OSError(2, "No such file", "input.txt")):
        with pytest.raises(OSError, match=r"error|No such") as caught:
            replace_folder(Path("output"), Mock(side_effect=error))
        assert caught.value is error
    full = OSError(28, "No space left on device")
    with pytest.raises(OSError, match="No space") as caught, replace_bytes(output):
        raise full
    assert caught.value.filename == str(output)
    assert list(tmp_path.iterdir()) == []


def write_pipeline(folder: Path) -> None:
    """Write what a folder is known by as that of a pipeline."""
    folder.mkdir()
    for name in ("meta.json", "config.cfg"):
        (folder / name).touch()


def test_a_link_to_a_folder_stays(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to("target")
    for _ in range(2):
        replace_folder(link, write_pipeline, force=True)
        assert link.is_symlink()
        assert sorted(path.name for path in target.iterdir()) == ["config.cfg", "meta.json"]
        assert sorted(tmp_path.iterdir()) == [link, target]


def test_the_working_directory_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for output in (Path(), tmp_path):
        with pytest.raises(ValueError, match="working directory, and is not replaced"):
            replace_folder(output, write_pipeline)
    assert tmp_path.exists()


def test_what_is_no_pipeline_is_not_replaced(tmp_path: Path) -> None:
    """Not even by force; an empty folder is."""
    folder, file, empty = (tmp_path / name for name in ("folder", "file", "empty"))
    folder.mkdir()
    (folder / "notes.txt").touch()
    file.touch()
    for output in (folder, file):
        with pytest.raises(ValueError, match="is no pipeline, and is not replaced"):
            replace_folder(output, write_pipeline, force=True)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    empty.mkdir()
    mode = empty.stat().st_mode
    replace_folder(empty, write_pipeline, force=True)
    assert sorted(path.name for path in empty.iterdir()) == ["config.cfg", "meta.json"]
    # It has ordinary permissions.
    assert empty.stat().st_mode == mode


def test_what_was_there_survives_a_move_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where names cannot be exchanged, the old folder has stepped aside already."""
    output = tmp_path / "output"
    write_pipeline(output)
    (output / "meta.json").write_text("old", "utf-8")
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name == "whole":
            raise OSError(13, "Permission denied", str(target))
        return rename(self, target)

    monkeypatch.setattr(folders, "_exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(OSError, match="Permission denied"):
        replace_folder(output, write_pipeline, force=True)
    assert list(tmp_path.iterdir()) == [output]
    assert (output / "meta.json").read_text("utf-8") == "old"
