"""How many examples of a property are tried, where the number of the profile does not suit it."""

from __future__ import annotations

from hypothesis import settings

QUICK = 25
"""The number of the profile `quick`, which the others are in proportion to."""


def quick_examples(number: int) -> settings:
    """So many examples in the profile `quick`; in another as many times more as its own number."""
    return settings(max_examples=max(1, number * settings().max_examples // QUICK))
