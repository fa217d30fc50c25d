"""The runs of a row of a table on a corpus, and their figures seed by seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grid import SPEED, Grid, Result, Results, Row
from run import unpacked

from spacy_structreg.metrics.summary import Summary, summary


@dataclass(frozen=True)
class Runs:
    """The runs of a row on a corpus: of each seed its folds, as far as they are there.

    varies: whether seeds differ; if not, they are one run.
    """

    row: Row
    seeds: list[list[Result]]
    n_expected: int
    varies: bool

    @property
    def is_whole(self) -> bool:
        """True if none is missing."""
        return len(self.seeds) == self.n_expected

    def values(self, figures: Sequence[str]) -> list[float] | None:
        """The first figure that a run has, seed by seed, the mean of the folds; None without any.

        In percent, but for what was measured.
        """
        values = []
        for folds in self.seeds:
            given = [figure_of(fold, self.row, figures) for fold in folds]
            if any(each is None for each in given):
                return None
            values.append(mean(each for each in given if each is not None))
        return values

    def summary(self, figures: Sequence[str]) -> Summary | None:
        """The summary of `values` over seeds; None if runs are missing, or have none."""
        values = self.values(figures) if self.is_whole else None
        if values is None:
            return None
        return summary(values if self.varies else values[:1])


def figure_of(result: Result, row: Row, figures: Sequence[str]) -> float | None:
    """The first of some figures that a run has, in percent; or what was measured of it."""
    if SPEED in figures:
        counts = map(unpacked, result.sentences.values())
        n_sentences = result.n_sentences or max(map(len, counts), default=0)
        # Times are rounded, so that they may be 0.
        return n_sentences / result.decoding_seconds if result.decoding_seconds else None
    if "training_seconds" in figures:
        return result.training_seconds
    if "epoch_milliseconds" in figures:
        n_epochs = sum(result.epochs)
        return 1000 * result.training_seconds / n_epochs if n_epochs else None
    of_row = result.figures
    if row.on == "dev":
        of_row = result.dev
    elif row.on == "epoch":
        of_row = {
            name: dict(enumerate(each, 1)).get(row.value) for name, each in result.after.items()
        }
    return next((100 * value for value in map(of_row.get, figures) if value is not None), None)


def figures_in(column: str, row: Row) -> list[str]:
    """The names of the figures of a row that may stand in a column."""
    length = "" if row.length is None else f"_{row.length}"
    kind = f" {row.kind}" if row.kind else ""
    return [f"{name}{length}{kind}" for name in column.split(" or ")]


def runs_of(grid: Grid, results: Results, corpus: str, row: Row, n_seeds: int) -> Runs:
    """The seeds of a row that are there with all their folds.

    What draws nothing has one run, which stands for all seeds.
    """
    seeds: dict[int, list[Result]] = {}
    for key in grid.keys(corpus, row, n_seeds):
        if key in results:
            seeds.setdefault(key.seed, []).append(results[key])
    whole = [seeds[seed] for seed in sorted(seeds) if len(seeds[seed]) == grid.folds(corpus)]
    varies = grid.varies(corpus, row)
    return Runs(row, whole if varies else whole * n_seeds, n_seeds, varies)


def mean(numbers: Iterable[float]) -> float:
    """The mean of numbers."""
    found: Summary = summary(numbers)
    return found.mean
