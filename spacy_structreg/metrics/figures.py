"""Tables of figures, and scores: counts, from which the figures of a table follow.

A task has one table. Reports, comparisons of pipelines, the glossary and spaCy's scorers read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple


class Counts(NamedTuple):
    """Counts of items, such as words, and the figures that follow from them, as fractions of 1.

    gold, predicted, correct: items in the gold annotation, in the prediction, and in both. Of a
    share of gold items, `predicted` is `gold`, and `f` that share.

    A figure is None where its denominator is 0.
    """

    gold: int
    predicted: int
    correct: int

    @property
    def p(self) -> float | None:
        """Precision: correct / predicted."""
        return self.correct / self.predicted if self.predicted else None

    @property
    def r(self) -> float | None:
        """Recall: correct / gold."""
        return self.correct / self.gold if self.gold else None

    @property
    def f(self) -> float | None:
        """Harmonic mean of precision and recall; 0 when nothing is correct."""
        whole = self.gold + self.predicted
        return 2 * self.correct / whole if whole else None

    def as_prf(self) -> dict[str, float | None]:
        """The three figures under the keys p, r and f, as spaCy reports them of each label."""
        return {"p": self.p, "r": self.r, "f": self.f}


class Figure(NamedTuple):
    """A figure: its key, the counts that it is made of, and its meaning.

    numerator, denominator: names of counts, or differences of two, as in ``"correct - roots"``.
    Two denominators, of gold and predicted items, make the figure F.
    """

    key: str
    numerator: str
    denominator: str | tuple[str, str]
    meaning: str

    def counts(self, counts: Mapping[str, int]) -> Counts | None:
        """The counts behind the figure, which is their F; None if one of them is unknown."""
        of = self.denominator
        names = (*((of, of) if isinstance(of, str) else of), self.numerator)
        try:
            return Counts(*(_value(counts, name) for name in names))
        except KeyError:
            return None

    def with_suffix(self, suffix: str, meaning: str) -> Figure:
        """Return the figure for other items. suffix: appended to the key and all count names."""

        def renamed(names: str) -> str:
            return " - ".join(f"{name}{suffix}" for name in names.split(" - "))

        of = self.denominator
        return Figure(
            f"{self.key}{suffix}",
            renamed(self.numerator),
            renamed(of) if isinstance(of, str) else (renamed(of[0]), renamed(of[1])),
            f"{self.meaning}; {meaning}",
        )


@dataclass(frozen=True)
class FigureTable:
    """The figures of a task, in the order of reports.

    main: keys of those by which two pipelines are compared, that of the task first. further: keys
    of others that a comparison gives as well. Both are of counts per gold item.
    per_type: the key of the figures of each label, in spaCy's scores; "" for none.
    """

    figures: tuple[Figure, ...]
    main: tuple[str, ...]
    further: tuple[str, ...] = ()
    per_type: str = ""

    @property
    def meanings(self) -> dict[str, str]:
        """The meaning of each figure, by its key."""
        return {figure.key: figure.meaning for figure in self.figures}


@dataclass(frozen=True)
class Scores:
    """Counts of a corpus, and the figures that follow from them, as fractions of 1.

    Each count and each figure is an attribute, too: ``scores.correct``, ``scores.seg_f``.

    counts: by their names; those that are not there are unknown. by_label: of each label, sorted.
    other: figures that are not made of counts, by their keys.

    A figure is None where its denominator is 0 or one of its counts is unknown.
    """

    table: FigureTable = field(repr=False)
    counts: Mapping[str, int]
    by_label: Mapping[str, Counts] = field(default_factory=dict)
    other: Mapping[str, float | None] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        # Not of the attributes that there are; while a copy is made, there is none.
        if "counts" in vars(self):
            for found in (self.counts, self.as_dict()):
                if name in found:
                    return found[name]
        raise AttributeError(f"these scores have no {name!r}")

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self.counts, *self.as_dict()]

    def as_dict(self, *keys: str) -> dict[str, float | None]:
        """The figures under the keys that all reports of the package use. keys: of some alone."""
        figures = {
            figure.key: None if (found := figure.counts(self.counts)) is None else found.f
            for figure in self.table.figures
        }
        figures |= self.other
        return {key: figures[key] for key in keys} if keys else figures

    def per_type(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """Precision, recall and F of each label, under the key of spaCy; empty if there is none."""
        key = self.table.per_type
        return {key: {label: each.as_prf() for label, each in self.by_label.items()}} if key else {}

    def compared(self, *, further: bool = False) -> dict[str, Counts]:
        """The counts behind the figures by which pipelines are compared.

        further: those of `FigureTable.further` as well.
        """
        found = {figure.key: figure.counts(self.counts) for figure in self.table.figures}
        keys = (*self.table.main, *(self.table.further if further else ()))
        return {key: counts for key in keys if (counts := found[key]) is not None}

    def without(self, *keys: str) -> Scores:
        """Return the scores without these figures."""
        figures = tuple(figure for figure in self.table.figures if figure.key not in keys)
        return replace(self, table=replace(self.table, figures=figures))

    def without_counts(self, *names: str) -> Scores:
        """Return the scores with these counts marked as unknown."""
        return replace(self, counts={k: v for k, v in self.counts.items() if k not in names})


def counts_of_labels(
    gold: Mapping[str, int], predicted: Mapping[str, int], correct: Mapping[str, int]
) -> dict[str, Counts]:
    """The counts of each label that is gold or predicted anywhere, sorted by label."""
    labels: AbstractSet[str] = gold.keys() | predicted.keys()
    return {
        label: Counts(*(counts.get(label, 0) for counts in (gold, predicted, correct)))
        for label in sorted(labels)
    }


def _value(counts: Mapping[str, int], names: str) -> int:
    first, *others = names.split(" - ")
    return counts[first] - sum(counts[name] for name in others)
