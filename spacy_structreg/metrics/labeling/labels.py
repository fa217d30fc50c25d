"""The share of labels that are right, and figures of each label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from spacy_structreg.metrics.labeling.spans import SpanCounts
from spacy_structreg.metrics.segmentation import paired, ratio


@dataclass(frozen=True)
class LabelScores:
    """Counts of labels, and the figures that follow from them, as fractions of 1.

    total, correct: labels in all, and those predicted as they are in the gold corpus.
    by_label: gold, predicted and correct ones of each, sorted.

    A figure is None where its denominator is 0.
    """

    total: int
    correct: int
    by_label: Mapping[str, SpanCounts]

    @property
    def label_acc(self) -> float | None:
        """Correct labels / labels."""
        return ratio(self.correct, self.total)

    def as_dict(self) -> dict[str, float | None]:
        """The figure under the key that all reports of the package use."""
        return {"label_acc": self.label_acc}


def score_labels(gold: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> LabelScores:
    """The scores of predicted against gold sequences, each a list of labels.

    Raises ValueError when the numbers of sequences, or of labels in one, differ.
    """
    expected: Counter[str] = Counter()
    found: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for number, (wanted, given) in enumerate(paired(gold, predicted)):
        if len(wanted) != len(given):
            raise ValueError(
                f"sequence {number}: {len(given)} predicted labels for {len(wanted)} items; "
                "predict one for each item"
            )
        expected.update(wanted)
        found.update(given)
        right.update(x for x, y in zip(wanted, given, strict=True) if x == y)
    return LabelScores(
        total=expected.total(),
        correct=right.total(),
        by_label=MappingProxyType(
            {
                label: SpanCounts(expected[label], found[label], right[label])
                for label in sorted({*expected, *found})
            }
        ),
    )
