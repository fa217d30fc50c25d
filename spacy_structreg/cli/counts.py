"""Numbers of things, as commands tell them."""

from __future__ import annotations


def number_of(number: int, noun: str) -> str:
    """A number and what it counts, with commas: ``1 record``, ``2,000 records``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
