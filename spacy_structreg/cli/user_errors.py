"""Faults of the user's input, said in a line; and ends that leave nothing half done."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NoReturn

import typer

NAME: Final = "structreg"
"""The name of the program, and of the group of commands of spaCy's."""

_GROUP: Final = f"python -m spacy {NAME}"

# Not asked of click, of which some versions of Typer bring one of their own.
command_typed: Final[ContextVar[str]] = ContextVar("command_typed", default=_GROUP)
"""The beginning of the command line as typed, up to the name of a command of ours."""

BREAKS = re.compile(r"\s*\n\s*")
# Those that a terminal or a scheduler ends programs by; Python itself raises for SIGINT.
SIGNALS = ("SIGTERM", "SIGHUP")


@contextmanager
def user_errors() -> Iterator[None]:
    """End the command with one message on standard error and exit code 1 on a fault of the input.

    These are ValueError (faulty files, corpora, models and settings all raise it), OSError, and
    ImportError, which names a package that is to be installed. Anything else is a fault of the
    program and keeps its traceback. A pipe that the reader of the output has closed goes on to the
    command line's own handling, which ends quietly. Signals that ask the process to end do so with
    128 and their number as exit code, when files that are being written have been removed.
    """
    try:
        with ended_by_signals():
            yield
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ImportError) as error:
        fail(as_typed(describe(error)))
        if isinstance(error, OSError) and is_full_output(error):
            drop_output()
        raise typer.Exit(1) from error


def as_typed(text: str) -> str:
    """A text that names commands of ours by `python -m spacy structreg`, with the name typed."""
    return text.replace(_GROUP, command_typed.get())


def fail(message: str) -> None:
    """Write an error to standard error, as spaCy's commands look."""
    from wasabi.util import ICONS, MESSAGES

    # Not by wasabi's printer, which folds lines: this one may be searched for, or in a log.
    typer.secho(f"{ICONS[MESSAGES.FAIL]} {message}", fg=typer.colors.RED, err=True)


def describe(error: ValueError | OSError | ImportError) -> str:
    """Message of an error, in a line and without Python's numbers and notation."""
    if isinstance(error, OSError) and error.strerror:
        if error.filename is not None:
            return f"{os.fsdecode(error.filename)}: {error.strerror}"
        if is_full_output(error):
            return f"standard output: {error.strerror}"
    return BREAKS.sub("; ", str(error).strip()) or type(error).__name__


def is_full_output(error: OSError) -> bool:
    """True if standard output cannot take more; files that cannot are named in their errors."""
    return error.filename is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def drop_output() -> None:
    """Let what standard output has not taken go, which would be tried again at the end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let signals that would kill the process raise SystemExit instead, so that it tidies up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    # Whoever ignores one, as nohup does, goes on ignoring it.
    before = {number: signal.getsignal(number) for number in numbers}
    ours = [number for number in numbers if before[number] is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


def end(number: int, frame: object) -> NoReturn:
    """Handle a signal."""
    raise SystemExit(128 + number)
