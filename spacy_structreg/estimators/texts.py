"""What estimators share that read raw text: segmenters, and those that tag as well."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import chain
from operator import itemgetter
from typing import Literal, TypeAlias, TypeVar

from spacy_structreg.corpora.sentences import sentence_ends
from spacy_structreg.estimators.base import Estimator, ScoresT
from spacy_structreg.estimators.decoders import DecoderPool
from spacy_structreg.estimators.gold import GoldT
from spacy_structreg.estimators.protocols import DecoderT

Sentences: TypeAlias = Literal["punctuation", "doc"]

ItemT = TypeVar("ItemT")


class TextEstimator(Estimator[GoldT, DecoderT, ScoresT]):
    """An estimator that finds words in raw text.

    A subclass has the setting `sentences`: ``"punctuation"`` cuts texts into sentences, in training
    as in prediction; ``"doc"`` takes every text as one sentence.
    """

    sentences: Sentences

    @abstractmethod
    def _segment(self, decoder: DecoderT, texts: list[str]) -> list[list[str]]:
        """The words of each text. Hook; threads call it side by side."""

    def predict(self, text: str) -> list[str]:
        """The words of a text, without the white space between them.

        Raises ValueError if the model has not been trained.
        """
        with self._decoders().borrow() as decoder:
            return self._segment(decoder, [str(text)])[0]

    def predict_batch(self, texts: Iterable[str], *, n_threads: int = 1) -> list[list[str]]:
        """The words of each text; threads decode side by side. Raises as `predict`."""
        return list(self.predict_stream(texts, n_threads=n_threads))

    def predict_stream(self, texts: Iterable[str], *, n_threads: int = 1) -> Iterator[list[str]]:
        """As `predict_batch`, for any number of texts in bounded memory, in their order."""
        return self._words(texts, self._decoders(), n_threads)

    def _words(
        self, texts: Iterable[str], decoders: DecoderPool[DecoderT], n_threads: int
    ) -> Iterator[list[str]]:
        return decoders.stream(texts, self._segment_any, size=len, n_threads=n_threads)

    def _segment_any(self, decoder: DecoderT, texts: list[str]) -> list[list[str]]:
        # Subclasses of str, such as numpy's, are not what compiled code takes.
        return self._segment(decoder, list(map(str, texts)))

    def _examples(self, sentence: GoldT) -> Sequence[GoldT]:
        squeezed: GoldT = self.GOLD.squeezed(sentence)
        return self.GOLD.split(squeezed) if self.sentences == "punctuation" else [squeezed]

    def _sentence_ends(self, text: str) -> list[int]:
        if self.sentences == "punctuation":
            return sentence_ends(text)
        return [len(text)] if text else []


def checked_sentences(value: Sentences) -> Sentences:
    """The setting `sentences`. Raises ValueError if it is none."""
    if value not in ("punctuation", "doc"):
        raise ValueError(f"sentences is {value!r}; choose 'punctuation' or 'doc'")
    return value


def join_nbest(
    sentences: Iterable[Sequence[tuple[float, list[ItemT]]]], n: int
) -> list[tuple[float, list[ItemT]]]:
    """The `n` best outputs for a text, best first, from the n best of each of its sentences.

    Scores add up, so that the best of all are sums of the best of each.
    """
    # `steps` keeps, for each sentence, which of the best so far it continues and by which of its
    # own.
    scores = [0.0]
    steps: list[list[tuple[int, list[ItemT]]]] = []
    for sentence in sentences:
        best = nlargest(
            n,
            (
                (score + more, rank, items)
                for rank, score in enumerate(scores)
                for more, items in sentence
            ),
            key=itemgetter(0),
        )
        scores = [score for score, _, _ in best]
        steps.append([(rank, items) for _, rank, items in best])
    outputs = []
    for last, score in enumerate(scores):
        rank = last
        parts = []
        for step in reversed(steps):
            rank, items = step[rank]
            parts.append(items)
        outputs.append((score, list(chain.from_iterable(reversed(parts)))))
    return outputs
