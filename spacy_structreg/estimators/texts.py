"""What estimators share that read raw text: segmenters, and those that tag as well."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from heapq import nlargest
from itertools import chain
from operator import itemgetter
from typing import Literal, TypeAlias, TypeVar

from spacy_structreg.corpora.sentences import sentence_ends
from spacy_structreg.estimators.base import Estimator
from spacy_structreg.estimators.decoders import DecoderPool, OutputT
from spacy_structreg.estimators.epochs import ScoresT
from spacy_structreg.estimators.gold import SEGMENTED, TAGGED, GoldT, TaggedWords, Words
from spacy_structreg.estimators.protocols import DecoderT
from spacy_structreg.metrics.joint import JointScores, score_joint
from spacy_structreg.metrics.segmentation import SegmentationScores, score_segmentation

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
        """Hook: the words of each text."""

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
        return _stream(texts, self._decoders(), self._segment, n_threads)

    def _examples(self, sentence: GoldT) -> Sequence[GoldT]:
        squeezed: GoldT = self.GOLD.squeezed(sentence)
        return self.GOLD.split(squeezed) if self.sentences == "punctuation" else [squeezed]

    def _sentence_ends(self, text: str) -> list[int]:
        if self.sentences == "punctuation":
            return sentence_ends(text)
        return [len(text)] if text else []

    def _sentences_of(self, text: str) -> list[str]:
        """The sentences of a text, at least one."""
        ends = self._sentence_ends(text) or [0]
        return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


class BaseSegmenter(TextEstimator[Words, DecoderT, SegmentationScores]):
    """A text estimator whose gold sentences are lists of words."""

    NOUN = "segmenter"
    GOLD = SEGMENTED
    PRIMARY = "seg_f"

    @abstractmethod
    def _nbest(self, decoder: DecoderT, sentence: str, n: int) -> list[tuple[float, list[str]]]:
        """Hook: the n best segmentations of a sentence, best first, with their scores."""

    def nbest(self, text: str, n: int) -> list[tuple[float, list[str]]]:
        """The `n` best segmentations, best first, each with its score; fewer if there are fewer.

        The score is the sum of the weights of all features. Raises ValueError if n < 1, or if the
        segmenter has not been trained.
        """
        with self._decoders().borrow() as decoder:
            sentences = self._sentences_of(str(text))
            return _join_nbest((self._nbest(decoder, each, n) for each in sentences), n)

    def _score(
        self,
        gold: list[Words],
        decoders: DecoderPool[DecoderT],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> SegmentationScores:
        squeezed = list(map(self.GOLD.squeezed, gold))
        predicted = _stream(map("".join, squeezed), decoders, self._segment, n_threads)
        return score_segmentation(squeezed, predicted, vocabulary)


class BaseJointTagger(TextEstimator[TaggedWords, DecoderT, JointScores]):
    """A text estimator that tags as well; gold sentences are lists of (word, tag) pairs."""

    NOUN = "tagger"
    GOLD = TAGGED
    PRIMARY = "joint_f"

    @abstractmethod
    def _tag(self, decoder: DecoderT, texts: list[str]) -> list[list[tuple[str, str]]]:
        """Hook: the words of each text, with their tags."""

    @abstractmethod
    def _nbest(
        self, decoder: DecoderT, sentence: str, n: int
    ) -> list[tuple[float, list[tuple[str, str]]]]:
        """Hook: the n best analyses of a sentence, best first, with their scores."""

    def predict_tagged(self, text: str) -> list[tuple[str, str]]:
        """The words of a text, as `predict` gives them, with their tags."""
        with self._decoders().borrow() as decoder:
            return self._tag(decoder, [str(text)])[0]

    def predict_tagged_stream(
        self, texts: Iterable[str], *, n_threads: int = 1
    ) -> Iterator[list[tuple[str, str]]]:
        """As `predict_tagged`, for any number of texts in bounded memory, in their order."""
        return _stream(texts, self._decoders(), self._tag, n_threads)

    def nbest(self, text: str, n: int) -> list[tuple[float, list[tuple[str, str]]]]:
        """The `n` best analyses, best first, each with its score; fewer if there are fewer.

        The score is the sum of the weights of all features. Raises ValueError if n < 1, or if the
        tagger has not been trained.
        """
        with self._decoders().borrow() as decoder:
            sentences = self._sentences_of(str(text))
            return _join_nbest((self._nbest(decoder, each, n) for each in sentences), n)

    def _segment(self, decoder: DecoderT, texts: list[str]) -> list[list[str]]:
        return [[word for word, _ in tagged] for tagged in self._tag(decoder, texts)]

    def _score(
        self,
        gold: list[TaggedWords],
        decoders: DecoderPool[DecoderT],
        vocabulary: AbstractSet[str] | None,
        n_threads: int,
    ) -> JointScores:
        squeezed = list(map(self.GOLD.squeezed, gold))
        texts = ("".join(word for word, _ in sentence) for sentence in squeezed)
        predicted = _stream(texts, decoders, self._tag, n_threads)
        return score_joint(squeezed, predicted, vocabulary)


def checked_sentences(value: Sentences) -> Sentences:
    """The setting `sentences`. Raises ValueError if it is none."""
    if value not in ("punctuation", "doc"):
        raise ValueError(f"sentences is {value!r}; choose 'punctuation' or 'doc'")
    return value


def _stream(
    texts: Iterable[str],
    decoders: DecoderPool[DecoderT],
    decode: Callable[[DecoderT, list[str]], list[OutputT]],
    n_threads: int,
) -> Iterator[OutputT]:
    def decode_any(decoder: DecoderT, portion: list[str]) -> list[OutputT]:
        # Subclasses of str, such as numpy's, are not what compiled code takes.
        return decode(decoder, list(map(str, portion)))

    return decoders.stream(texts, decode_any, size=len, n_threads=n_threads)


def _join_nbest(
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
