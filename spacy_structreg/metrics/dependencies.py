"""Figures of dependency trees: on gold words, and of words, tags and trees of raw text.

On gold words, those of Zhang and Clark 2011 ("Syntactic processing using the generalized perceptron
and beam search", section 5.3) and of the CoNLL-X shared task, each with and without punctuation. Of
raw text, those of the CoNLL 2018 shared task (Zeman et al. 2018, section 5): a word is right when a
gold word has the same first and last character, and its head when the head is right in this sense
and stands where the gold head does. Labels are compared whole, subtypes included.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Protocol

from spacy_structreg.metrics.segmentation import (
    SegmentationScorer,
    SegmentationScores,
    paired,
    ratio,
    word_ends,
)

__all__ = [
    "ArcCounts",
    "Arcs",
    "LabelScores",
    "ParsedSentence",
    "ParsingScorer",
    "ParsingScores",
    "TextArcCounts",
    "TextParsingScorer",
    "TextParsingScores",
    "is_punctuation",
    "score_parses",
]

ROOT = -1


class Arcs(Protocol):
    """A tree: the index of each word's head, -1 for a root, and the label of each word.

    A head or a label is None where it is not known. `corpora.dependencies.Parse` is one.
    """

    @property
    def heads(self) -> Sequence[int | None]: ...
    @property
    def labels(self) -> Sequence[str | None]: ...


class ParsedSentence(Arcs, Protocol):
    """Tagged words and the tree over them, such as `corpora.sentence.Sentence`."""

    @property
    def words(self) -> Sequence[str]: ...
    @property
    def tags(self) -> Sequence[str]: ...


@lru_cache(maxsize=1 << 14)
def is_punctuation(word: str) -> bool:
    """True if all characters of a word are punctuation or symbols (Unicode categories P and S)."""
    return all(unicodedata.category(character)[0] in "PS" for character in word)


def _counts(word: str, tag: str, punctuation: AbstractSet[str] | None) -> bool:
    """True if a word is none of punctuation."""
    return not is_punctuation(word) if punctuation is None else tag not in punctuation


@dataclass(frozen=True, slots=True)
class LabelScores:
    """Counts of words with one label, and their figures, as fractions of 1 (None without any).

    gold, predicted: words that bear the label. correct: those in both, with the right head.
    """

    gold: int
    predicted: int
    correct: int

    @property
    def dep_p(self) -> float | None:
        """Precision: correct / predicted."""
        return ratio(self.correct, self.predicted)

    @property
    def dep_r(self) -> float | None:
        """Recall: correct / gold."""
        return ratio(self.correct, self.gold)

    @property
    def dep_f(self) -> float | None:
        """Harmonic mean of precision and recall."""
        return ratio(2 * self.correct, self.gold + self.predicted)


@dataclass(frozen=True)
class ArcCounts:
    """Counts of words by what is right of them, with or without punctuation.

    words: whose gold head is known. heads: those of them with the right head.
    labeled_words: whose gold head and label are known. labels: those of them with both right.
    roots, root_heads: words that are roots in the gold tree; of them, those that are predicted so.
    sentences: with a word that counts. complete: those of them without a wrong head.
    """

    words: int = 0
    heads: int = 0
    labeled_words: int = 0
    labels: int = 0
    roots: int = 0
    root_heads: int = 0
    sentences: int = 0
    complete: int = 0

    def as_dict(self, suffix: str = "") -> dict[str, float | None]:
        """The five figures as fractions of 1; None where nothing was to be counted.

        dep_uas, dep_las: words with the right head; with the right head and label. dep_root: roots
        found. dep_nonroot: other words with the right head. dep_complete: sentences with all heads
        right.
        """
        return {
            f"dep_uas{suffix}": ratio(self.heads, self.words),
            f"dep_las{suffix}": ratio(self.labels, self.labeled_words),
            f"dep_root{suffix}": ratio(self.root_heads, self.roots),
            f"dep_nonroot{suffix}": ratio(self.heads - self.root_heads, self.words - self.roots),
            f"dep_complete{suffix}": ratio(self.complete, self.sentences),
        }


@dataclass(frozen=True)
class ParsingScores:
    """Counts of trees over gold words, and the figures that follow from them.

    all, nopunct: with and without the words that are punctuation.
    by_label: of all words whose gold label is known, in the order of their labels.
    """

    all: ArcCounts
    nopunct: ArcCounts
    by_label: Mapping[str, LabelScores] = field(default_factory=dict)

    def as_dict(self) -> dict[str, float | None]:
        """The figures of `ArcCounts.as_dict`, and again with `_nopunct` behind their keys."""
        return {**self.all.as_dict(), **self.nopunct.as_dict("_nopunct")}


class ParsingScorer:
    """Adds up the counts of one sentence with gold words after the other.

    punctuation: the gold tags that punctuation bears, such as `{"PU"}`; None takes the words that
    `is_punctuation` says.
    """

    def __init__(self, punctuation: AbstractSet[str] | None = None) -> None:
        self._punctuation = punctuation
        self._all: Counter[str] = Counter()
        self._nopunct: Counter[str] = Counter()
        self._gold_labels: Counter[str] = Counter()
        self._predicted_labels: Counter[str] = Counter()
        self._right_labels: Counter[str] = Counter()
        self._sentences = 0

    def add(self, gold: ParsedSentence, predicted: Arcs) -> None:
        """Count one sentence.

        Words whose gold head is not known do not count. Raises ValueError, and counts nothing, when
        the numbers of words and predicted heads differ, naming the sentence (from 0).
        """
        if len(predicted.heads) != len(gold.words):
            raise ValueError(
                f"sentence {self._sentences}: {len(predicted.heads)} heads for {len(gold.words)} "
                "words; predict one for each gold word"
            )
        kept = [
            _counts(word, tag, self._punctuation)
            for word, tag in zip(gold.words, gold.tags, strict=True)
        ]
        self._add_words(self._all, gold, predicted, [True] * len(kept))
        self._add_words(self._nopunct, gold, predicted, kept)
        for index, (head, label) in enumerate(zip(gold.heads, gold.labels, strict=True)):
            if head is None or label is None:
                continue
            found = predicted.labels[index]
            self._gold_labels[label] += 1
            if found is not None:
                self._predicted_labels[found] += 1
            self._right_labels[label] += label == found and head == predicted.heads[index]
        self._sentences += 1

    def _add_words(
        self, counts: Counter[str], gold: ParsedSentence, predicted: Arcs, kept: list[bool]
    ) -> None:
        before = counts["words"], counts["heads"]
        for index, head in enumerate(gold.heads):
            if head is None or not kept[index]:
                continue
            label, right = gold.labels[index], head == predicted.heads[index]
            counts["words"] += 1
            counts["heads"] += right
            counts["roots"] += head == ROOT
            counts["root_heads"] += right and head == ROOT
            if label is not None:
                counts["labeled_words"] += 1
                counts["labels"] += right and label == predicted.labels[index]
        n_words, n_right = counts["words"] - before[0], counts["heads"] - before[1]
        counts["sentences"] += n_words > 0
        counts["complete"] += n_right == n_words > 0

    def scores(self) -> ParsingScores:
        """The counts and figures of all sentences added so far."""
        return ParsingScores(
            ArcCounts(**self._all),
            ArcCounts(**self._nopunct),
            {
                label: LabelScores(
                    self._gold_labels[label],
                    self._predicted_labels[label],
                    self._right_labels[label],
                )
                for label in sorted(self._gold_labels | self._predicted_labels)
            },
        )


def score_parses(
    gold: Iterable[ParsedSentence],
    predicted: Iterable[Arcs],
    *,
    punctuation: AbstractSet[str] | None = None,
) -> ParsingScores:
    """The scores of predicted trees against gold ones, over the same words.

    punctuation: as of `ParsingScorer`. Raises ValueError as `ParsingScorer.add`, and when the
    numbers of sentences differ.
    """
    scorer = ParsingScorer(punctuation)
    for gold_tree, predicted_tree in paired(gold, predicted):
        scorer.add(gold_tree, predicted_tree)
    return scorer.scores()


@dataclass(frozen=True)
class TextArcCounts:
    """Counts of words by what is right of them, with or without punctuation.

    gold, predicted: words in the gold text and in the prediction. tags, heads, labels: words in
    both with the right tag; with the right head; with the right head and label. gold_roots,
    predicted_roots, roots: of gold, predicted and heads, those that are roots there.
    """

    gold: int = 0
    predicted: int = 0
    tags: int = 0
    heads: int = 0
    labels: int = 0
    gold_roots: int = 0
    predicted_roots: int = 0
    roots: int = 0

    def as_dict(self, suffix: str = "") -> dict[str, float | None]:
        """F, the harmonic mean of precision and recall, of tags, heads, and labeled heads.

        nonroot_f: of heads of words that are no roots (Zhang & Clark 2011, section 5.3).
        """
        words = self.gold + self.predicted
        return {
            f"tag_f{suffix}": ratio(2 * self.tags, words),
            f"uas_f{suffix}": ratio(2 * self.heads, words),
            f"las_f{suffix}": ratio(2 * self.labels, words),
            f"nonroot_f{suffix}": ratio(
                2 * (self.heads - self.roots), words - self.gold_roots - self.predicted_roots
            ),
        }


@dataclass(frozen=True)
class TextParsingScores(SegmentationScores):
    """Counts of words, tags and trees of raw text, and the figures that follow, as fractions of 1.

    all, nopunct: with and without the words that are punctuation, of the texts whose gold words all
    have tags and heads. left_out: how many other texts there are. The other counts and figures are
    those of the segmentation alone, of all texts.

    A figure is None where its denominator is 0 or its counts are unknown.
    """

    all: TextArcCounts = field(kw_only=True)
    nopunct: TextArcCounts = field(kw_only=True)
    left_out: int = field(kw_only=True, default=0)

    def as_dict(self) -> dict[str, float | None]:
        """The figures of words, those of `TextArcCounts.as_dict`, and these without punctuation."""
        return {
            **super().as_dict(),
            **self.all.as_dict(),
            **self.nopunct.as_dict("_nopunct"),
        }


@dataclass(frozen=True, slots=True)
class _TextWord:
    """A word of a text by its characters; a head is the span of the head, None for a root."""

    tag: str
    head: tuple[int, int] | None
    label: str | None
    counts: bool


class TextParsingScorer:
    """Adds up the counts of one text after the other.

    vocabulary: the words of the training text; without it the figures on words out of the
    vocabulary are None.
    punctuation: the tags that punctuation bears, in the gold text and in the prediction; None takes
    the words that `is_punctuation` says.
    """

    def __init__(
        self,
        vocabulary: AbstractSet[str] | None = None,
        *,
        punctuation: AbstractSet[str] | None = None,
    ) -> None:
        self._punctuation = punctuation
        self._words = SegmentationScorer(vocabulary)
        self._all: Counter[str] = Counter()
        self._nopunct: Counter[str] = Counter()
        self._left_out = 0

    def add(self, gold: Sequence[ParsedSentence], predicted: Sequence[ParsedSentence]) -> None:
        """Count one text, given as its gold and its predicted sentences, however many.

        If a gold word has no tag or no head, the text counts for the segmentation alone. Raises
        ValueError, and counts nothing, as `SegmentationScorer.add`, to which a text is a sentence.
        """
        self._words.add(
            [word for sentence in gold for word in sentence.words],
            [word for sentence in predicted for word in sentence.words],
        )
        if any(None in sentence.heads or not all(sentence.tags) for sentence in gold):
            self._left_out += 1
            return
        wanted, found = self._by_span(gold), self._by_span(predicted)
        self._add_words(self._all, wanted, found)
        self._add_words(
            self._nopunct,
            {span: word for span, word in wanted.items() if word.counts},
            {span: word for span, word in found.items() if word.counts},
        )

    def _by_span(self, sentences: Sequence[ParsedSentence]) -> dict[tuple[int, int], _TextWord]:
        """The words of a text by their first character and the one after their last."""
        words: dict[tuple[int, int], _TextWord] = {}
        offset = 0
        for sentence in sentences:
            ends = [offset + end for end in word_ends(sentence.words)]
            spans = list(zip([offset, *ends], ends, strict=False))
            for index, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
                head = sentence.heads[index]
                # A word without a predicted head stands for its own head, which none is in gold.
                at = spans[index if head is None else head] if head != ROOT else None
                words[spans[index]] = _TextWord(
                    tag, at, sentence.labels[index], _counts(word, tag, self._punctuation)
                )
            offset = ends[-1]
        return words

    @staticmethod
    def _add_words(
        counts: Counter[str],
        gold: Mapping[tuple[int, int], _TextWord],
        predicted: Mapping[tuple[int, int], _TextWord],
    ) -> None:
        counts["gold"] += len(gold)
        counts["predicted"] += len(predicted)
        counts["gold_roots"] += sum(word.head is None for word in gold.values())
        counts["predicted_roots"] += sum(word.head is None for word in predicted.values())
        for span, wanted in gold.items():
            if (found := predicted.get(span)) is None:
                continue
            right = wanted.head == found.head
            counts["tags"] += wanted.tag == found.tag
            counts["heads"] += right
            counts["roots"] += right and wanted.head is None
            counts["labels"] += right and wanted.label == found.label

    def scores(self) -> TextParsingScores:
        """The counts and figures of all texts added so far."""
        return TextParsingScores(
            **asdict(self._words.scores()),
            all=TextArcCounts(**self._all),
            nopunct=TextArcCounts(**self._nopunct),
            left_out=self._left_out,
        )
