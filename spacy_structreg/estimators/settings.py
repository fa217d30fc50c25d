"""Checks of settings, from a constructor's arguments or a file's header."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from operator import index
from typing import Any, Final

MAX_BEAM: Final = 10_000
"""Most states of a beam: memory and time of a sentence grow with it."""

MAX_EPOCHS: Final = 1_000_000
"""Most passes over the training corpus."""

MAX_WORD_LENGTH: Final = 10_000
"""Highest limit of the length of words, in characters."""

MAX_MODELS: Final = 1_000
"""Most models of one average."""


class CompleteTemplates(tuple[str, ...]):
    """All templates of a model: no setting adds any to them."""

    @classmethod
    def checked(cls, templates: list[Any]) -> CompleteTemplates:
        """Templates from a file. Raises ValueError if they are not strings."""
        return cls(strings("templates", templates))


def strings(name: str, values: Iterable[Any]) -> list[str]:
    """A list of strings from a file. Raises ValueError if they are none."""
    listed = list(values)
    if not all(isinstance(value, str) for value in listed):
        raise ValueError(f"its {name} are not strings")
    return listed


def whole(name: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    """A setting that is a whole number from `least` to `most`."""
    try:
        if isinstance(value, bool):
            raise TypeError("a truth value")
        number = int(index(value))
    except TypeError as error:
        raise ValueError(f"{name} is {value!r}; it must be a whole number") from error
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}; it must be at least {least} and at most {most:,}")
    return number


def beam_width(name: str, value: Any) -> int | None:
    """Check the width of a beam, from 1 to `MAX_BEAM`; None for no limit."""
    return None if value is None else whole(name, value, 1, MAX_BEAM)


def number(name: str, value: Any, least: float) -> float:
    """A setting that is a finite number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise ValueError(f"{name} is {value!r}; it must be a finite number")
    if value < least:
        raise ValueError(f"{name} is {value}; it must be at least {least:g}")
    return float(value)


def choose(name: str, value: Any, choices: Iterable[str]) -> None:
    """Hold a setting to its choices. Raises ValueError for any other."""
    choices = list(choices)
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; choose from {', '.join(choices)}")
