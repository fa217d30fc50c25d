"""The pictures of the study: combinations, strengths, averaging and mini-sample sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from grid import Grid, Key, Result, Results, Row
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter
from report import dev_f, seconds, test_f
from studies.pictures import label_points, panels
from studies.tables import of

from spacy_structreg.corpora.palette import COLORS
from spacy_structreg.metrics.summary import Summary

SINGLE: Final = "C0"
PLAIN: Final = "C1"
NONZERO: Final = "C2"
COLUMNS: Final = 3


def curve(axes: Any, xs: Sequence[float], ys: Sequence[Summary], color: str, label: str) -> None:
    """Means with their 95 % intervals."""
    halves = [y.half or 0.0 for y in ys]
    axes.errorbar(
        xs,
        [y.mean for y in ys],
        yerr=halves if any(halves) else None,
        color=color,
        marker="o",
        markersize=3,
        label=label,
    )


def combinations(grid: Grid, results: Results) -> Any:
    """Test F of every setting: single models, and averages by equations 7 and 8."""
    plans = grid.of("combinations")
    height = 1 + 0.28 * max(len(plan.rows) for plan in plans)
    figure, axes_of = plt.subplots(
        1, len(plans), figsize=(1 + 4.6 * len(plans), height), squeeze=False
    )
    for plan, axes in zip(plans, axes_of[0], strict=True):
        places = range(len(plan.rows), 0, -1)
        for color, label, keys in (
            (SINGLE, "single", plan.singles),
            (PLAIN, f"{plan.group} averaged, Eq. 7", partial(plan.averages, mean="plain")),
            (
                NONZERO,
                f"{plan.group} averaged, Eq. 8",
                partial(plan.averages, mean="nonzero"),
            ),
        ):
            found = [of(results, keys(row), test_f) for row in plan.rows]
            shown = label == "single"
            axes.errorbar(
                [s.mean for s in found],
                places,
                xerr=[s.half or 0.0 for s in found] if shown else None,
                fmt="o",
                color=color,
                label=label,
            )
        axes.set_yticks(list(places), [row.name for row in plan.rows])
        axes.set_title(plan.corpus)
        axes.set_xlabel("test F, %")
    axes_of[0][0].legend()
    return figure


def strengths(grid: Grid, corpus: str, results: Results) -> Any:
    """F against the strength of each regularizer; strength 0 is a dotted line."""
    plans = grid.of("strengths", corpus)
    figure, places = panels(len(plans), COLUMNS, 4, 2.9)
    for plan, axes in zip(plans, places, strict=True):
        rows = [row for row in plan.rows if row.value]
        nothing = [row for row in plan.rows if not row.value]
        lines: list[tuple[str, str, Callable[[Row], list[Key]], Callable[[Result], float]]] = [
            (SINGLE, "single, test", plan.singles, test_f),
            (COLORS["muted"].light, "single, dev", plan.singles, dev_f),
        ]
        if plan.group:
            lines.append(
                (
                    NONZERO,
                    f"{plan.group} averaged (Eq. 8), test",
                    partial(plan.averages, mean="nonzero"),
                    test_f,
                )
            )
        for color, label, keys, which in lines:
            curve(
                axes,
                [float(row.value or 0.0) for row in rows],
                [of(results, keys(row), which) for row in rows],
                color,
                label,
            )
            for row in nothing:
                level = of(results, keys(row), which).mean
                axes.axhline(level, color=color, linestyle=":", linewidth=1)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
        dotted = "; dotted: none" if nothing else ""
        axes.set_xlabel(f"{plan.parameter.replace('_', ' ')} (log scale{dotted})")
        axes.set_title(plan.curve)
        axes.set_ylabel("F, %")
    places[0].legend()
    return figure


def averaging(grid: Grid, results: Results) -> Any:
    """Test F against the number of averaged models, by both equations."""
    panels_of = [(plan, row) for plan in grid.of("averaging") for row in plan.rows]
    figure, places = panels(len(panels_of), len(panels_of), 4.5, 3.4)
    for (plan, row), axes in zip(panels_of, places, strict=True):
        firsts = [
            Key(plan.corpus, row.setting, plan.epochs, str(first))
            for first in range(0, row.models, plan.group)
        ]
        sizes = [1, *plan.sizes]
        for color, label, which in ((PLAIN, "Eq. 7", "plain"), (NONZERO, "Eq. 8", "nonzero")):
            found = [
                of(results, plan.averages(row, which, n) if n > 1 else firsts, test_f)
                for n in sizes
            ]
            curve(axes, sizes, found, color, label)
        axes.set_title(f"{plan.corpus}, {row.name}")
        axes.set_xlabel("models averaged")
        axes.set_ylabel("test F, %")
    places[0].legend()
    return figure


def mini_samples(grid: Grid, results: Results) -> Any:
    """Test F and CPU time against the size of mini-samples, and F against time.

    Whole sentences are dotted lines in the first two rows. In the third, points have the sizes of
    mini-samples beside them, where there are several curves those of the last.
    """
    corpora = list(dict.fromkeys(plan.corpus for plan in grid.of("mini_samples")))
    figure, axes_of = plt.subplots(3, len(corpora), figsize=(4.4 * len(corpora), 9), squeeze=False)
    for column, corpus in enumerate(corpora):
        for number, plan in enumerate(grid.of("mini_samples", corpus)):
            color = f"C{number}"
            rows = [row for row in plan.rows if row.value is not None]
            for axes, which in ((axes_of[0][column], test_f), (axes_of[1][column], seconds)):
                found = [of(results, plan.singles(row), which) for row in rows]
                sizes = [float(row.value or 0.0) for row in rows]
                name = f"{plan.epochs} epochs"
                curve(axes, sizes, found, color, name)
                places = [(x, s.mean) for x, s in zip(sizes, found, strict=True)]
                label_points(axes, name, places, color, fontsize=8)
                for row in plan.rows:
                    if row.value is None:
                        level = of(results, plan.singles(row), which).mean
                        axes.axhline(level, color=color, linestyle=":")
                        places = [(x, level) for x in reversed(sizes)]
                        label_points(axes, f"{name}, whole", places, color, fontsize=8)
            axes = axes_of[2][column]
            points = [
                (of(results, keys, seconds).mean, of(results, keys, test_f).mean)
                for keys in map(plan.singles, plan.rows)
            ]
            axes.plot(*zip(*points, strict=True), "-o", color=color, linewidth=0.7)
            if plan == grid.of("mini_samples", corpus)[-1]:
                for row, point in zip(plan.rows, points, strict=True):
                    label_points(axes, row.name, [point], color, fontsize=7)
            label_points(axes, f"{plan.epochs} epochs", points, color, fontsize=8)
        axes_of[0][column].set_title(corpus)
        axes_of[1][column].set_xlabel("n', the mean size of mini-samples (characters)")
        axes_of[1][column].set_ylim(bottom=0)
        axes_of[2][column].set_xlabel("CPU seconds of training (numbers: n')")
        axes_of[2][column].margins(0.1)
    axes_of[0][0].set_ylabel("test F, %")
    axes_of[1][0].set_ylabel("CPU seconds of training")
    axes_of[2][0].set_ylabel("test F, %")
    return figure


def pictures(grid: Grid, results: Results) -> dict[str, Callable[[], Any]]:
    """What draws each picture, by its name."""
    made: dict[str, Callable[[], Any]] = {}
    if grid.of("combinations"):
        made["combinations"] = partial(combinations, grid, results)
    for corpus in dict.fromkeys(plan.corpus for plan in grid.of("strengths")):
        made[f"strengths-{corpus}"] = partial(strengths, grid, corpus, results)
    if grid.of("averaging"):
        made["averaging"] = partial(averaging, grid, results)
    if grid.of("mini_samples"):
        made["mini-samples"] = partial(mini_samples, grid, results)
    return made
