"""Grids, which say what a study runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import srsly  # type: ignore[import-untyped]

from studies.results import ResultFile


class GridFile:
    """The grid that a YAML file describes. Raises ValueError, naming the file, if it is not sound.

    corpora: the entry of each, as `read_corpus` of the study takes it.
    """

    corpora: dict[str, dict[str, Any]]

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.read(srsly.read_yaml(path))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}: not a grid of this study ({error!r})") from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def read(self, given: dict[str, Any]) -> None:
        """Take what the file says. Raises ValueError, KeyError, … if it is not sound."""
        raise NotImplementedError

    def choose(self, tables: Collection[str], corpora: Collection[str]) -> None:
        """Run nothing but these tables and corpora; an empty one stands for all.

        Raises ValueError for a name that the grid does not have, or if it has no tables.
        """
        raise ValueError("this study has no tables to choose from: leave out --only and --corpus")

    def settle(self, results: ResultFile[Any, Any]) -> None:
        """Take what results say of what else is to be run; most studies need none."""

    def known_corpus(self, name: str, experiment: str) -> str:
        """The name of a corpus, if it is one of the grid; ValueError otherwise."""
        if name not in self.corpora:
            raise ValueError(f"{experiment} names an unknown corpus, {name!r}")
        return name


def canonical(setting: Mapping[str, Any]) -> str:
    """A setting as one line of ``name=value``, under which results are filed."""
    return " ".join(f"{name}={value_text(value)}" for name, value in sorted(setting.items()))


def value_text(value: Any) -> str:
    """A value of a setting, numbers as short as may be."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"{value:g}" if is_number else str(value)
