"""Plot a study: one picture each for combinations, strengths, averaging and mini-sample sizes.

    python scripts/plots.py GRID RESULTS FOLDER [--suffix .svg]

Needs matplotlib (``pip install "../..[study]"``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

mpl.use("Agg")

from grid import Grid, Key, Row
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter
from report import dev_f, of, seconds, test_f
from results import Result, Results

from spacy_structreg.cli.studies import label_points, plot_command, save_pictures
from spacy_structreg.metrics.summary import Summary

SINGLE: Final = "tab:blue"
PLAIN: Final = "tab:orange"
NONZERO: Final = "tab:green"
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
    figure, panels = plt.subplots(
        1, len(plans), figsize=(1 + 4.6 * len(plans), height), squeeze=False
    )
    for plan, axes in zip(plans, panels[0], strict=True):
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
    panels[0][0].legend()
    return figure


def strengths(grid: Grid, corpus: str, results: Results) -> Any:
    """F against the strength of each regulariser; strength 0 is a dotted line."""
    plans = grid.of("strengths", corpus)
    n_rows = -(-len(plans) // COLUMNS)
    figure, panels = plt.subplots(
        n_rows, COLUMNS, figsize=(4 * COLUMNS, 2.9 * n_rows), squeeze=False
    )
    for axes in panels.flat[len(plans) :]:
        axes.set_visible(False)
    for plan, axes in zip(plans, panels.flat, strict=False):
        rows = [row for row in plan.rows if row.value]
        nothing = [row for row in plan.rows if not row.value]
        lines: list[tuple[str, str, Callable[[Row], list[Key]], Callable[[Result], float]]] = [
            (SINGLE, "single, test", plan.singles, test_f),
            ("tab:gray", "single, dev", plan.singles, dev_f),
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
    panels[0][0].legend()
    return figure


def averaging(grid: Grid, results: Results) -> Any:
    """Test F against the number of averaged models, by both equations."""
    panels_of = [(plan, row) for plan in grid.of("averaging") for row in plan.rows]
    figure, panels = plt.subplots(
        1, len(panels_of), figsize=(4.5 * len(panels_of), 3.4), squeeze=False
    )
    for (plan, row), axes in zip(panels_of, panels[0], strict=True):
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
    panels[0][0].legend()
    return figure


def mini_samples(grid: Grid, results: Results) -> Any:
    """Test F and CPU time against the size of mini-samples, and F against time.

    Whole sentences are dotted lines in the first two rows. In the third, points have the sizes of
    mini-samples beside them, where there are several curves those of the last.
    """
    corpora = list(dict.fromkeys(plan.corpus for plan in grid.of("mini_samples")))
    figure, panels = plt.subplots(3, len(corpora), figsize=(4.4 * len(corpora), 9), squeeze=False)
    for column, corpus in enumerate(corpora):
        for number, plan in enumerate(grid.of("mini_samples", corpus)):
            color = f"C{number}"
            rows = [row for row in plan.rows if row.value is not None]
            for axes, which in ((panels[0][column], test_f), (panels[1][column], seconds)):
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
            axes = panels[2][column]
            points = [
                (of(results, keys, seconds).mean, of(results, keys, test_f).mean)
                for keys in map(plan.singles, plan.rows)
            ]
            axes.plot(*zip(*points, strict=True), "-o", color=color, linewidth=0.7)
            if plan == grid.of("mini_samples", corpus)[-1]:
                for row, point in zip(plan.rows, points, strict=True):
                    label_points(axes, row.name, [point], color, fontsize=7)
            label_points(axes, f"{plan.epochs} epochs", points, color, fontsize=8)
        panels[0][column].set_title(corpus)
        panels[1][column].set_xlabel("n', the mean size of mini-samples (characters)")
        panels[1][column].set_ylim(bottom=0)
        panels[2][column].set_xlabel("CPU seconds of training (numbers: n')")
        panels[2][column].margins(0.1)
    panels[0][0].set_ylabel("test F, %")
    panels[1][0].set_ylabel("CPU seconds of training")
    panels[2][0].set_ylabel("test F, %")
    return figure


def plot(grid: Grid, results: Results, folder: Path, suffix: str) -> list[Path]:
    """Write the pictures of the experiments that the grid has. Raises ValueError if results miss.

    suffix: how the names of the files end, which says their format.
    """
    pictures: dict[str, Callable[[], Any]] = {}
    if grid.of("combinations"):
        pictures["combinations"] = partial(combinations, grid, results)
    for corpus in dict.fromkeys(plan.corpus for plan in grid.of("strengths")):
        pictures[f"strengths-{corpus}"] = partial(strengths, grid, corpus, results)
    if grid.of("averaging"):
        pictures["averaging"] = partial(averaging, grid, results)
    if grid.of("mini_samples"):
        pictures["mini-samples"] = partial(mini_samples, grid, results)
    return save_pictures(pictures, folder, suffix, "regularization_study")


if __name__ == "__main__":
    plot_command(__doc__, Grid, Results, plot)
