"""Plot a study: one picture for each experiment that has an axis.

    python scripts/plots.py GRID RESULTS FOLDER [--suffix .svg]

Needs matplotlib (``pip install "../..[study]"``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

mpl.use("Agg")

from grid import Experiment, Grid, Plan
from matplotlib import pyplot as plt
from report import dev, rows_of, seconds, test, timed
from results import Result, Results

from spacy_structreg.cli.studies import label_points, plot_command, save_pictures

Shown = Callable[[Result], "float | None"]


VARIES: Final = {
    "mini_sample": "mean size of mini-samples, tokens",
    "l2": "strength of L2 (log scale)",
}
"""What varies, in words."""


def draw(axes: Any, plan: Plan, results: Results, figures: Iterable[tuple[str, Shown]]) -> None:
    """Figures against what varies, with 95 % intervals; systems without a curve are dotted."""
    colors = {system.name: f"C{number}" for number, system in enumerate(plan.systems)}
    values = [row.value for row in rows_of(plan, results) if row.name]
    names = []
    for faint, (title, figure) in enumerate(figures):
        style = {"alpha": 0.4} if faint else {}
        for name, rows in groupby(rows_of(plan, results), key=lambda row: row.system):
            points = [(row, timed(results, plan.keys(row.setting), figure)) for row in rows]
            known = [(row, s) for row, s in points if s is not None]
            said = f"{name}, {title}" if title else name
            for row, s in known:
                if not row.name:
                    axes.axhline(s.mean, color=colors[name], linestyle=":", **style)
                    names.append((said, [(value, s.mean) for value in values], colors[name]))
            curve = [(row.value, s) for row, s in known if row.name]
            if curve:
                xs, means = [value for value, _ in curve], [s.mean for _, s in curve]
                halves = [s.half or 0.0 for _, s in curve]
                axes.errorbar(xs, means, yerr=halves, color=colors[name], fmt="-o", **style)
                names.append((said, list(zip(xs, means, strict=True)), colors[name]))
    axes.margins(x=0.1, y=0.15)
    for text, places, color in names:
        label_points(axes, text, places, color, fontsize=8)


def picture(experiment: Experiment, results: Results) -> Any:
    """The figure of an experiment: a row for each corpus; scores, and times if they matter."""
    columns: list[tuple[str, list[tuple[str, Shown]]]] = [
        ("score", [("test", test), ("dev", dev)] if not experiment.times else [("", test)])
    ]
    if experiment.times:
        columns.append(("CPU seconds of training", [("", seconds)]))
    # Without times, two corpora a row.
    n_columns = 2 if experiment.times else min(2, len(experiment.plans))
    n_rows = -(-len(experiment.plans) * len(columns) // n_columns)
    figure, panels = plt.subplots(
        n_rows, n_columns, figsize=(4.9 * n_columns, 3.3 * n_rows), squeeze=False
    )
    varies = next(s.vary for plan in experiment.plans for s in plan.systems if s.vary)
    wanted = [(plan, *column) for plan in experiment.plans for column in columns]
    for axes, (plan, title, figures) in zip(panels.flat, wanted, strict=False):
        axes.set_xscale(experiment.axis)
        draw(axes, plan, results, figures)
        axes.set_xlabel(VARIES.get(varies, varies.replace("_", " ")))
        if title != "score":
            axes.set_ylim(bottom=0)
            axes.set_ylabel(title)
        else:
            axes.set_ylabel(("test score" if experiment.times else "score") + ", %")
        axes.set_title(plan.corpus)
    for axes in panels.flat[len(wanted) :]:
        axes.set_visible(False)
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
