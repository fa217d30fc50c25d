"""Trainers of label chains, by the settings of their learners."""

from __future__ import annotations

from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.log_linear import LogLinearLearner
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.chain import ChainFeatures
from spacy_structreg.training.chain import ChainTrainer
from spacy_structreg.training.log_linear import LogLinearTrainer


def new_chain_trainer(
    features: ChainFeatures, graph: LabelGraph, learner: Learner
) -> ChainTrainer | LogLinearTrainer:
    """The trainer of chains that a learner needs. Raises ValueError if they do not fit."""
    if isinstance(learner, LogLinearLearner):
        return LogLinearTrainer(features, graph, learner)
    if isinstance(learner, Perceptron):
        return ChainTrainer(features, graph, learner)
    raise TypeError(f"chains are not trained by a {type(learner).__name__}")
