"""Trainers of label chains, by the settings of their learners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from spacy_structreg.learn.corrector import Corrector
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.log_linear import LogLinearLearner
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.chain import ChainFeatures
from spacy_structreg.training.chain import ChainTrainer
from spacy_structreg.training.log_linear import LogLinearTrainer

_TRAINERS: Final[dict[type[Learner], Callable[..., ChainTrainer | LogLinearTrainer]]] = {
    Perceptron: ChainTrainer,
    Corrector: ChainTrainer,
    LogLinearLearner: LogLinearTrainer,
}


def new_chain_trainer(
    features: ChainFeatures, graph: LabelGraph, learner: Learner
) -> ChainTrainer | LogLinearTrainer:
    """The trainer of chains that a learner needs. Raises ValueError if they do not fit."""
    return _TRAINERS[type(learner)](features, graph, learner)
