"""What the weights of a model are about: its labels and features, and their kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.estimators.gold import GoldT
from spacy_structreg.estimators.protocols import Compiled, DecoderT, Trainer
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.training.chain import cut


class Structure(ABC, Generic[GoldT, DecoderT]):
    """The labels and features of a model, which give its weight rows their meaning.

    A structure never changes, so that threads may share it, and prediction go on by an old one
    while `fit` builds another from its corpus.
    """

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The labels or actions, sorted."""

    @property
    @abstractmethod
    def widths(self) -> tuple[int, ...]:
        """How many columns the rows of each table have."""

    @abstractmethod
    def new_learner(self, learning: Any) -> Learner:
        """A learner that has learnt nothing, by settings that `Estimator.LEARNS` allows."""

    @abstractmethod
    def new_trainer(self, learner: Any) -> Trainer:
        """A trainer of a learner's weights."""

    @abstractmethod
    def new_decoder(self, tables: list[TrainedRows]) -> DecoderT:
        """A decoder by the given weights. Several threads may ask for one at a time.

        Raises ValueError if the weights do not fit the features.
        """

    @abstractmethod
    def compile(self, example: GoldT, learner: Any) -> Compiled | None:
        """A gold example for the trainers of a learner; None if there is nothing in it.

        Raises ValueError if the gold output is none that the labels can express.
        """

    def pieces(
        self, examples: Sequence[Any], mini_sample: float | None, seed: int
    ) -> NDArray[np.int64]:
        """Cut compiled examples into mini-samples of a mean length; None leaves them whole.

        Returns int64 of shape (n, 3), as `training.chain.cut` does.
        """
        return cut(list(map(len, examples)), mini_sample, seed)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """What a model file must hold of the structure besides settings and labels.

        Returns entries of the header, as msgpack gives them back (lists, no tuples), and arrays,
        whose names begin with a letter (`stored.nested` names those of a model within this one).
        Models whose contents differ cannot be averaged.
        """
        return {}, {}
