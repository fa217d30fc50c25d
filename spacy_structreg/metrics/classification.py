"""Figures of texts of one category each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from spacy_structreg.metrics.figures import Figure, FigureTable, Scores
from spacy_structreg.metrics.labeling import score_labels

CLASSIFICATION_FIGURES: Final = FigureTable(
    (Figure("cats_acc", "correct", "total", "share of texts of the right category"),),
    main=("cats_acc",),
    per_type="cats_f_per_type",
)
"""Figures of texts. Counts: total, correct: texts in all, and those of the right category. By
category: gold, predicted and correct texts. Not of counts is ``cats_macro_f``, the mean of the F of
all categories, each of which counts the same.
"""


def score_classification(gold: Iterable[str], predicted: Iterable[str]) -> Scores:
    """The scores of the predicted against the gold categories of texts.

    Raises ValueError when there are more of one than of the other.
    """
    scores = score_labels([list(gold)], [list(predicted)])
    of_categories = [counts.f or 0.0 for counts in scores.by_label.values()]
    mean = sum(of_categories) / len(of_categories) if of_categories else None
    return replace(scores, table=CLASSIFICATION_FIGURES, other={"cats_macro_f": mean})
