"""Figures of labels, and of labeled spans (named entities, chunks) as in the CoNLL tasks.

A predicted span is right when a gold span has the same first token, last token and label (Tjong Kim
Sang and Buchholz 2000, "Introduction to the CoNLL-2000 shared task: chunking", section 4; the
script `conlleval`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from spacy_structreg.corpora.labeling import BIO, OUTSIDE, Place, Span, join_places, split_label
from spacy_structreg.metrics.figures import Figure, FigureTable, Scores, counts_of_labels
from spacy_structreg.metrics.segmentation import paired

_LABEL_ACC: Final = "share of given words with the right label"

SPAN_FIGURES: Final = FigureTable(
    (
        Figure("ents_p", "correct", "predicted", "precision of entities, or spans"),
        Figure("ents_r", "correct", "gold", "recall of entities, or spans"),
        Figure(
            "ents_f",
            "correct",
            ("gold", "predicted"),
            "F of entities, or spans: with the same characters and label",
        ),
        Figure("label_acc", "correct_tokens", "tokens", _LABEL_ACC),
    ),
    main=("ents_f",),
    per_type="ents_per_type",
)
"""Figures of spans. Counts: gold, predicted, correct: spans in the gold labels, in the prediction,
and in both. tokens, correct_tokens: all tokens, and those whose predicted label is the gold one.
By label: its spans.
"""

LABEL_FIGURES: Final = FigureTable(
    (Figure("label_acc", "correct", "total", _LABEL_ACC),), main=("label_acc",)
)
"""The share of labels that are right. Counts: total, correct: labels in all, and those predicted as
they are in the gold corpus. By label: gold, predicted and correct ones.
"""


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

    def scores(self) -> Scores:
        """The counts and figures of all sentences added so far."""
        counts = {
            "gold": self._gold.total(),
            "predicted": self._predicted.total(),
            "correct": self._correct.total(),
            "tokens": self._tokens,
            "correct_tokens": self._correct_tokens,
        }
        by_label = counts_of_labels(self._gold, self._predicted, self._correct)
        return Scores(SPAN_FIGURES, counts, by_label)


def score_spans(gold: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> Scores:
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


def score_labels(gold: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> Scores:
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
    counts = {"total": expected.total(), "correct": right.total()}
    return Scores(LABEL_FIGURES, counts, counts_of_labels(expected, found, right))
