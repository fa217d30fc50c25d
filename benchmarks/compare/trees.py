"""Trees of commits, compiled in place."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

__all__ = ["ROOT", "WORKING_TREE", "built_tree", "commit_of"]

ROOT = Path(__file__).resolve().parents[2]

WORKING_TREE = "."
"""Stands for the files as they are, committed or not."""

PACKAGE = "spacy_structreg"
COMPILED = "*.c", "*.so", "*.pyd"
SOURCES = "*.pyx", "*.pxd", "*.pxi"
# The harness is the one that runs, whatever the commit has.
LEFT_OUT = "benchmarks", "docs", "projects", "tests", "treebank"


def commit_of(name: str, repository: Path = ROOT) -> str:
    """The full id of a commit, or that of the working tree. Raises ValueError if there is none."""
    if name == WORKING_TREE:
        return name
    command = ["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"]
    found = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    if found.returncode:
        raise ValueError(f"no commit {name!r} in this repository")
    return found.stdout.strip()


def built_tree(commit: str, folder: Path, repository: Path = ROOT) -> Path:
    """A folder with the package of a commit, compiled; its path.

    folder: a new one, which is the caller's to delete. What the working tree has compiled of the
    same sources is taken over. Raises ValueError if the commit does not compile.
    """
    if commit == WORKING_TREE:
        _build(repository, "the working tree")
        return repository
    excluded = [f":(exclude){name}" for name in LEFT_OUT]
    command = ["git", "archive", "--format=tar", commit, "--", ".", *excluded]
    packed = subprocess.run(command, cwd=repository, capture_output=True, check=False)
    if packed.returncode:
        raise ValueError(f"{commit:.12}: {packed.stderr.decode(errors='replace').strip()}")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    if not (folder / PACKAGE).is_dir():
        raise ValueError(f"{commit:.12} has no package {PACKAGE}")
    _take_over(repository, folder)
    _build(folder, f"{commit:.12}")
    return folder


def _take_over(repository: Path, folder: Path) -> None:
    """Copy what was compiled; sources that are the same get their times, so that it holds good.

    The build compiles what is newer than what was made of it, and what depends on such.
    """
    # Which flags the compiler gets.
    if not _same(repository / "setup.py", folder / "setup.py"):
        return
    for pattern in SOURCES:
        for path in (folder / PACKAGE).rglob(pattern):
            path.touch()
            ours = repository / path.relative_to(folder)
            if _same(ours, path):
                shutil.copystat(ours, path)
    for pattern in COMPILED:
        for path in (repository / PACKAGE).rglob(pattern):
            copied = folder / path.relative_to(repository)
            if copied.parent.is_dir():
                shutil.copy2(path, copied)


def _same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()


def _build(folder: Path, what: str) -> None:
    """Compile in place, and write the entry points. Raises ValueError if that fails."""
    # In place by the name of the folder: --inplace would look for what is compiled elsewhere.
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--build-lib", "."]
    if folder != ROOT:
        # Its entry points are found before those of the installed package.
        command.insert(3, "egg_info")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise ValueError(f"{what} does not compile:\n" + "\n".join(lines[-20:]))
