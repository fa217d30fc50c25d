"""How long runs take, by those that are made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from grid import Grid, Key, Results

SIZE = re.compile(r"(?<![\w-])\d[\d,]{2,}")
"""Sentences that a corpus trains on: the first number of three digits or more of its title."""


class Times:
    """The seconds that runs take, by the nearest that are made.

    These are runs of the same system on the same corpus, or on others, by the numbers of sentences
    to train on; else those of the same config, or of all.
    """

    def __init__(self, grid: Grid, results: Results) -> None:
        self._sizes = {name: size(entry) for name, entry in grid.corpora.items()}
        found: dict[tuple[str, ...], list[float]] = {}
        for key, result in results.items():
            seconds = result.training_seconds + result.decoding_seconds
            for n, level in enumerate(levels(key)):
                rate = seconds if n == 0 else seconds / self._size(key.corpus)
                found.setdefault(level, []).append(rate)
        self._found = {level: fmean(rates) for level, rates in found.items()}

    def of(self, key: Key) -> float:
        """The seconds of a run. Raises ValueError if none is made at all."""
        for n, level in enumerate(levels(key)):
            if level in self._found:
                return self._found[level] * (1 if n == 0 else self._size(key.corpus))
        raise ValueError("there is no run whose time could be taken")

    def _size(self, corpus: str) -> float:
        known = [each for each in self._sizes.values() if each]
        return self._sizes.get(corpus) or (fmean(known) if known else 1)


def levels(key: Key) -> list[tuple[str, ...]]:
    """What runs have in common with a run, the nearest first."""
    return [
        (key.corpus, key.system, key.setting),
        ("", key.system, key.setting),
        (key.corpus, key.system),
        ("", key.system),
        (),
    ]


def size(entry: Mapping[str, Any]) -> float:
    """The sentences that a corpus trains on, as its title says; 0 if it does not."""
    found = SIZE.search(str(entry.get("title", "")))
    return float(found[0].replace(",", "")) if found else 0.0
