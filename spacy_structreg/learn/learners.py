"""Learners of either kind, by their settings."""

from __future__ import annotations

from collections.abc import Iterable

from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.log_linear import LogLinearLearner
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.learn.settings import AnyLearning, LogLinear


def new_learner(tables: Iterable[TrainingRows], learning: AnyLearning, clock: int = 0) -> Learner:
    """A learner that goes on with these weights. Raises ValueError as its class does."""
    if isinstance(learning, LogLinear):
        return LogLinearLearner(tables, learning, clock)
    return _restricted(Perceptron(tables, learning, clock))


def learner_from_trained(tables: Iterable[TrainedRows], learning: AnyLearning) -> Learner:
    """A learner that goes on from trained weights, its clock at 0."""
    if isinstance(learning, LogLinear):
        return LogLinearLearner.from_trained(tables, learning)
    return _restricted(Perceptron.from_trained(tables, learning))


def _restricted(learner: Perceptron) -> Perceptron:
    """Keep to the features that there are, if they were chosen by their counts."""
    if learner.settings.min_count > 1:
        for table in learner.tables:
            table.close()
    return learner
