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
from typing import Final

from spacy_structreg.metrics.figures import Figure, FigureTable, Scores
from spacy_structreg.metrics.segmentation import (
    SEGMENTATION_FIGURES,
    SegmentationScorer,
    paired,
    word_ends,
)

JOINT_FIGURES: Final = FigureTable(
    (
        *SEGMENTATION_FIGURES.figures,
        Figure(
            "joint_p",
            "joint_correct",
            "joint_predicted",
            "precision of words that are right with their tag",
        ),
        Figure(
            "joint_r",
            "joint_correct",
            "joint_gold",
            "recall of words that are right with their tag",
        ),
        Figure(
            "joint_f",
            "joint_correct",
            ("joint_gold", "joint_predicted"),
            "F of words that are right with their tag",
        ),
        Figure(
            "joint_char_acc",
            "joint_correct_characters",
            "joint_characters",
            "share of characters whose word has the right tag, wherever words end",
        ),
    ),
    main=("joint_f",),
)
"""Figures of words with their tags, and of words alone. Counts: joint_gold, joint_predicted: words
in the gold text and in the prediction, of the sentences whose gold words all have tags.
joint_correct: words in both, with the same tag. joint_characters: characters of these sentences.
joint_correct_characters: those of them whose word has the same tag in both. left_out: other
sentences. The others are those of `SEGMENTATION_FIGURES`, of all sentences.
"""

_COUNTS: Final = (
    *("joint_gold", "joint_predicted", "joint_correct"),
    *("joint_characters", "joint_correct_characters", "left_out"),
)


class JointScorer:
    """Adds up the counts of one sentence after the other.

    vocabulary: the words of the training text; without it the figures on words out of the
    vocabulary are None.
    """

    def __init__(self, vocabulary: AbstractSet[str] | None = None) -> None:
        self._words = SegmentationScorer(vocabulary)
        self._counts = dict.fromkeys(_COUNTS, 0)

    def add(self, gold: Sequence[tuple[str, str]], predicted: Sequence[tuple[str, str]]) -> None:
        """Count one sentence, given as two lists of (word, tag) over the same characters.

        A predicted tag may be empty, for a word that has got none, and is wrong then. If a gold tag
        is empty, which nobody knows then, the sentence counts for the segmentation alone. Raises
        ValueError, and counts nothing, as `SegmentationScorer.add`.
        """
        predicted_words = [word for word, _ in predicted]
        self._words.add([word for word, _ in gold], predicted_words)
        counts = self._counts
        if not all(tag for _, tag in gold):
            counts["left_out"] += 1
            return
        counts["joint_gold"] += len(gold)
        counts["joint_predicted"] += len(predicted)
        ends = word_ends(predicted_words)
        spans = zip([0, *ends], ends, strict=False)
        found = {span: tag for span, (_, tag) in zip(spans, predicted, strict=True)}
        start = 0
        for word, tag in gold:
            end = start + len(word)
            counts["joint_correct"] += found.get((start, end)) == tag
            start = end
        tags, predicted_tags = _tags_of_characters(gold), _tags_of_characters(predicted)
        counts["joint_characters"] += len(tags)
        counts["joint_correct_characters"] += sum(map(operator.eq, tags, predicted_tags))

    def scores(self) -> Scores:
        """The counts and figures of all sentences added so far."""
        return Scores(JOINT_FIGURES, {**self._words.scores().counts, **self._counts})


def _tags_of_characters(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """The tag of the word of each character."""
    return [tag for word, tag in pairs for _ in word]


def score_joint(
    gold: Iterable[Sequence[tuple[str, str]]],
    predicted: Iterable[Sequence[tuple[str, str]]],
    vocabulary: AbstractSet[str] | None = None,
) -> Scores:
    """The scores of predicted against gold sentences, each a list of (word, tag).

    Raises ValueError as `JointScorer.add`, and when the numbers of sentences differ.
    """
    scorer = JointScorer(vocabulary)
    for gold_pairs, predicted_pairs in paired(gold, predicted):
        scorer.add(gold_pairs, predicted_pairs)
    return scorer.scores()
