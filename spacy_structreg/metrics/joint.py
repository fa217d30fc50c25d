"""Figures of joint word segmentation and tagging.

A predicted word counts as segmented right when a gold word has the same first and last character,
and as right altogether when its tag is that of the gold word as well (Zhang and Clark 2008, "Joint
word segmentation and POS tagging using a single perceptron", section 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from spacy_structreg.metrics.segmentation import (
    SegmentationScorer,
    SegmentationScores,
    paired,
    ratio,
    word_ends,
)

__all__ = ["JointScorer", "JointScores", "score_joint"]


@dataclass(frozen=True)
class JointScores(SegmentationScores):
    """Counts of words, and the figures that follow from them, as fractions of 1.

    joint_correct: words that are in the gold text and in the prediction, with the same tag. The
    other counts and their figures are those of the segmentation alone.

    A figure is None where its denominator is 0 or its counts are unknown.
    """

    joint_correct: int = field(kw_only=True)

    @property
    def joint_p(self) -> float | None:
        """Precision: words right with their tag / predicted words."""
        return ratio(self.joint_correct, self.predicted)

    @property
    def joint_r(self) -> float | None:
        """Recall: words right with their tag / gold words."""
        return ratio(self.joint_correct, self.gold)

    @property
    def joint_f(self) -> float | None:
        """Harmonic mean of joint precision and recall; 0 when no word is right with its tag."""
        return ratio(2 * self.joint_correct, self.gold + self.predicted)

    def as_dict(self) -> dict[str, float | None]:
        """The nine figures under the keys that all reports of the package use."""
        return {
            **super().as_dict(),
            "joint_p": self.joint_p,
            "joint_r": self.joint_r,
            "joint_f": self.joint_f,
        }


class JointScorer:
    """Adds up the counts of one sentence after the other.

    vocabulary: the words of the training text; without it the figures on words out of the
    vocabulary are None.
    """

    def __init__(self, vocabulary: AbstractSet[str] | None = None) -> None:
        self._words = SegmentationScorer(vocabulary)
        self._sentences = self._correct = 0

    def add(self, gold: Sequence[tuple[str, str]], predicted: Sequence[tuple[str, str]]) -> None:
        """Count one sentence, given as two lists of (word, tag) over the same characters.

        A predicted tag may be empty, for a word that has got none, and is wrong then. Raises
        ValueError, and counts nothing, for an empty gold tag and as `SegmentationScorer.add`,
        naming the sentence (from 0).
        """
        gold_words = [word for word, _ in gold]
        for word, tag in gold:
            if not tag:
                raise ValueError(
                    f"sentence {self._sentences}: the gold word {word!r} has no tag; leave "
                    "sentences without tags out"
                )
        predicted_words = [word for word, _ in predicted]
        self._words.add(gold_words, predicted_words)
        ends = word_ends(predicted_words)
        spans = zip([0, *ends], ends, strict=False)
        found = {span: tag for span, (_, tag) in zip(spans, predicted, strict=True)}
        start = 0
        for word, tag in gold:
            end = start + len(word)
            self._correct += found.get((start, end)) == tag
            start = end
        self._sentences += 1

    def scores(self) -> JointScores:
        """The counts and figures of all sentences added so far."""
        words = self._words.scores()
        return JointScores(
            gold=words.gold,
            predicted=words.predicted,
            correct=words.correct,
            oov=words.oov,
            oov_correct=words.oov_correct,
            joint_correct=self._correct,
        )


def score_joint(
    gold: Iterable[Sequence[tuple[str, str]]],
    predicted: Iterable[Sequence[tuple[str, str]]],
    vocabulary: AbstractSet[str] | None = None,
) -> JointScores:
    """The scores of predicted against gold sentences, each a list of (word, tag).

    Raises ValueError as `JointScorer.add`, and when the numbers of sentences differ.
    """
    scorer = JointScorer(vocabulary)
    for gold_pairs, predicted_pairs in paired(gold, predicted):
        scorer.add(gold_pairs, predicted_pairs)
    return scorer.scores()
