"""Label set and feature definition of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.models.example_schema import GoldT
from spacy_structreg.models.protocols import Compiled, DecoderT, Trainer

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.learn.freezing import Bits


class ModelSpec(ABC, Generic[GoldT, DecoderT]):
    """Label set and feature definition of a model, which give its weight rows their meaning.

    A spec never changes, so that threads may share it, and prediction go on by an old one
    while `fit` builds another from its corpus.
    """

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The labels or actions, sorted."""

    @property
    @abstractmethod
    def widths(self) -> tuple[int, ...]:
        """Number of columns of the rows of each table."""

    @abstractmethod
    def new_learner(self, learning: Any) -> Learner:
        """An untrained learner, by settings of learning that the model takes."""

    def check_memory(self, learner: Any, compile_all: Callable[[Learner], object]) -> None:
        """Raise ValueError if a training needs more memory for its weights than there is.

        learner: of the training. compile_all: compiles for a learner what is to be trained on.
        Perceptrons need little more than the corpus has features: nothing is checked.
        """

    @abstractmethod
    def new_trainer(self, learner: Any) -> Trainer:
        """A trainer of a learner's weights."""

    def training_state(self, trainer: Any) -> Arrays:
        """Arrays that a trainer keeps from one epoch to the next besides the learner's weights."""
        return {}

    def resumed_trainer(self, learner: Any, state: Arrays) -> Trainer:
        """A trainer that goes on from a learner's weights and a `training_state`.

        Raises ValueError for a state that cannot be used.
        """
        if state:
            raise ValueError(f"it has an array {min(state)!r} that belongs to nothing")
        return self.new_trainer(learner)

    def new_correction_trainer(self, learner: Any) -> Trainer:
        """A trainer that searches no wider than predictions do, so that what it gets right is."""
        return self.new_trainer(learner)

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

    def unreachable_reason(self, example: GoldT) -> str | None:
        """Say why no weights whatever let decoders find a gold example, where that is known."""
        return None

    def frozen(self, bits: Bits, prune: float) -> Self:
        """The same spec with frozen models in it, where it has any (`StoredModel.freeze`)."""
        return self

    def pieces(
        self, examples: Sequence[Any], mini_sample: float | None, seed: int
    ) -> NDArray[np.int64]:
        """Cut compiled examples into mini-samples of a mean length; None leaves them whole.

        Returns int64 of shape (n, 3), as `training.chain.cut` does.
        """

        from spacy_structreg.training.chain import cut

        return cut(list(map(len, examples)), mini_sample, seed)

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """The part of a model file that holds the spec, but for settings and labels.

        Returns entries of the header, as msgpack gives them back (lists, no tuples), and arrays,
        whose names begin with a letter (`stored_model.nested` names those of a model within it).
        Models whose contents differ cannot be averaged.
        """
        return {}, {}
