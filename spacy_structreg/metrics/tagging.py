"""Accuracy of tags on gold words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, TypeAlias

from spacy_structreg.metrics.figures import Figure, FigureTable, Scores
from spacy_structreg.metrics.segmentation import OF_VOCABULARY, paired

TagKind: TypeAlias = Literal["tag", "pos"]
"""Tags of a corpus, or its universal ones."""


def tagging_figures(kind: TagKind = "tag") -> FigureTable:
    """The figures of the tags of given words.

    Counts: words, correct: words with a gold tag, and how many of them have it in the prediction.
    oov, oov_correct: those of them that are not in the vocabulary of the training text; unknown
    when no vocabulary was given.
    """
    tag = "tag" if kind == "tag" else "universal tag"
    oov = f"share with the right {tag} of given words that are not in the training corpus"
    iv = f"share with the right {tag} of given words that are in the training corpus"
    return FigureTable(
        (
            Figure(f"{kind}_acc", "correct", "words", f"share of given words with the right {tag}"),
            Figure(f"oov_{kind}_acc", "oov_correct", "oov", oov),
            Figure(f"iv_{kind}_acc", "correct - oov_correct", "words - oov", iv),
        ),
        main=(f"{kind}_acc",),
    )


class TaggingScorer:
    """Adds up the counts of one sentence after the other.

    vocabulary: the words of the training text; without it the figures on words out of the
    vocabulary are None. kind: of the tags, for the keys of figures.
    """

    def __init__(self, vocabulary: AbstractSet[str] | None = None, kind: TagKind = "tag") -> None:
        self.vocabulary = vocabulary
        self._kind = kind
        self._sentences = 0
        names = ("words", "correct", *(() if vocabulary is None else OF_VOCABULARY))
        self._counts = dict.fromkeys(names, 0)

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
        counts = self._counts
        for (word, tag), predicted_tag in zip(gold, predicted, strict=True):
            if not tag:
                continue
            right = tag == predicted_tag
            counts["words"] += 1
            counts["correct"] += right
            if self.vocabulary is not None and word not in self.vocabulary:
                counts["oov"] += 1
                counts["oov_correct"] += right
        self._sentences += 1

    def scores(self) -> Scores:
        """The counts and figures of all sentences added so far."""
        return Scores(tagging_figures(self._kind), dict(self._counts))


def score_tagging(
    gold: Iterable[Sequence[tuple[str, str]]],
    predicted: Iterable[Sequence[str]],
    vocabulary: AbstractSet[str] | None = None,
) -> Scores:
    """The scores of predicted tags against gold sentences, each a list of (word, tag).

    Raises ValueError as `TaggingScorer.add`, and when the numbers of sentences differ.
    """
    scorer = TaggingScorer(vocabulary)
    for pairs, tags in paired(gold, predicted):
        scorer.add(pairs, tags)
    return scorer.scores()
