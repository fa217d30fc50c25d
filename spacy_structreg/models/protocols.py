"""Protocols of the parts of an estimator: compiled examples, trainers, decoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.learn.learner import Learner


class Compiled(Protocol):
    """A training example whose features are rows of a learner's tables."""

    @property
    def numbering(self) -> object:
        """Of the rows; see `learn.learner.Learner`."""
        ...

    @property
    def n_rows_known(self) -> int:
        """Number of rows of the learner when the example was compiled."""
        ...

    def __len__(self) -> int: ...


class Trainer(Protocol):
    """The kernel of one training: a learner, and how it visits compiled examples."""

    @property
    def learner(self) -> Learner: ...

    def epoch(
        self, examples: Sequence[Any], pieces: NDArray[np.int64], noise: int, /
    ) -> tuple[int, int]:
        """Visit the pieces in their order, each example by its number, begin and length.

        Returns how many pieces, and how many labels, were to be corrected.
        """
        ...

    def count(self, examples: Sequence[Any], /) -> list[NDArray[np.int64]]:
        """Count how often each row of each table occurs in examples: arrays of shape (n_rows,)."""
        ...


class Decoder(Protocol):
    """Predicts by one set of weights; belongs to one thread at a time."""

    @property
    def capacity(self) -> int:
        """For how many characters, or tokens, it keeps working memory."""
        ...


DecoderT = TypeVar("DecoderT", bound=Decoder)
