"""The base of specs of label chains, and the memory that the weights of log-linear ones take."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import inf
from typing import Any, Final

from spacy_structreg.features.templates import Atom, Template
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.learning_settings import AnyLearning
from spacy_structreg.models.example_schema import GoldT
from spacy_structreg.models.model_spec import ModelSpec
from spacy_structreg.models.protocols import DecoderT
from spacy_structreg.tasks.chain import ChainFeatures

_WIDE: Final = 64
"""Rows of more columns are those that only a log-linear model keeps whole."""

_BYTES: Final = 16
"""Bytes that a weight takes in training, with its part of the gradient."""


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
