"""Corrections of a trained model: the smallest change of its weights that makes sentences right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from spacy_structreg.learn.corrector import Corrector
from spacy_structreg.models.protocols import Compiled

MAX_ROUNDS: Final = 100
"""Most visits of a sentence until it comes out right."""

MAX_PASSES: Final = 5
"""Most passes over all sentences, of which later ones may undo earlier ones."""


@dataclass(frozen=True)
class Corrections:
    """Outcome of a correction.

    n_sentences: how many there were. n_right: how many came out right before. wrong: those that
    still do not, by their numbers, from 0: the reason, where it is known, or None. n_steps: how
    many outputs the weights were moved away from.
    """

    n_sentences: int
    n_right: int
    wrong: Mapping[int, str | None] = field(default_factory=dict)
    n_steps: int = 0

    @property
    def n_corrected(self) -> int:
        """The number of sentences that came out wrong before, and right now."""
        return self.n_sentences - self.n_right - len(self.wrong)


class CorrectionTrainer:
    """Moves the weights of a corrector until examples come out right.

    trainer: of chains or on the agenda, whose learner is a `Corrector`.
    """

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    @property
    def learner(self) -> Corrector:
        """The weights."""
        learner: Corrector = self._trainer.learner
        return learner

    def count_features(self, examples: Sequence[Compiled]) -> None:
        """Keep to the weights of features that are frequent in examples, or were so in training."""
        counts = self._trainer.count(examples)
        for count, table in zip(counts, self.learner.tables, strict=True):
            if table.occurrences is not None:
                count[: len(table.occurrences)] += table.occurrences
        self.learner.set_feature_counts(counts)

    def correct(self, sentences: Sequence[Sequence[Compiled]]) -> int:
        """Visit the examples of each sentence until they come out right; returns the steps taken.

        The numbers of visits and of passes are bounded.
        """
        before = self.learner.n_steps
        for _ in range(MAX_PASSES):
            begun = self.learner.n_steps
            for examples in sentences:
                for example in examples:
                    self._correct(example)
            if self.learner.n_steps == begun or len(sentences) == 1:
                break
        return self.learner.n_steps - before

    def _correct(self, example: Compiled) -> None:
        self.learner.begin()
        for _ in range(MAX_ROUNDS):
            before = self.learner.n_steps
            self._trainer.epoch([example], np.zeros(1, np.int64), 0)
            if self.learner.n_steps == before:
                return
