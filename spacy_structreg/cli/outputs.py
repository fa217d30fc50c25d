"""Outputs of the commands: checked before the work, written in one step after it, and told of."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from spacy.cli._util import Opt

if TYPE_CHECKING:
    from spacy_structreg.corpora.corpus_errors import StrPath

ForceOption: TypeAlias = Annotated[
    bool, Opt("--force", "-F", help="Replace the output if there is one")
]
"""Of commands whose output is an argument: nothing is replaced without being asked to."""


def check_file(path: Path | None, *inputs: StrPath | None, force: bool = True) -> None:
    """Check that a file can be written, before the work for it begins; None for no file.

    Makes its folder, and removes what a process that was killed has left there. inputs: files and
    folders that the command reads, which no output may replace; None and names of packages count
    for nothing. force: whether a file that is there may be replaced.
    Raises ValueError or OSError, naming the file, if it is one of the inputs or lies in one, exists
    and may not be replaced, or cannot be written.
    """
    from spacy_structreg.corpora.files import check_writable

    if path is None:
        return
    check_writable(path)
    if path.exists():
        _check_inputs(path, inputs)
    _check_new(path, force=force)


def check_folder(path: Path, *inputs: StrPath | None, force: bool = False) -> None:
    """Check that the folder of a pipeline can be written, before the work for it begins.

    Makes the folder that it will lie in, and removes what a process that was killed has left there.
    inputs, force: as of `check_file`. Raises ValueError if there is something in its place that is
    no pipeline, is or holds an input, or may not be replaced, or the process works in it; and
    OSError, naming the folder, if it cannot be written, or another process writes it now.
    """
    from spacy_structreg.corpora.files import named_errors
    from spacy_structreg.corpora.folders import folder_beside

    _check_replaceable(path, inputs, force=force)
    with named_errors(path, _beside(path)), folder_beside(path):
        pass


def replace_folder(path: Path, write: Callable[[Path], object], *, force: bool = False) -> None:
    """Write the folder of a pipeline, which appears whole or not at all.

    write: writes it, by another name. At every moment the old folder or the new one is in its
    place (`corpora.folders.put_in_place`); a symbolic link stays, and its target is replaced.
    force: whether a folder that is there may be replaced. Raises as `check_folder`.
    """
    from spacy_structreg.corpora.files import named_errors
    from spacy_structreg.corpora.folders import folder_beside, put_in_place

    _check_replaceable(path, (), force=force)
    with named_errors(path, _beside(path)), folder_beside(path) as folder:
        whole = folder / "whole"
        write(whole)
        # It may have come meanwhile.
        _check_new(path, force=force)
        put_in_place(whole, Path(os.path.realpath(path)))


def write_report(path: Path, report: Mapping[str, Any]) -> None:
    """Write a report as JSON, in one step."""
    from spacy_structreg.corpora.files import replace_text

    # Not by srsly, which rounds figures to ten digits.
    with replace_text(path) as stream:
        stream.write(json.dumps(report, ensure_ascii=False, indent=2) + "\n")


def _beside(path: Path) -> str:
    return f".{os.path.basename(os.path.realpath(path))}."  # noqa: PTH119


def _check_replaceable(path: Path, inputs: tuple[StrPath | None, ...], *, force: bool) -> None:
    target = Path(os.path.realpath(path))
    if path.exists() and not is_replaceable(path):
        raise ValueError(f"{path} is no pipeline, and is not replaced; name another folder")
    if target in (Path.cwd(), *Path.cwd().parents):
        raise ValueError(f"{path} holds the working directory, and is not replaced; name another")
    if path.exists():
        _check_inputs(path, inputs)
    _check_new(path, force=force)


def _check_inputs(path: Path, inputs: tuple[StrPath | None, ...]) -> None:
    """Raise ValueError if an output that is there is an input, lies in one, or holds one."""
    target = Path(os.path.realpath(path))
    for read in _existing(inputs):
        source = Path(os.path.realpath(read))
        if path.samefile(read) or source in target.parents:
            raise ValueError(f"{path} is an input, and would be replaced; name another output")
        if target in source.parents:
            raise ValueError(
                f"{path} holds the input {read}, and would be replaced; name another output"
            )


def _existing(inputs: tuple[StrPath | None, ...]) -> Iterator[StrPath]:
    for read in inputs:
        # What is no path, such as a URL, is no file here; os.path.exists refuses nothing.
        if read is not None and os.path.exists(read):  # noqa: PTH110
            yield read


def _check_new(path: Path, *, force: bool) -> None:
    """Raise ValueError if an output is there and not an empty folder, and may not be replaced."""
    is_empty = path.is_dir() and not any(path.iterdir())
    if path.exists() and not force and not is_empty:
        raise ValueError(f"{path} exists; name another output, or add --force to replace it")


def is_replaceable(folder: Path) -> bool:
    """True if a folder is empty or a pipeline that spaCy has written."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    return not names or {"meta.json", "config.cfg"} <= names


def number_of(number: int, noun: str) -> str:
    """A number and what it counts, with commas: ``1 record``, ``2,000 records``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
