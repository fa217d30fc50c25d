"""Plot a study: one picture for each experiment that has an axis.

    python scripts/plots.py GRID RESULTS FOLDER [--suffix .svg]

Needs matplotlib (``pip install spacy_structreg[study]``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from grid import Experiment, Grid, Plan
from matplotlib import pyplot as plt
from report import dev, rows_of, seconds, test, timed
from results import Result, Results

from spacy_structreg.cli.studies import plot_command, save_pictures

Shown = Callable[[Result], "float | None"]


def draw(axes: Any, plan: Plan, results: Results, figures: Iterable[tuple[str, Shown]]) -> None:
    """Figures against what varies, with 95 % intervals; systems without a curve are dotted."""
    names = {system.name: number for number, system in enumerate(plan.systems)}
    for faint, (title, figure) in enumerate(figures):
        style = {"alpha": 0.35} if faint else {}
        for name, rows in groupby(rows_of(plan, results), key=lambda row: row.system):
            points = [(row, timed(results, plan.keys(row.setting), figure)) for row in rows]
            known = [(row, s) for row, s in points if s is not None]
            label = f"{name}, {title}" if title else name
            color = f"C{names[name]}"
            for row, s in known:
                if not row.name:
                    axes.axhline(s.mean, color=color, linestyle=":", label=label, **style)
            curve = [(row.value, s) for row, s in known if row.name]
            if curve:
                axes.errorbar(
                    [value for value, _ in curve],
                    [s.mean for _, s in curve],
                    yerr=[s.half or 0.0 for _, s in curve],
                    color=color,
                    marker="o",
                    markersize=3,
                    linewidth=1.2,
                    capsize=2,
                    label=label,
                    **style,
                )
    axes.grid(alpha=0.3)


def picture(experiment: Experiment, results: Results) -> Any:
    """The figure of an experiment: a column for each corpus; scores, and times if they matter."""
    rows: list[tuple[str, list[tuple[str, Shown]]]] = [
        ("score", [("test", test), ("dev", dev)] if not experiment.times else [("", test)])
    ]
    if experiment.times:
        rows.append(("CPU seconds of training", [("", seconds)]))
    n_columns = len(experiment.plans)
    figure, panels = plt.subplots(
        len(rows), n_columns, figsize=(1 + 4 * n_columns, 3.4 * len(rows)), squeeze=False
    )
    varies = next(s.vary for plan in experiment.plans for s in plan.systems if s.vary)
    for column, plan in enumerate(experiment.plans):
        for axes, (title, figures) in zip(panels[:, column], rows, strict=True):
            draw(axes, plan, results, figures)
            axes.set_xscale(experiment.axis)
            axes.set_xlabel(varies.replace("_", " "))
            if column == 0:
                axes.set_ylabel(title if title != "score" else "test score")
        panels[0][column].set_title(plan.corpus)
    for axes in panels[1:].flat:
        axes.set_ylim(bottom=0)
    panels[0][0].legend(fontsize=7)
    return figure


def plot(grid: Grid, results: Results, folder: Path, suffix: str) -> list[Path]:
    """Write the pictures of the experiments that have an axis. Raises ValueError if results miss.

    suffix: how the names of the files end, which says their format.
    """
    pictures = {
        experiment.name: partial(picture, experiment, results)
        for experiment in grid.experiments
        if experiment.axis
    }
    return save_pictures(pictures, folder, suffix, "crf_study")


if __name__ == "__main__":
    plot_command(__doc__, Grid, Results, plot)
