"""Figures of word segmentation, as the scorer of the SIGHAN bakeoffs defines them.

A predicted word is right when a gold word has the same first and last character (Emerson 2005,
"The Second International Chinese Word Segmentation Bakeoff"). The bakeoff's script aligns the two
lists of words with `diff`; counting spans gives the figures without its ties.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import zip_longest
from typing import Final, TypeVar

from spacy_structreg.metrics.figures import Figure, FigureTable, Scores

OF_VOCABULARY: Final = ("oov", "oov_correct")
"""Names of the counts of items out of the vocabulary."""

T = TypeVar("T")
S = TypeVar("S")


SEGMENTATION_FIGURES: Final = FigureTable(
    (
        Figure(
            "seg_p",
            "correct",
            "predicted",
            "precision of words: a word is right if a gold word has the same first and last "
            "character",
        ),
        Figure("seg_r", "correct", "gold", "recall of words"),
        Figure("seg_f", "correct", ("gold", "predicted"), "F of words, as of the SIGHAN bakeoffs"),
        Figure(
            "oov_rate", "oov", "gold", "share of gold words that are not in the training corpus"
        ),
        Figure(
            "oov_r", "oov_correct", "oov", "recall of words that are not in the training corpus"
        ),
        Figure(
            "iv_r",
            "correct - oov_correct",
            "gold - oov",
            "recall of words that are in the training corpus",
        ),
    ),
    main=("seg_f",),
)
"""Figures of words.

Counts: gold, predicted, correct: words in the gold text, in the prediction, and in both. oov,
oov_correct: gold words that are not in the vocabulary of the training text, and how many of them
were found; unknown when no vocabulary was given.
"""


class SegmentationScorer:
    """Adds up the counts of one sentence after the other.

    vocabulary: the words of the training text; without it the figures on words out of the
    vocabulary are None.
    """

    def __init__(self, vocabulary: AbstractSet[str] | None = None) -> None:
        self.vocabulary = vocabulary
        self._sentences = 0
        names = ("gold", "predicted", "correct", *(() if vocabulary is None else OF_VOCABULARY))
        self._counts = dict.fromkeys(names, 0)

    def add(self, gold: Sequence[str], predicted: Sequence[str]) -> None:
        """Count one sentence, given as two lists of words over the same characters.

        White space is a character like any other; leave words of white space out beforehand if
        they are not to count. Raises ValueError, and counts nothing, for empty words and for
        different characters, naming the sentence (from 0) and the first offset that differs.
        """
        self._check(gold, predicted)
        counts = self._counts
        predicted_ends = word_ends(predicted)
        # A word is a span, and a span is right when its end and the end before it are both in the
        # prediction with nothing between; the map from end to start says so in one look-up.
        starts = dict(zip(predicted_ends, [0, *predicted_ends], strict=False))
        start = 0
        for word in gold:
            end = start + len(word)
            right = starts.get(end) == start
            counts["correct"] += right
            if self.vocabulary is not None and word not in self.vocabulary:
                counts["oov"] += 1
                counts["oov_correct"] += right
            start = end
        counts["gold"] += len(gold)
        counts["predicted"] += len(predicted)
        self._sentences += 1

    def scores(self) -> Scores:
        """The counts and figures of all sentences added so far."""
        return Scores(SEGMENTATION_FIGURES, dict(self._counts))

    def _check(self, gold: Sequence[str], predicted: Sequence[str]) -> None:
        if "" in gold or "" in predicted:
            raise ValueError(f"sentence {self._sentences}: a word is empty; leave empty words out")
        gold_text, predicted_text = "".join(gold), "".join(predicted)
        if gold_text != predicted_text:
            pairs = enumerate(zip_longest(gold_text, predicted_text))
            offset, (wanted, given) = next((i, pair) for i, pair in pairs if pair[0] != pair[1])
            raise ValueError(
                f"sentence {self._sentences}: gold and prediction differ at character offset "
                f"{offset} ({_shown(wanted)} and {_shown(given)}); score a segmentation of the "
                "same text"
            )


def score_segmentation(
    gold: Iterable[Sequence[str]],
    predicted: Iterable[Sequence[str]],
    vocabulary: AbstractSet[str] | None = None,
) -> Scores:
    """The scores of predicted against gold sentences, each a list of words.

    Raises ValueError as `SegmentationScorer.add`, and when the numbers of sentences differ.
    """
    scorer = SegmentationScorer(vocabulary)
    for gold_words, predicted_words in paired(gold, predicted):
        scorer.add(gold_words, predicted_words)
    return scorer.scores()


def count_crossed(gold: Sequence[str], predicted: Sequence[str]) -> int:
    """The number of gold words that a predicted word crosses: neither holds the other whole.

    Standards of words differ in how they divide a word or join two; a word that crosses another
    is wrong by all of them. gold, predicted: two lists of words over the same characters.
    """
    ends = word_ends(predicted)
    starts = {0, *ends}
    count, begin = 0, 0
    for word in gold:
        end = begin + len(word)
        # The predicted words in which the gold word begins and ends.
        first, last = bisect_right(ends, begin), bisect_left(ends, end)
        count += first != last and (begin not in starts or end != ends[last])
        begin = end
    return count


def paired(gold: Iterable[T], predicted: Iterable[S]) -> Iterator[tuple[T, S]]:
    """Yield gold and predicted sentences in pairs; raise ValueError for unequal lengths."""
    for index, (wanted, found) in enumerate(zip_longest(gold, predicted)):
        if wanted is None or found is None:
            shorter = "gold" if wanted is None else "prediction"
            raise ValueError(f"the {shorter} ends after {index} sentences, the other goes on")
        yield wanted, found


def word_ends(words: Sequence[str]) -> list[int]:
    """The character offset at which each word of a sentence ends."""
    ends, end = [], 0
    for word in words:
        end += len(word)
        ends.append(end)
    return ends


def _shown(character: str | None) -> str:
    return "end of text" if character is None else repr(character)
