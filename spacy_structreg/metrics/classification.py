"""Figures of texts of one category each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spacy_structreg.metrics.labeling.labels import score_labels
from spacy_structreg.metrics.labeling.spans import SpanCounts
from spacy_structreg.metrics.segmentation import ratio

__all__ = ["ClassificationScores", "score_classification"]


@dataclass(frozen=True)
class ClassificationScores:
    """Counts of texts, and the figures that follow from them, as fractions of 1.

    texts, correct: texts in all, and those predicted to be of their gold category.
    by_category: gold, predicted and correct texts of each category that is gold or predicted
        anywhere, sorted.

    A figure is None where its denominator is 0.
    """

    texts: int
    correct: int
    by_category: Mapping[str, SpanCounts]

    @property
    def cats_acc(self) -> float | None:
        """Correct texts / texts."""
        return ratio(self.correct, self.texts)

    @property
    def cats_macro_f(self) -> float | None:
        """The mean of the F of all categories in `by_category`, each of which counts the same."""
        total = sum(counts.ents_f or 0.0 for counts in self.by_category.values())
        return total / len(self.by_category) if self.by_category else None

    @property
    def cats_f_per_type(self) -> dict[str, dict[str, float | None]]:
        """Precision, recall and F of each category, under the keys p, r and f."""
        return {category: counts.as_prf() for category, counts in self.by_category.items()}

    def as_dict(self) -> dict[str, float | None]:
        """The figures of all texts under the keys that all reports of the package use."""
        return {"cats_acc": self.cats_acc, "cats_macro_f": self.cats_macro_f}


def score_classification(gold: Iterable[str], predicted: Iterable[str]) -> ClassificationScores:
    """The scores of the predicted against the gold categories of texts.

    Raises ValueError when there are more of one than of the other.
    """
    scores = score_labels([list(gold)], [list(predicted)])
    return ClassificationScores(scores.total, scores.correct, scores.by_label)
