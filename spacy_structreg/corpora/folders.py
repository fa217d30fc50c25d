"""Atomic writing of folders, and folder locks that end with the process."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import importlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from spacy_structreg.corpora.corpus_errors import StrPath

BESIDE: Final = ".structreg"
"""Ending of the name of a folder beside what is written; the name begins with a dot."""

LOCK: Final = ".lock"
"""The file of a folder that its lock is held by."""

REPLACED: Final = "replaced"
BUSY: Final = "another process is writing here; wait until it has ended, or name another output"

_IS_WINDOWS: Final = os.name == "nt"
_AT_FDCWD: Final = -100
# The same number for Linux (RENAME_EXCHANGE) and macOS (RENAME_SWAP).
_EXCHANGE: Final = 2


def lock_stream(stream: IO[bytes], *, wait: bool = False) -> bool:
    """Lock an open file for this process; False if another one has it and `wait` is not set.

    The lock goes with the stream, and with the process, however that ends. Raises OSError where
    files cannot be locked, as on some network file systems.
    """
    try:
        if _IS_WINDOWS:
            msvcrt: Any = importlib.import_module("msvcrt")
            msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            fcntl: Any = importlib.import_module("fcntl")
            fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


@contextlib.contextmanager
def locked(folder: StrPath) -> Iterator[None]:
    """Hold the lock of a folder, which is made, and removed at the end if nothing is in it.

    The lock is a file in it, which is removed, too; that of a process that was killed is no lock
    any more. Where files cannot be locked, as on some network file systems, nothing is held.
    Raises BlockingIOError, naming the folder, if another process, or another part of this one,
    holds the lock; OSError if the folder cannot be made.
    """
    path = Path(folder) / LOCK
    stream = _locked_stream(path)
    try:
        yield
    finally:
        if _IS_WINDOWS:
            # Open files stay there.
            stream.close()
        with contextlib.suppress(FileNotFoundError, PermissionError):
            path.unlink()
        stream.close()
        # It has other files, or another process has it by now.
        with contextlib.suppress(OSError):
            path.parent.rmdir()


def _locked_stream(path: Path) -> BinaryIO:
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            stream = path.open("ab")
        except FileNotFoundError:
            # Whoever held the lock has just removed the folder.
            continue
        try:
            is_free = lock_stream(stream)
        except OSError:
            return stream
        if not is_free:
            stream.close()
            raise BlockingIOError(errno.EWOULDBLOCK, BUSY, os.fspath(path.parent))
        with contextlib.suppress(FileNotFoundError):
            # Or else the file was removed before it was locked.
            if os.path.samestat(os.fstat(stream.fileno()), path.stat()):
                return stream
        stream.close()


def clear(folder: Path) -> None:
    """Remove all that lies in a folder, but for its lock."""
    for each in folder.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        elif each.name != LOCK:
            each.unlink()


@contextlib.contextmanager
def folder_beside(path: StrPath) -> Iterator[Path]:
    """An empty folder beside a file or folder that is to be written, for this process alone.

    It is removed at the end. What a process that was killed has left in it is removed at the
    beginning. Raises BlockingIOError, naming it, if another process has it; OSError if it cannot be
    made.
    """
    target = Path(os.path.realpath(path))
    folder = target.with_name(f".{target.name}{BESIDE}")
    with locked(folder):
        if (folder / REPLACED).exists() and not target.exists():
            # Where the system exchanges nothing, a process was killed in between.
            (folder / REPLACED).rename(target)
        clear(folder)
        try:
            yield folder
        finally:
            clear(folder)


def put_in_place(new: Path, target: Path) -> None:
    """Rename a folder of `folder_beside` to the target; what was there is in the former then.

    At every moment there is the old folder or the new one, where the system can exchange two
    names (Linux and macOS, most file systems); elsewhere, between two renamings, there is none.
    Raises OSError, and leaves the old folder, if it cannot be done.
    """
    if not target.exists():
        new.rename(target)
        return
    if _exchange(new, target):
        return
    replaced = new.with_name(REPLACED)
    target.rename(replaced)
    try:
        new.rename(target)
    except BaseException:
        replaced.rename(target)
        raise


def _exchange(one: Path, other: Path) -> bool:
    """Swap two paths atomically; return False where the system cannot."""
    paths = os.fsencode(one), os.fsencode(other)
    if sys.platform.startswith("linux"):
        call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        arguments: tuple[Any, ...] = (_AT_FDCWD, paths[0], _AT_FDCWD, paths[1])
    elif sys.platform == "darwin":
        call = getattr(ctypes.CDLL(None, use_errno=True), "renamex_np", None)
        arguments = paths
    else:
        return False
    if call is None:
        return False
    if call(*arguments, ctypes.c_uint(_EXCHANGE)) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), os.fspath(other))
