"""Learners of either kind, by their settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from spacy_structreg.learn.corrector import Corrector
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.learning_settings import AnyLearning, Learning, LogLinear
from spacy_structreg.learn.log_linear import LogLinearLearner
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows, TrainingRows

_KINDS: Final[dict[type[AnyLearning], type[Learner]]] = {
    Learning: Perceptron,
    LogLinear: LogLinearLearner,
}


def new_learner(tables: Iterable[TrainingRows], learning: AnyLearning, clock: int = 0) -> Learner:
    """A learner that goes on with these weights. Raises ValueError as its class does."""
    return _restricted(_KINDS[type(learning)](tables, learning, clock))


def learner_from_trained(tables: Iterable[TrainedRows], learning: AnyLearning) -> Learner:
    """A learner that goes on from trained weights, its clock at 0."""
    return _restricted(_KINDS[type(learning)].from_trained(tables, learning))


def corrector_from_trained(tables: Iterable[TrainedRows], learning: AnyLearning) -> Corrector:
    """A learner that moves trained weights as little as corrections need.

    It keeps to the weights of features that occurred in training, if the tables say how often.

    learning: of the training, which says whether features without weights may get some.
    """
    settings = Learning(algorithm="pa", clock="mistakes", min_count=learning.min_count)
    corrector = Corrector([TrainingRows.from_trained(table) for table in tables], settings)
    counts = [table.occurrences for table in corrector.tables if table.occurrences is not None]
    if len(counts) == len(corrector.tables):
        corrector.set_feature_counts(counts)
    _restricted(corrector)
    return corrector


def _restricted(learner: Learner) -> Learner:
    """Freeze the feature set, if it was selected by counts."""
    if learner.settings.min_count > 1:
        for table in learner.tables:
            table.close()
    return learner
