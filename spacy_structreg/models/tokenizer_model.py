"""Protocols of the models that tokenizers hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.corpora.corpus_options import Sentences
from spacy_structreg.learn.learning_settings import AnyLearning
from spacy_structreg.learn.model_file import State
from spacy_structreg.models.example_schema import ExampleSchema
from spacy_structreg.models.protocols import Compiled, Report
from spacy_structreg.tasks.segmentation.given_spans import AnySpan
from spacy_structreg.tasks.segmentation.user_words import AnyWords, CompiledWords

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.corpora.sentence import Sentence
    from spacy_structreg.learn.model_average import Mean
    from spacy_structreg.models.corrections import Corrections
    from spacy_structreg.models.explanation import Explanation
    from spacy_structreg.models.raw_text import TextAnalysis
    from spacy_structreg.models.search_words import SearchWord


@runtime_checkable
class TokenizerModel(Protocol):
    """The model of a tokenizer, as tokenizers and commands use it.

    Gold sentences are lists of words; for a model that tags as well, of (word, tag) pairs; for one
    that parses, `Sentence`s.
    """

    SCHEMA: ClassVar[ExampleSchema[Any]]
    PRIMARY: str
    learning: AnyLearning
    sentences: Sentences
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

    def correct(self, sentences: Iterable[Any], *, sample: Iterable[Any] = ()) -> Corrections: ...

    def predict_stream(
        self,
        texts: Iterable[str],
        *,
        n_threads: int = 1,
        user_words: AnyWords | None = None,
    ) -> Iterator[list[str]]: ...

    def analyze(
        self,
        text: str,
        user_words: AnyWords | None = None,
        *,
        spans: Iterable[AnySpan] = (),
    ) -> TextAnalysis: ...

    def analyze_stream(
        self,
        texts: Iterable[str],
        *,
        n_threads: int = 1,
        user_words: AnyWords | None = None,
    ) -> Iterator[TextAnalysis]: ...

    def sentence_ends(self, text: str) -> list[int]: ...

    @property
    def can_adapt(self) -> bool: ...

    def adapt(
        self,
        texts: Iterable[str],
        *,
        counts: Iterable[StrPath] = (),
        together: bool = True,
        n_threads: int = 1,
    ) -> Self: ...

    def check_tags(self, words: CompiledWords) -> None: ...

    def seen_words(self, words: CompiledWords | None) -> CompiledWords | None: ...

    def explain(self, text: str, user_words: AnyWords | None = None) -> Explanation: ...

    def predict_margins(
        self, texts: Iterable[str], *, n_threads: int = 1
    ) -> Iterator[list[tuple[str, NDArray[np.float64]]]]: ...

    def nbest(
        self,
        text: str,
        n: int,
        user_words: AnyWords | None = None,
        *,
        spans: Iterable[AnySpan] = (),
    ) -> Sequence[tuple[float, Sequence[Any]]]: ...

    def search_words(
        self, text: str, user_words: AnyWords | None = None, *, n: int = 3
    ) -> list[SearchWord]: ...

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

    @property
    def tags(self) -> tuple[str, ...]: ...

    def predict_tag_scores(
        self, texts: Iterable[str], *, n_threads: int = 1
    ) -> Iterator[list[tuple[str, NDArray[np.float64]]]]: ...

    def predict_tagged_stream(
        self,
        texts: Iterable[str],
        *,
        n_threads: int = 1,
        user_words: AnyWords | None = None,
    ) -> Iterator[list[tuple[str, str]]]: ...


@runtime_checkable
class ParsingModel(TaggingModel, Protocol):
    """A tokenizer's model that finds dependency trees over words as well.

    many_roots: whether it finds the ends of sentences, and learns from texts of several.
    """

    @property
    def many_roots(self) -> bool: ...

    def predict_trees(
        self,
        text: str,
        user_words: AnyWords | None = None,
        *,
        spans: Iterable[AnySpan] = (),
    ) -> Sentence | None: ...
