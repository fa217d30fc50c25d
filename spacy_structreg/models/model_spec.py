"""The gold sentences, labels and features of a model."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.features.templates import Atom, Template
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.learning_settings import AnyLearning, Learning
from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.models.gold import ExampleSchema, GoldT
from spacy_structreg.models.protocols import Compiled, DecoderT, Trainer
from spacy_structreg.tasks.chain import ChainFeatures

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.features.state_templates import StateTemplate
    from spacy_structreg.learn.freezing import Bits
    from spacy_structreg.learn.perceptron import Perceptron
    from spacy_structreg.search.scorer import StateScorer


Labels: TypeAlias = AbstractSet[str]
"""Labels that there are, whether or not examples have them."""


class StoredSpec(NamedTuple):
    """The part of a model file that holds a spec: its labels, and its `ModelSpec.contents`.

    Only that labels are a list is certain, and that names of arrays are strings.
    """

    labels: list[Any]
    entries: dict[str, Any]
    arrays: Arrays


class ModelSpec(ExampleSchema[GoldT], Generic[GoldT, DecoderT]):
    """Gold sentences, labels and features of a model, which give its weight rows their meaning.

    The class checks gold sentences, before there are labels. A spec never changes, so that threads
    may share it, and prediction go on by an old one while `fit` builds another from its corpus.
    """

    @classmethod
    @abstractmethod
    def of_corpus(
        cls, settings: Any, examples: Iterable[GoldT], extra: Labels
    ) -> ModelSpec[GoldT, DecoderT]:
        """The spec for a training on examples, which `Estimator._examples` gave.

        Only a spec that depends on data needs to read them. settings: of the model, as it has them.
        extra: labels that there are, whether or not the examples have them.

        Raises ValueError if there can be none for them.
        """

    @classmethod
    def of_file(cls, settings: Any, stored: StoredSpec) -> ModelSpec[GoldT, DecoderT]:
        """The spec of a model file. To be overridden where specs depend on data.

        Raises ValueError for what cannot be used. Afterwards labels, columns, entries and the names
        of arrays are held to what the spec says of itself.
        """
        return cls.of_corpus(settings, (), frozenset())

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


_WIDE: Final = 64
"""Rows of more columns are those that only a log-linear model keeps whole."""

_BYTES: Final = 16
"""Bytes that a weight takes in training, with its part of the gradient."""


@dataclass(frozen=True)
class AgendaSpec(ModelSpec[GoldT, DecoderT]):
    """A spec whose features are those of the states of a transition system.

    system: of one thread; trainers and decoders get copies of it.
    """

    settings: Any
    system: Any
    templates: tuple[StateTemplate, ...]

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(self.system.tables.values())

    def new_learner(self, learning: Learning) -> Perceptron:
        from spacy_structreg.learn.perceptron import Perceptron
        from spacy_structreg.learn.rows import TrainingRows

        # A feature of words has seen few of all actions.
        rows = [TrainingRows(width, adaptive=True, **learning.penalties) for width in self.widths]
        return Perceptron(rows, learning)

    def check_templates(self) -> None:
        """Raise ValueError if templates do not go together."""
        from spacy_structreg.learn.rows import TrainingRows

        tables: Any = [TrainingRows(width) for width in self.widths]
        self.new_scorer(tables)

    def new_scorer(self, tables: list[TrainedRows]) -> StateScorer:
        """Scores of actions by the given weights, for one thread."""
        from spacy_structreg.search.scorer import StateScorer

        return StateScorer(self.system.copy(), self.templates, tables)


class ChainSpec(ModelSpec[GoldT, DecoderT]):
    """A spec whose features are those of a label chain."""

    features: ChainFeatures

    @property
    def widths(self) -> tuple[int, ...]:
        return self.features.widths

    def new_learner(self, learning: AnyLearning) -> Learner:
        return self.features.new_learner(learning)

    def check_memory(self, learner: Any, compile_all: Callable[[Learner], object]) -> None:
        from spacy_structreg.learn.log_linear import LogLinearLearner

        if not isinstance(learner, LogLinearLearner) or max(self.widths, default=0) <= _WIDE:
            return
        counted = self.features.new_learner(adaptive=True)
        compile_all(counted)
        sizes = [
            _BYTES * new.n_columns * max(new.n_rows, known.n_rows)
            for new, known in zip(counted.tables, learner.tables, strict=True)
        ]
        if sum(sizes) > (most := _memory()):
            raise ValueError(
                f"a log-linear model keeps the weights of all features with all {len(self.labels)} "
                f"labels, or all pairs of them: {sum(sizes):,} bytes, of which there are {most:,}. "
                f"Most are those of {self._name(sizes.index(max(sizes)))}: leave some out, or "
                "choose the learning of a perceptron, which keeps what is not zero"
            )

    def _name(self, number: int) -> str:
        """The name of the features of a table."""
        features = self.features
        if number < features.n_shapes:
            return f"the templates {features.shapes[number]}"
        if number - features.n_shapes != features.edge_list:
            return "the listed features"
        templates = [
            Template(tuple(Atom(shape.lowest + x.offset, x.name) for x in shape.atoms), True)
            for shape in features.edge_shapes
        ]
        return " | ".join(map(str, templates)) or "the edge features"


def _memory() -> float:
    """Bytes that the process may have; infinite where the system does not say."""
    try:
        import resource
    except ImportError:
        return inf
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return machine if limit == resource.RLIM_INFINITY else min(limit, machine)
