"""Figures of joint word segmentation and tagging.

A predicted word counts as segmented right when a gold word has the same first and last character,
and as right altogether when its tag is that of the gold word as well (Zhang and Clark 2008, "Joint
word segmentation and POS tagging using a single perceptron", section 5). A character has the tag of
its word: the accuracy by character, which Zhang and Clark 2011 take from Ng and Low 2004, says
nothing about where words begin and end.
"""

from __future__ import annotations

import operator
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

    joint_gold, joint_predicted: words in the gold text and in the prediction, of the sentences
    whose gold words all have tags. joint_correct: words in both, with the same tag.
    joint_characters: characters of these sentences. joint_correct_characters: those of them whose
    word has the same tag in both. left_out: how many other sentences there are. The other counts
    and their figures are those of the segmentation alone, of all sentences.

    A figure is None where its denominator is 0 or its counts are unknown.
    """

    joint_gold: int = field(kw_only=True)
    joint_predicted: int = field(kw_only=True)
    joint_correct: int = field(kw_only=True)
    joint_characters: int = field(kw_only=True)
    joint_correct_characters: int = field(kw_only=True)
    left_out: int = field(kw_only=True, default=0)

    @property
    def joint_p(self) -> float | None:
        """Precision: words right with their tag / predicted words."""
        return ratio(self.joint_correct, self.joint_predicted)

    @property
    def joint_r(self) -> float | None:
        """Recall: words right with their tag / gold words."""
        return ratio(self.joint_correct, self.joint_gold)

    @property
    def joint_f(self) -> float | None:
        """Harmonic mean of joint precision and recall; 0 when no word is right with its tag."""
        return ratio(2 * self.joint_correct, self.joint_gold + self.joint_predicted)

    @property
    def joint_char_acc(self) -> float | None:
        """Accuracy by character: characters whose word has the right tag / characters."""
        return ratio(self.joint_correct_characters, self.joint_characters)

    def as_dict(self) -> dict[str, float | None]:
        """The ten figures under the keys that all reports of the package use."""
        return {
            **super().as_dict(),
            "joint_p": self.joint_p,
            "joint_r": self.joint_r,
            "joint_f": self.joint_f,
            "joint_char_acc": self.joint_char_acc,
        }


class JointScorer:
    """Adds up the counts of one sentence after the other.

    vocabulary: the words of the training text; without it the figures on words out of the
    vocabulary are None.
    """

    def __init__(self, vocabulary: AbstractSet[str] | None = None) -> None:
        self._words = SegmentationScorer(vocabulary)
        self._gold = self._predicted = self._correct = self._left_out = 0
        self._characters = self._correct_characters = 0

    def add(self, gold: Sequence[tuple[str, str]], predicted: Sequence[tuple[str, str]]) -> None:
        """Count one sentence, given as two lists of (word, tag) over the same characters.

        A predicted tag may be empty, for a word that has got none, and is wrong then. If a gold tag
        is empty, which nobody knows then, the sentence counts for the segmentation alone. Raises
        ValueError, and counts nothing, as `SegmentationScorer.add`.
        """
        predicted_words = [word for word, _ in predicted]
        self._words.add([word for word, _ in gold], predicted_words)
        if not all(tag for _, tag in gold):
            self._left_out += 1
            return
        self._gold += len(gold)
        self._predicted += len(predicted)
        ends = word_ends(predicted_words)
        spans = zip([0, *ends], ends, strict=False)
        found = {span: tag for span, (_, tag) in zip(spans, predicted, strict=True)}
        start = 0
        for word, tag in gold:
            end = start + len(word)
            self._correct += found.get((start, end)) == tag
            start = end
        tags, predicted_tags = _tags_of_characters(gold), _tags_of_characters(predicted)
        self._characters += len(tags)
        self._correct_characters += sum(map(operator.eq, tags, predicted_tags))

    def scores(self) -> JointScores:
        """The counts and figures of all sentences added so far."""
        words = self._words.scores()
        return JointScores(
            gold=words.gold,
            predicted=words.predicted,
            correct=words.correct,
            oov=words.oov,
            oov_correct=words.oov_correct,
            joint_gold=self._gold,
            joint_predicted=self._predicted,
            joint_correct=self._correct,
            joint_characters=self._characters,
            joint_correct_characters=self._correct_characters,
            left_out=self._left_out,
        )


def _tags_of_characters(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """The tag of the word of each character."""
    return [tag for word, tag in pairs for _ in word]


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
