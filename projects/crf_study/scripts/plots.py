"""The pictures of the study: one for each experiment that has an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from typing import Any, Final

from grid import Experiment, Grid, Plan, Result, Results
from report import dev, rows_of, seconds, test, timed
from studies.pictures import label_points, panels

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
    n_panels = len(experiment.plans) * len(columns)
    figure, places = panels(n_panels, 2, 4.9, 3.3)
    varies = next(s.vary for plan in experiment.plans for s in plan.systems if s.vary)
    wanted = [(plan, *column) for plan in experiment.plans for column in columns]
    for axes, (plan, title, figures) in zip(places, wanted, strict=True):
        axes.set_xscale(experiment.axis)
        draw(axes, plan, results, figures)
        axes.set_xlabel(VARIES.get(varies, varies.replace("_", " ")))
        if title != "score":
            axes.set_ylim(bottom=0)
            axes.set_ylabel(title)
        else:
            axes.set_ylabel(("test score" if experiment.times else "score") + ", %")
        axes.set_title(plan.corpus)
    return figure


def pictures(grid: Grid, results: Results) -> dict[str, Callable[[], Any]]:
    """What draws each picture, by its name."""
    return {
        experiment.name: partial(picture, experiment, results)
        for experiment in grid.experiments
        if experiment.axis
    }
