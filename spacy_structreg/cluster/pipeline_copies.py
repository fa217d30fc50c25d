"""A pipeline on the machines of a cluster: found where it lies, or where it was shipped to."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

BLOCK = 1 << 20


@dataclass(frozen=True)
class PipelineCopy:
    """A pipeline by its folder on the machine that sends it, and the checksum of its files."""

    folder: str
    checksum: str

    @classmethod
    def of(cls, name: str | os.PathLike[str]) -> PipelineCopy:
        """That of a folder or package. Raises ValueError if there is none of that name."""
        folder = pipeline_folder(name)
        return cls(str(folder), tree_checksum(folder))

    @property
    def unpacked(self) -> Path:
        """The folder that it is unpacked to where it is shipped to."""
        user = os.getuid() if hasattr(os, "getuid") else 0
        return Path(tempfile.gettempdir(), f"structreg-{user}-{self.checksum[:32]}")


def pipeline_folder(name: str | os.PathLike[str]) -> Path:
    """The folder with the files of a pipeline: it is named itself, or an installed package.

    Raises ValueError if there is neither.
    """
    from spacy.util import get_model_meta, get_package_path, is_package

    folder = Path(name)
    if not (folder / "config.cfg").is_file() and is_package(str(name)):
        package = get_package_path(str(name))
        meta = get_model_meta(package)
        folder = package / f"{meta['lang']}_{meta['name']}-{meta['version']}"
    if not (folder / "config.cfg").is_file():
        raise ValueError(f"{name} is neither the folder of a pipeline nor an installed package")
    return folder.resolve()


def tree_checksum(folder: Path) -> str:
    """SHA-256, in hexadecimal digits, over names, lengths and bytes of all files of a folder."""
    digest = hashlib.sha256()
    for path in tree_files(folder):
        name = path.relative_to(folder).as_posix()
        digest.update(f"{len(name)}:{name}{path.stat().st_size}:".encode())
        with path.open("rb") as stream:
            while block := stream.read(BLOCK):
                digest.update(block)
    return digest.hexdigest()


def tree_files(folder: Path) -> list[Path]:
    """The files of a folder and those inside it, in the order of their names."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


@cache
def find_copy(pipeline: PipelineCopy) -> Path:
    """The folder of a pipeline on this machine; looked for once in a process.

    Raises OSError if it is not there, neither by its name nor shipped, with the same files.
    """
    for folder in (Path(pipeline.folder), pipeline.unpacked):
        if folder.is_dir() and tree_checksum(folder) == pipeline.checksum:
            return folder
    raise OSError(
        f"the pipeline {pipeline.folder} does not lie on the machine of the worker with the same "
        "files; run the command again, which ships it"
    )


def has_copy(pipeline: PipelineCopy) -> bool:
    """True if a pipeline lies on this machine."""
    try:
        find_copy(pipeline)
    except OSError:
        return False
    return True
