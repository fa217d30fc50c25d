"""Outputs of the commands: checked before the work, and written in one step after it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy_structreg.corpora.corpus_errors import StrPath

__all__ = ["check_file", "check_folder", "replace_folder"]


def check_file(path: Path | None, *inputs: StrPath | None) -> None:
    """Check that a file can be written, before the work for it begins; None for no file.

    Makes its folder. inputs: files that the command reads, which no output may replace.
    Raises ValueError or OSError, naming the file, if it is one of these or cannot be written.
    """
    from spacy_structreg.corpora.files import check_writable

    if path is None:
        return
    for read in inputs:
        if read is not None and path.exists() and Path(read).exists() and path.samefile(read):
            raise ValueError(f"{path} is an input, and would be replaced; name another output")
    check_writable(path)


def check_folder(path: Path) -> None:
    """Check that the folder of a pipeline can be written, before the work for it begins.

    Makes the folder that it will lie in. Raises ValueError if there is something in its place that
    is no pipeline, or the process works in it, and OSError, naming the folder, if it cannot be
    written.
    """
    from spacy_structreg.corpora.files import named_errors

    if path.exists() and not is_replaceable(path):
        raise ValueError(f"{path} is no pipeline, and is not replaced; name another folder")
    target = Path(os.path.realpath(path))
    if target in (Path.cwd(), *Path.cwd().parents):
        raise ValueError(f"{path} holds the working directory, and is not replaced; name another")
    prefix = f".{target.name}."
    with named_errors(path, prefix):
        target.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryDirectory(dir=target.parent, prefix=prefix).cleanup()


def replace_folder(path: Path, write: Callable[[Path], object]) -> None:
    """Write the folder of a pipeline, which appears whole or not at all.

    write: writes it, by another name. What was in its place is removed when that is done; a
    symbolic link stays, and its target is replaced. Raises as `check_folder`.
    """
    from spacy_structreg.corpora.files import named_errors

    check_folder(path)
    target = Path(os.path.realpath(path))
    prefix = f".{target.name}."
    with (
        named_errors(path, prefix),
        tempfile.TemporaryDirectory(dir=target.parent, prefix=prefix) as folder,
    ):
        whole = Path(folder) / "whole"
        write(whole)
        if not target.exists():
            whole.rename(target)
            return
        replaced = Path(f"{folder}.replaced")
        target.rename(replaced)
        try:
            whole.rename(target)
        except BaseException:
            replaced.rename(target)
            raise
        shutil.rmtree(replaced)


def is_replaceable(folder: Path) -> bool:
    """True if a folder is empty or a pipeline that spaCy has written."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    return not names or {"meta.json", "config.cfg"} <= names
