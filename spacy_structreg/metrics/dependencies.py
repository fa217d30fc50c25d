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
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from spacy_structreg.metrics.figures import Figure, FigureTable, Scores, counts_of_labels
from spacy_structreg.metrics.segmentation import (
    SEGMENTATION_FIGURES,
    SegmentationScorer,
    paired,
    word_ends,
)

NO_PUNCTUATION: Final = "_nopunct"
"""The end of keys and names of counts of words that are not punctuation."""

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
    """Return True if a word is not punctuation."""
    return not is_punctuation(word) if punctuation is None else tag not in punctuation


_ON_WORDS: Final = (
    Figure("dep_uas", "heads", "words", "share of given words with the right head"),
    Figure(
        "dep_las", "labels", "labeled_words", "share of given words with the right head and label"
    ),
    Figure(
        "dep_root",
        "root_heads",
        "roots",
        "share of the roots of sentences that are found, of given words",
    ),
    Figure(
        "dep_nonroot",
        "heads - root_heads",
        "words - roots",
        "share of other given words than roots with the right head",
    ),
    Figure(
        "dep_complete",
        "complete",
        "sentences",
        "share of sentences of given words with all heads right",
    ),
)
_ON_TEXT: Final = (
    Figure(
        "tag_f",
        "tags",
        ("arc_gold", "arc_predicted"),
        "F, from raw text, of words that are right with their tag",
    ),
    Figure(
        "uas_f",
        "heads",
        ("arc_gold", "arc_predicted"),
        "F, from raw text, of words that are right with their head",
    ),
    Figure(
        "las_f",
        "labels",
        ("arc_gold", "arc_predicted"),
        "F, from raw text, of words that are right with their head and label",
    ),
    Figure(
        "nonroot_f",
        "heads - roots",
        ("arc_gold - gold_roots", "arc_predicted - predicted_roots"),
        "F, from raw text, of other words than roots that are right with their head",
    ),
)


def _with_punctuation_and_without(figures: tuple[Figure, ...]) -> tuple[Figure, ...]:
    others = (each.with_suffix(NO_PUNCTUATION, "without punctuation") for each in figures)
    return *figures, *others


def _further(figures: tuple[Figure, ...], main: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of figures that are not the main ones, these without punctuation included."""
    return tuple(
        each.key for each in _with_punctuation_and_without(figures) if each.key not in main
    )


PARSING_FIGURES: Final = FigureTable(
    _with_punctuation_and_without(_ON_WORDS),
    main=("dep_las", "dep_uas"),
    further=_further(_ON_WORDS, ("dep_las", "dep_uas")),
    per_type="dep_las_per_type",
)
"""Figures of trees over given words.

Counts, each also without punctuation (``_nopunct``): words:
whose gold head is known. heads: those of them with the right head. labeled_words: whose gold head
and label are known. labels: those of them with both right. roots, root_heads: words that are roots
in the gold tree; of them, those that are predicted so. sentences: with a word that counts.
complete: those of them without a wrong head. By label: words that bear it, of those whose gold
label is known; correct ones have the right head, too.
"""

TEXT_PARSING_FIGURES: Final = FigureTable(
    (*SEGMENTATION_FIGURES.figures, *_with_punctuation_and_without(_ON_TEXT)),
    main=("las_f", "uas_f"),
    further=_further(_ON_TEXT, ("las_f", "uas_f")),
)
"""Figures of words, tags and trees of raw text.

Counts, each also without punctuation (``_nopunct``), of the texts whose gold words all have tags
and heads: arc_gold, arc_predicted: words in the gold text and in the prediction. tags, heads,
labels: words in both with the right tag; with the right head; with the right head and label.
gold_roots, predicted_roots, roots: of arc_gold, arc_predicted and heads, those that are roots
there. left_out: other texts. The others are those of `SEGMENTATION_FIGURES`, of all texts.
"""

_WORD_COUNTS: Final = (
    *("words", "heads", "labeled_words", "labels"),
    *("roots", "root_heads", "sentences", "complete"),
)
_TEXT_COUNTS: Final = (
    *("arc_gold", "arc_predicted", "tags", "heads", "labels"),
    *("gold_roots", "predicted_roots", "roots"),
)


def _zeros(names: Iterable[str]) -> dict[str, int]:
    return {f"{name}{suffix}": 0 for suffix in ("", NO_PUNCTUATION) for name in names}


class ParsingScorer:
    """Adds up the counts of one sentence with gold words after the other.

    punctuation: the gold tags that punctuation bears, such as `{"PU"}`; None takes the words that
    `is_punctuation` says.
    """

    def __init__(self, punctuation: AbstractSet[str] | None = None) -> None:
        self._punctuation = punctuation
        self._counts = _zeros(_WORD_COUNTS)
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
        self._add_words("", gold, predicted, [True] * len(kept))
        self._add_words(NO_PUNCTUATION, gold, predicted, kept)
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
        self, suffix: str, gold: ParsedSentence, predicted: Arcs, kept: list[bool]
    ) -> None:
        counts: Counter[str] = Counter()
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
        counts["sentences"] = counts["words"] > 0
        counts["complete"] = counts["heads"] == counts["words"] > 0
        for name in _WORD_COUNTS:
            self._counts[f"{name}{suffix}"] += counts[name]

    def scores(self) -> Scores:
        """The counts and figures of all sentences added so far."""
        by_label = counts_of_labels(self._gold_labels, self._predicted_labels, self._right_labels)
        return Scores(PARSING_FIGURES, dict(self._counts), by_label)


def score_parses(
    gold: Iterable[ParsedSentence],
    predicted: Iterable[Arcs],
    *,
    punctuation: AbstractSet[str] | None = None,
) -> Scores:
    """The scores of predicted trees against gold ones, over the same words.

    punctuation: as of `ParsingScorer`. Raises ValueError as `ParsingScorer.add`, and when the
    numbers of sentences differ.
    """
    scorer = ParsingScorer(punctuation)
    for gold_tree, predicted_tree in paired(gold, predicted):
        scorer.add(gold_tree, predicted_tree)
    return scorer.scores()


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
        self._counts = _zeros(_TEXT_COUNTS) | {"left_out": 0}

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
            self._counts["left_out"] += 1
            return
        wanted, found = self._by_span(gold), self._by_span(predicted)
        self._add_words("", wanted, found)
        self._add_words(
            NO_PUNCTUATION,
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

    def _add_words(
        self,
        suffix: str,
        gold: Mapping[tuple[int, int], _TextWord],
        predicted: Mapping[tuple[int, int], _TextWord],
    ) -> None:
        counts = Counter(arc_gold=len(gold), arc_predicted=len(predicted))
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
        for name in _TEXT_COUNTS:
            self._counts[f"{name}{suffix}"] += counts[name]

    def scores(self) -> Scores:
        """The counts and figures of all texts added so far."""
        return Scores(TEXT_PARSING_FIGURES, {**self._words.scores().counts, **self._counts})
