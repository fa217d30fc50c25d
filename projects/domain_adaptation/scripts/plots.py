"""The pictures of the study: learning curves of what is given of a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import groupby
from typing import Any

from grid import Experiment, Grid, Plan, Results
from report import figure
from studies.pictures import label_points, panels
from studies.tables import of


def draw(axes: Any, plan: Plan, results: Results, colors: Mapping[str, str]) -> None:
    """F against the number of sentences, with 95 % intervals; single rows are dotted."""
    values = sorted({row.value for row in plan.rows if row.value is not None})
    for name, group in groupby(plan.rows, key=lambda row: row.name):
        rows = list(group)
        scores = [of(results, plan.keys(row), figure("test")) for row in rows]
        color = colors[name]
        if rows[0].value is None:
            mean = scores[0].mean
            axes.axhline(mean, color=color, linestyle=":")
            places = [(float(value), mean) for value in values]
        else:
            xs = [float(row.value or 0) for row in rows]
            means = [score.mean for score in scores]
            halves = [score.half or 0.0 for score in scores]
            axes.errorbar(xs, means, yerr=halves, color=color, fmt="-o")
            places = list(zip(xs, means, strict=True))
        label_points(axes, name, places, color, fontsize=8)
    axes.set_xticks(values, list(map(str, values)))
    axes.minorticks_off()
    axes.margins(x=0.15, y=0.15)


def picture(experiment: Experiment, results: Results) -> Any:
    """The figure of an experiment: a panel for each target that has a curve."""
    plans = [plan for plan in experiment.plans if any(row.value is not None for row in plan.rows)]
    names = dict.fromkeys(row.name for plan in experiment.plans for row in plan.rows)
    colors = {name: f"C{i}" for i, name in enumerate(names)}
    drawn, places = panels(len(plans), 2, 4.9, 3.6)
    for axes, plan in zip(places, plans, strict=True):
        axes.set_xscale("log")
        draw(axes, plan, results, colors)
        axes.set_xlabel("sentences of the target (log scale)")
        axes.set_ylabel("F of words, test, %")
        axes.set_title(plan.corpus)
    return drawn


def pictures(grid: Grid, results: Results) -> dict[str, Callable[[], Any]]:
    """What draws each picture, by its name."""
    return {
        experiment.name: partial(picture, experiment, results)
        for experiment in grid.experiments
        if experiment.has_curves
    }
