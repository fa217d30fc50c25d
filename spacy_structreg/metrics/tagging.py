"""Accuracy of tags on gold words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from spacy_structreg.metrics.segmentation import paired, ratio

__all__ = ["TaggingScorer", "TaggingScores", "score_tagging"]


@dataclass(frozen=True)
class TaggingScores:
    """Counts of words, and the figures that follow from them, as fractions of 1.

    words, correct: words with a gold tag, and how many of them have that tag in the prediction.
    oov, oov_correct: those of them that are not in the vocabulary of the training text; None when
    no vocabulary was given.

    A figure is None where its denominator is 0 or its counts are unknown.
    """

    words: int
    correct: int
    oov: int | None = None
    oov_correct: int | None = None

    @property
    def tag_acc(self) -> float | None:
        """Words with the right tag / words."""
        return ratio(self.correct, self.words)

    @property
    def oov_tag_acc(self) -> float | None:
        """The same, for words that are out of the vocabulary."""
        if self.oov is None or self.oov_correct is None:
            return None
        return ratio(self.oov_correct, self.oov)

    @property
    def iv_tag_acc(self) -> float | None:
        """The same, for words that are in the vocabulary."""
        if self.oov is None or self.oov_correct is None:
            return None
        return ratio(self.correct - self.oov_correct, self.words - self.oov)

    def as_dict(self) -> dict[str, float | None]:
        """The three figures under the keys that all reports of the package use."""
        return {
            "tag_acc": self.tag_acc,
            "oov_tag_acc": self.oov_tag_acc,
            "iv_tag_acc": self.iv_tag_acc,
        }


class TaggingScorer:
    """Adds up the counts of one sentence after the other.

    vocabulary: the words of the training text; without it the figures on words out of the
    vocabulary are None.
    """

    def __init__(self, vocabulary: AbstractSet[str] | None = None) -> None:
        self.vocabulary = vocabulary
        self._sentences = self._words = self._correct = self._oov = self._oov_correct = 0

    def add(self, gold: Sequence[tuple[str, str]], predicted: Sequence[str]) -> None:
        """Count one sentence: the gold (word, tag) pairs, and a predicted tag for each word.

        Words whose gold tag is empty do not count: nobody knows their tag. Raises ValueError, and
        counts nothing, when the numbers of words and tags differ, naming the sentence (from 0).
        """
        if len(gold) != len(predicted):
            raise ValueError(
                f"sentence {self._sentences}: {len(predicted)} tags for {len(gold)} words; predict "
                "one for each gold word"
            )
        for (word, tag), predicted_tag in zip(gold, predicted, strict=True):
            if not tag:
                continue
            right = tag == predicted_tag
            self._words += 1
            self._correct += right
            if self.vocabulary is not None and word not in self.vocabulary:
                self._oov += 1
                self._oov_correct += right
        self._sentences += 1

    def scores(self) -> TaggingScores:
        """The counts and figures of all sentences added so far."""
        known = self.vocabulary is not None
        return TaggingScores(
            words=self._words,
            correct=self._correct,
            oov=self._oov if known else None,
            oov_correct=self._oov_correct if known else None,
        )


def score_tagging(
    gold: Iterable[Sequence[tuple[str, str]]],
    predicted: Iterable[Sequence[str]],
    vocabulary: AbstractSet[str] | None = None,
) -> TaggingScores:
    """The scores of predicted tags against gold sentences, each a list of (word, tag).

    Raises ValueError as `TaggingScorer.add`, and when the numbers of sentences differ.
    """
    scorer = TaggingScorer(vocabulary)
    for pairs, tags in paired(gold, predicted):
        scorer.add(pairs, tags)
    return scorer.scores()
