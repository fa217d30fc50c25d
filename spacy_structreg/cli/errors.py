"""Faults of the user's input, said in a line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

__all__ = ["user_errors"]


@contextmanager
def user_errors() -> Iterator[None]:
    """End the command with one message on standard error and exit code 1 on a fault of the input.

    These are ValueError (faulty files, corpora, models and settings all raise it) and OSError.
    Anything else is a fault of the program and keeps its traceback. A pipe that the reader of the
    output has closed goes on to the command line's own handling, which ends quietly.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except (ValueError, OSError) as error:
        typer.secho(f"Error: {describe(error)}", fg=typer.colors.RED, err=True)
        raise typer.Exit(1) from error


def describe(error: ValueError | OSError) -> str:
    """What an error says, without Python's numbers and notation."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error).strip()
