"""What the harness asks of a task."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from benchmarks.common.corpora import Corpus, GoldT, default_corpus
from benchmarks.common.systems import InputT, OutputT, System

if TYPE_CHECKING:
    from typing_extensions import Self

    from benchmarks.common.report import Result

__all__ = ["Task"]


class Task(ABC, Generic[GoldT, InputT, OutputT]):
    """What systems are compared at.

    name: of the benchmark and its reports. what: systems of this kind, in the plural. systems: by
    name, in their order. units: what speed counts, and outputs: what predictions are, both in the
    plural. figures: of test scores, keys by the heads of their columns. primary: the key of the
    figure that chooses on the development corpus. retrains: ours has no settings but its defaults,
    and is trained again after each training of another system, to compare the two.
    """

    name: ClassVar[str]
    what: ClassVar[str]
    systems: Mapping[str, type[System[InputT, OutputT]]]
    units: ClassVar[str]
    outputs: ClassVar[str]
    figures: ClassVar[Mapping[str, str]]
    primary: ClassVar[str]
    retrains: ClassVar[bool] = True

    @property
    def primary_title(self) -> str:
        """The head of the column of the figure that chooses."""
        return next(title for title, key in self.figures.items() if key == self.primary)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that only this task has."""

    def configured(self, options: argparse.Namespace) -> Self:
        """The task as the options want it. Raises ValueError for options that cannot be."""
        return self

    @property
    def made_with(self) -> Mapping[str, Any]:
        """The keyword arguments that systems are made with."""
        return {}

    def sections(self, results: Sequence[Result]) -> list[str]:
        """What its report has besides, in Markdown."""
        return []

    def default_corpus(self) -> Corpus[GoldT]:
        """What systems are compared on if no files are named.

        Raises ValueError without the folder of real corpora, and as `read`.
        """
        return default_corpus(self.read)

    def views(self, corpus: Corpus[GoldT], options: argparse.Namespace) -> list[Corpus[GoldT]]:
        """The views that systems are compared on, the most important first.

        Raises ValueError and OSError as `read`.
        """
        return [corpus]

    @abstractmethod
    def read(self, path: Path) -> list[GoldT]:
        """The sentences of a file. Raises ValueError for faulty files, and OSError."""

    @abstractmethod
    def write(self, path: Path, sentences: Sequence[GoldT]) -> None:
        """Write sentences for systems to train on. Raises ValueError if that cannot be."""

    @abstractmethod
    def words(self, gold: GoldT) -> Sequence[str]:
        """The words of a sentence."""

    @abstractmethod
    def given(self, gold: GoldT) -> InputT:
        """What systems are given of a sentence."""

    @abstractmethod
    def score(
        self,
        gold: Sequence[GoldT],
        predicted: Sequence[OutputT],
        vocabulary: AbstractSet[str] | None = None,
    ) -> Mapping[str, float | None]:
        """The figures of predictions, as fractions of 1; vocabulary: the words of training.

        Raises ValueError for predictions that do not belong to the sentences.
        """

    def size(self, gold: GoldT) -> int:
        """How many units a sentence has."""
        return len(self.words(gold))
