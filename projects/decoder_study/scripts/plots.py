"""Plot the study: one picture for each experiment that asks for one.

    python scripts/plots.py GRID RESULTS FOLDER [--suffix .svg]

Needs matplotlib (``pip install spacy_structreg[study]``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from grid import Experiment, Grid, Key, Plan, Row
from matplotlib import pyplot as plt
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter
from report import TITLES, Figure, of, ratio, score
from results import Results

from spacy_structreg.cli.studies import plot_command, save_pictures


def against_speed(axes: Any, plan: Plan, results: Results, figure: Figure) -> None:
    """F against speed: a line for each curve, its points named by what varies."""
    for number, curve in enumerate(plan.curves):
        color = f"C{number % 10}"
        for style, label, keys in (
            ("-o", curve.name, [row.singles() for row in curve.rows]),
            (":s", f"{curve.name}, averaged", averages(curve.rows)),
        ):
            if not keys:
                continue
            xs = [of(results, each, ratio).mean for each in keys]
            ys = [of(results, each, figure).mean for each in keys]
            axes.plot(xs, ys, style, color=color, markersize=4, linewidth=1.2, label=label)
            for row, x, y in zip(curve.rows, xs, ys, strict=True):
                if curve.varies:
                    axes.annotate(
                        row.name, (x, y), xytext=(2, 3), textcoords="offset points", fontsize=6
                    )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5, 7)))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("speed, as a multiple of the reference")


def averages(rows: Sequence[Row]) -> list[list[Key]]:
    """The keys of the averages of each row, if all have some."""
    return [[row.key(row.average)] for row in rows] if all(row.average for row in rows) else []


def against_value(axes: Any, plan: Plan, results: Results, figure: Figure) -> None:
    """F against what varies, with 95 % intervals; rows without a number are dotted lines."""
    for number, curve in enumerate(plan.curves):
        color = f"C{number % 10}"
        points = [row for row in curve.rows if row.value is not None]
        found = [of(results, row.singles(), figure) for row in points]
        if points:
            axes.errorbar(
                [row.value for row in points],
                [s.mean for s in found],
                yerr=[s.half or 0.0 for s in found],
                color=color,
                marker="o",
                markersize=3,
                linewidth=1.2,
                capsize=2,
                label=curve.name,
            )
        for row in curve.rows:
            if row.value is None:
                level = of(results, row.singles(), figure).mean
                label = f"{curve.name}, {row.name}" if curve.varies else curve.name
                axes.axhline(level, color=color, linestyle=":", linewidth=1, label=label)
        axes.set_xlabel(curve.varies.partition(".")[2].replace("_", " ") or "")
    values = [row.value for curve in plan.curves for row in curve.rows if row.value]
    if values and max(values) / min(values) > 8:
        axes.set_xscale("log", base=2)


def picture(experiment: Experiment, results: Results) -> Any:
    """The figure of an experiment: a column for each corpus, a row for each kind of F."""
    plans = experiment.plans
    n_rows = max(len(TITLES[plan.finds]) for plan in plans)
    figure, panels = plt.subplots(
        n_rows, len(plans), figsize=(6.2 * len(plans), 4.4 * n_rows), squeeze=False
    )
    draw = against_speed if experiment.x == "speed" else against_value
    for column, plan in enumerate(plans):
        shown = TITLES[plan.finds]
        for place, (name, title) in enumerate(shown.items()):
            axes = panels[place][column]
            draw(axes, plan, results, score(f"test_{name}"))
            axes.set_title(plan.corpus)
            axes.set_ylabel(f"test {title}")
            axes.grid(alpha=0.3)
        for place in range(len(shown), n_rows):
            panels[place][column].set_visible(False)
    panels[0][0].legend(fontsize=7)
    return figure


def plot(grid: Grid, results: Results, folder: Path, suffix: str) -> list[Path]:
    """Write the pictures of the experiments that ask for one. Raises ValueError if results miss.

    suffix: how the names of the files end, which says their format.
    """
    pictures = {
        experiment.name: partial(picture, experiment, results)
        for experiment in grid.experiments
        if experiment.x
    }
    return save_pictures(pictures, folder, suffix, "decoder_study")


if __name__ == "__main__":
    plot_command(__doc__, Grid, Results, plot)
