"""What the parts of an estimator offer each other, and a tokenizer's model its tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.errors import StrPath
from spacy_structreg.estimators.gold import GoldKind
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.model_file import State
from spacy_structreg.learn.settings import AnyLearning
from spacy_structreg.tasks.user_words import CompiledWords

if TYPE_CHECKING:
    from typing_extensions import Self


class Compiled(Protocol):
    """A training example whose features are rows of a learner's tables."""

    @property
    def lineage(self) -> object:
        """Of the learner whose rows these are."""
        ...

    @property
    def n_rows_known(self) -> int:
        """How many rows the learner had when the example was compiled."""
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


class Decoder(Protocol):
    """Predicts by one set of weights; belongs to one thread at a time."""

    @property
    def capacity(self) -> int:
        """For how many characters, or tokens, it keeps working memory."""
        ...


DecoderT = TypeVar("DecoderT", bound=Decoder)


class Scores(Protocol):
    """The figures of an evaluation."""

    def as_dict(self) -> dict[str, float | None]:
        """The figures as fractions of 1, by the names that all reports use."""
        ...


class Report(Protocol):
    """What `cli` reads of an epoch's report (`epochs.EpochReport`)."""

    @property
    def model(self) -> int: ...

    @property
    def epoch(self) -> int: ...

    @property
    def primary(self) -> float | None: ...


@runtime_checkable
class TokenizerModel(Protocol):
    """What a tokenizer, and the commands about pipelines, need of a model.

    Gold sentences are lists of words, or, for a model that tags as well, of (word, tag) pairs.
    """

    GOLD: ClassVar[GoldKind[Any]]
    PRIMARY: str
    learning: AnyLearning
    epochs: int
    patience: int | None
    n_models: int
    seed: int

    @property
    def is_trained(self) -> bool: ...

    @property
    def history(self) -> Sequence[Report]: ...

    def fit(
        self,
        sentences: Iterable[Any],
        dev: Iterable[Any] | None = None,
        *,
        n_threads: int = 1,
        progress: bool = False,
        on_epoch: Callable[[Any], None] | None = None,
        on_better: Callable[[Any], None] | None = None,
        checkpoint: StrPath | None = None,
    ) -> Self: ...

    def prepare(self, sentences: Iterable[Any]) -> None: ...

    def compile(self, sentences: Iterable[Any]) -> list[Compiled]: ...

    def owns(self, sentences: Sequence[Compiled]) -> bool: ...

    def learn(self, sentences: Sequence[Compiled]) -> tuple[int, int]: ...

    def predict(self, text: str, user_words: CompiledWords | None = None) -> list[str]: ...

    def predict_stream(
        self,
        texts: Iterable[str],
        *,
        n_threads: int = 1,
        user_words: CompiledWords | None = None,
    ) -> Iterator[list[str]]: ...

    def untrained(self) -> Self: ...

    @classmethod
    def average(cls, models: Sequence[Any], mean: Mean = "nonzero") -> Self: ...

    def to_bytes(self, *, state: State = "trained") -> bytes: ...

    @classmethod
    def from_bytes(cls, data: bytes, *, name: str = "model") -> Self: ...

    def save(self, path: StrPath, *, state: State = "trained") -> None: ...

    @classmethod
    def load(cls, path: StrPath, *, verify: bool = True) -> Self: ...


@runtime_checkable
class TaggingModel(TokenizerModel, Protocol):
    """A tokenizer's model that finds the tags of words as well."""

    def predict_tagged(
        self, text: str, user_words: CompiledWords | None = None
    ) -> list[tuple[str, str]]: ...

    def predict_tagged_stream(
        self,
        texts: Iterable[str],
        *,
        n_threads: int = 1,
        user_words: CompiledWords | None = None,
    ) -> Iterator[list[tuple[str, str]]]: ...
