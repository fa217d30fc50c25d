"""Training on trees of which only a part is annotated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.estimators.tree_queries import Query, parse_queries
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.tasks.dependencies.arcs import DependencyTransitions, ParseDecoder
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.training.agenda import AgendaTrainer


@dataclass(frozen=True, slots=True)
class PartialTree:
    """A training sentence whose tree is to be completed.

    heads, labels: None where they are not known. numbering: of the learner that it was made for.
    """

    words: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int | None]
    labels: Sequence[str | None]
    numbering: object

    @property
    def n_rows_known(self) -> int:
        """No row of a learner is known to it."""
        return 0

    def __len__(self) -> int:
        return 2 * len(self.words) - 1


class PartialTreeTrainer:
    """Trains on whole trees, and on partial ones as the weights would complete them.

    Before each epoch the best tree that has the known arcs is found by the average of the weights,
    and learnt from like any other. As long as nothing has been learnt, partial trees are passed
    over, unless there are no others.

    trainer: of whole trees. new_decoder: makes a decoder by weights. system: compiles trees.
    """

    def __init__(
        self,
        trainer: AgendaTrainer,
        new_decoder: Callable[[list[TrainedRows]], ParseDecoder],
        system: DependencyTransitions,
    ) -> None:
        self._trainer = trainer
        self._new_decoder = new_decoder
        self._system = system

    @property
    def learner(self) -> Perceptron:
        return self._trainer.learner

    def epoch(
        self, examples: Sequence[Any], pieces: NDArray[np.int64], noise: int, /
    ) -> tuple[int, int]:
        """As `training.agenda.AgendaTrainer.epoch`."""
        partial = [i for i, example in enumerate(examples) if not isinstance(example, Derivation)]
        if not partial:
            return self._trainer.epoch(examples, pieces, noise)
        if self.learner.clock == 0 and len(partial) < len(examples):
            pieces = pieces[~np.isin(pieces[:, 0], partial)]
            whole = dict.fromkeys(partial, examples[int(pieces[0, 0])])
        else:
            whole = self._completed({i: examples[i] for i in partial})
        return self._trainer.epoch(
            [whole.get(i, example) for i, example in enumerate(examples)], pieces, noise
        )

    def restrict(self, examples: Sequence[Any], least: int) -> None:
        """As `training.agenda.AgendaTrainer.restrict`, by the features of whole trees."""
        self._trainer.restrict(_whole(examples), least)

    def count(self, examples: Sequence[Any]) -> list[NDArray[np.int64]]:
        """As `training.agenda.AgendaTrainer.count`, of whole trees."""
        return self._trainer.count(_whole(examples))

    def _completed(self, examples: dict[int, PartialTree]) -> dict[int, Derivation]:
        """The best derivations that have what is known of each tree."""
        decoder = self._new_decoder(self.learner.average())
        number = {label: i for i, label in enumerate(decoder.labels)}
        queries = [
            Query.of((list(example.words), list(example.tags)), (example.heads, example.labels))
            for example in examples.values()
        ]
        trees = parse_queries(decoder, queries)
        completed = {}
        for (i, example), tree in zip(examples.items(), trees, strict=True):
            labels = [
                0 if head == ROOT or not number else number[label]
                for head, label in zip(tree.heads, tree.labels, strict=True)
            ]
            derivation = self._system.compile(
                example.words, example.tags, tree.heads, labels, self.learner
            )
            assert derivation is not None
            completed[i] = derivation
        return completed


def _whole(examples: Sequence[Any]) -> list[Derivation]:
    return [example for example in examples if isinstance(example, Derivation)]
