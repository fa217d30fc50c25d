"""Figures of labeled spans (named entities, chunks), as the scorer of the CoNLL tasks counts them.

A predicted span is right when a gold span has the same first token, last token and label (Tjong Kim
Sang and Buchholz 2000, "Introduction to the CoNLL-2000 shared task: chunking", section 4; the
script `conlleval`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from spacy_structreg.corpora.labeling import BIO, OUTSIDE, Place, Span, join_places, split_label
from spacy_structreg.metrics.segmentation import paired, ratio

__all__ = [
    "SpanCounts",
    "SpanScorer",
    "SpanScores",
    "score_spans",
]


@dataclass(frozen=True)
class SpanCounts:
    """Counts of spans, and the figures that follow from them, as fractions of 1.

    gold, predicted, correct: spans in the gold labels, in the prediction, and in both.

    A figure is None where its denominator is 0.
    """

    gold: int
    predicted: int
    correct: int

    @property
    def ents_p(self) -> float | None:
        """Precision: correct / predicted spans."""
        return ratio(self.correct, self.predicted)

    @property
    def ents_r(self) -> float | None:
        """Recall: correct / gold spans."""
        return ratio(self.correct, self.gold)

    @property
    def ents_f(self) -> float | None:
        """Harmonic mean of precision and recall; 0 when no span is right."""
        return ratio(2 * self.correct, self.gold + self.predicted)

    def as_prf(self) -> dict[str, float | None]:
        """The three figures under the keys p, r and f, as spaCy reports them of each label."""
        return {"p": self.ents_p, "r": self.ents_r, "f": self.ents_f}


@dataclass(frozen=True)
class SpanScores(SpanCounts):
    """Counts of spans and tokens, and the figures that follow from them, as fractions of 1.

    tokens, correct_tokens: all tokens, and those whose predicted label is the gold one.
    by_label: the counts of the spans of each label, sorted by label.

    A figure is None where its denominator is 0.
    """

    tokens: int = field(kw_only=True)
    correct_tokens: int = field(kw_only=True)
    by_label: Mapping[str, SpanCounts] = field(kw_only=True)

    @property
    def label_acc(self) -> float | None:
        """Tokens with the right label / tokens."""
        return ratio(self.correct_tokens, self.tokens)

    @property
    def ents_per_type(self) -> dict[str, dict[str, float | None]]:
        """Precision, recall and F of the spans of each label, under the keys p, r and f."""
        return {label: counts.as_prf() for label, counts in self.by_label.items()}

    def as_dict(self) -> dict[str, float | None]:
        """The four figures of all spans under the keys that all reports of the package use."""
        return {
            "ents_p": self.ents_p,
            "ents_r": self.ents_r,
            "ents_f": self.ents_f,
            "label_acc": self.label_acc,
        }


class SpanScorer:
    """Adds up the counts of one sentence after the other."""

    def __init__(self) -> None:
        self._sentences = self._tokens = self._correct_tokens = 0
        self._gold: Counter[str] = Counter()
        self._predicted: Counter[str] = Counter()
        self._correct: Counter[str] = Counter()

    def add(self, gold: Sequence[str], predicted: Sequence[str]) -> None:
        """Count one sentence: the gold and the predicted label of each token, in BIO.

        In both, an `I-X` that follows no `B-X` or `I-X` begins a span, as `conlleval` has it; so
        labels in IOB1 are counted rightly, too. `corpora.labeling.convert` makes BIO of other
        schemes. Raises ValueError, and counts nothing, when the numbers of labels differ and for
        labels that are not of BIO, naming the sentence (from 0).
        """
        if len(gold) != len(predicted):
            raise ValueError(
                f"sentence {self._sentences}: {len(predicted)} predicted labels for {len(gold)} "
                "tokens; predict one for each token"
            )
        try:
            gold_spans, predicted_spans = (
                join_places(split_label(label, BIO) for label in labels)
                for labels in (gold, predicted)
            )
        except ValueError as error:
            raise ValueError(f"sentence {self._sentences}: {error}") from error
        self._count(gold_spans, predicted_spans, gold, predicted)

    def add_spans(self, gold: Iterable[Span], predicted: Iterable[Span], n: int) -> None:
        """Count the spans of one sentence of `n` tokens; predicted and gold ones may overlap.

        A token counts as what it is in the first of the spans that it is in.
        """
        gold, predicted = set(gold), set(predicted)
        self._count(gold, predicted, _places(gold, n), _places(predicted, n))

    def _count(
        self,
        gold: Collection[Span],
        predicted: Collection[Span],
        gold_tokens: Sequence[object],
        predicted_tokens: Sequence[object],
    ) -> None:
        self._gold.update(label for *_, label in gold)
        self._predicted.update(label for *_, label in predicted)
        self._correct.update(label for *_, label in {*gold} & {*predicted})
        self._tokens += len(gold_tokens)
        tokens = zip(gold_tokens, predicted_tokens, strict=True)
        self._correct_tokens += sum(x == y for x, y in tokens)
        self._sentences += 1

    def scores(self) -> SpanScores:
        """The counts and figures of all sentences added so far."""
        return SpanScores(
            gold=self._gold.total(),
            predicted=self._predicted.total(),
            correct=self._correct.total(),
            tokens=self._tokens,
            correct_tokens=self._correct_tokens,
            by_label=MappingProxyType(
                {
                    label: SpanCounts(
                        self._gold[label], self._predicted[label], self._correct[label]
                    )
                    for label in sorted({*self._gold, *self._predicted})
                }
            ),
        )


def score_spans(gold: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> SpanScores:
    """The scores of predicted against gold sentences, each a list of labels in BIO.

    Raises ValueError as `SpanScorer.add`, and when the numbers of sentences differ.
    """
    scorer = SpanScorer()
    for gold_labels, predicted_labels in paired(gold, predicted):
        scorer.add(gold_labels, predicted_labels)
    return scorer.scores()


def _places(spans: Iterable[Span], n: int) -> list[Place]:
    """The place of each token in the first of the spans that it is in."""
    places: list[Place] = [(OUTSIDE, "")] * n
    last_end = 0
    for begin, end, label in sorted(spans):
        for i in range(max(begin, last_end), end):
            places[i] = ("B" if i == begin else "I", label)
        last_end = max(end, last_end)
    return places
