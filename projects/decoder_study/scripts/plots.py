"""The pictures of the study: one for each experiment that asks for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from typing import Any, Final

from grid import READS, Curve, Experiment, Grid, Key, Plan, Results, Row
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from report import TITLES, ratio, score
from studies.pictures import BACKGROUND, label_points, panels
from studies.tables import of

from spacy_structreg.corpora.palette import COLORS, SERIES

SCORES: Final = {
    "words": "F of words",
    "tags": "F of words with their tags",
    "trees": "LAS",
    "constituents": "F of labeled brackets",
    "trees_of_texts": "LAS (F)",
}
"""By what systems find, their chief score, which the pictures show."""

SETTINGS: Final = {
    "train.beam": "beam in training and decoding",
    "decode.beam": "beam",
    "decode.tagger_beam": "beam of the tagger",
    "decode.n_best": "sentences to choose from",
    "decode.window": "window",
    "train.epochs": "epochs of training",
    "train.mini_sample": "mean number of words in a mini-sample",
}
"""What varies, in words."""

CYCLE: Final = [f"C{number}" for number in range(len(SERIES))]
OTHERS: Final = COLORS["rule"].light
DEEP: Final = 6.0
"""How far below the best score the axes go, in points, where others are much further down."""


def averages(rows: Sequence[Row]) -> list[list[Key]]:
    """The keys of the averages of each row, if all have some."""
    return [[row.key(row.average)] for row in rows] if all(row.average for row in rows) else []


def against_speed(axes: Any, plan: Plan, results: Results, shown: Sequence[str]) -> None:
    """The score against speed: a line for each curve, its points named by what varies."""
    figure = score(f"test_{[*TITLES[plan.finds]][-1]}")
    every = {
        (curve.name, kind): (
            [of(results, each, ratio).mean for each in keys],
            [of(results, each, figure).mean for each in keys],
        )
        for curve in plan.curves
        for kind, keys in (
            ("single", [row.singles() for row in curve.rows]),
            ("averaged", averages(curve.rows)),
        )
        if keys
    }
    scores = [y for _, ys in every.values() for y in ys]
    best = max(y for (_, kind), (_, ys) in every.items() for y in ys if kind == "single")
    floor = min(scores) if best - min(scores) < 1.2 * DEEP else best - DEEP
    margin = (max(scores) - floor) * 0.06
    bottom = floor - 2 * margin
    axes.set_ylim(bottom, max(scores) + 2 * margin)
    axes.set_xscale("log")
    for xs, ys in every.values():
        axes.plot(xs, ys, "-o", color=OTHERS, markersize=3, linewidth=1, zorder=BACKGROUND)
    for color, curve in colored(plan, shown):
        for kind, style in (("averaged", ":o"), ("single", "-o")):
            if (curve.name, kind) in every:
                face = COLORS["ground"].light if kind == "averaged" else color
                axes.plot(*every[curve.name, kind], style, color=color, markerfacecolor=face)
        xs, ys = every[curve.name, "single"]
        for row, x, y in zip(curve.rows, xs, ys, strict=True):
            if y < bottom:
                axes.plot([x], [bottom + margin], "v", color=color)
                text = f"{row.name}: {y:.0f}" if curve.varies else f"{y:.0f}"
                label_points(axes, text, [(x, bottom + margin)], color, fontsize=7)
            elif curve.varies:
                label_points(axes, row.name, [(x, y)], color, fontsize=7)
    # After the numbers, which have fewer places.
    for color, curve in colored(plan, shown):
        points = zip(*every[curve.name, "single"], strict=True)
        places = [(x, max(y, bottom + margin)) for x, y in points]
        label_points(axes, curve.name, places, color, fontsize=8.5)
    low, high = axes.get_xlim()
    axes.set_xlim(low / 1.15, high * 1.15)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}×"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def against_value(axes: Any, plan: Plan, results: Results, shown: Sequence[str]) -> None:
    """The score against what varies, with 95 % intervals; rows without a number are dotted."""
    figure = score(f"test_{[*TITLES[plan.finds]][-1]}")
    values = sorted({row.value for curve in plan.curves for row in curve.rows if row.value})
    if values and values[-1] / values[0] > 4:
        axes.set_xscale("log")
    names = []
    colors = {curve: color for color, curve in colored(plan, shown)}
    for curve in plan.curves:
        named = curve in colors
        color = colors.get(curve, OTHERS)
        front = BACKGROUND + named
        points = [row for row in curve.rows if row.value is not None]
        found = [of(results, row.singles(), figure) for row in points]
        if points:
            xs, ys = [row.value for row in points], [s.mean for s in found]
            halves = [s.half or 0.0 for s in found]
            axes.errorbar(
                xs, ys, yerr=halves if any(halves) else None, fmt="-o", color=color, zorder=front
            )
            names += [(curve.name, list(zip(xs, ys, strict=True)), color)] * named
        for row in curve.rows:
            if row.value is None:
                level = of(results, row.singles(), figure).mean
                axes.axhline(level, color=color, linestyle=":", zorder=front)
                name = f"{curve.name}, {row.name}" if curve.varies else curve.name
                names += [(name, [(value, level) for value in reversed(values)], color)] * named
    for name, places, color in names:
        label_points(axes, name, places, color, fontsize=8.5)
    axes.margins(x=0.08, y=0.12)
    axes.xaxis.set_major_locator(FixedLocator(values))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))


def colored(plan: Plan, shown: Sequence[str]) -> list[tuple[str, Curve]]:
    """The curves of a panel, in its order, that the corpus has, with their colors."""
    named = {curve.name: curve for curve in plan.curves}
    return [(color, named[name]) for color, name in zip(cycle(CYCLE), shown) if name in named]


def explained(experiment: Experiment, grid: Grid) -> str:
    """What the axis and the marks of a picture against speed mean."""
    settings: dict[str, list[str]] = {}
    for curve in experiment.plans[0].curves:
        if curve.varies:
            settings.setdefault(SETTINGS.get(curve.varies, curve.varies), []).append(curve.name)
    reference = grid.references[READS[experiment.plans[0].finds]]
    (model,) = (grid.models[line] for _, line in reference.parts)
    beam = f", beam {model['beam']}" if "beam" in model else ""
    says = [f"1× is the reference: {model['kind']}{beam}."]
    if settings:
        usual, *others = sorted(settings, key=lambda name: -len(settings[name]))
        numbers = [usual, *(f"of {', '.join(settings[name])}: {name}" for name in others)]
        says.append(f"Numbers at points: {'; '.join(numbers)}.")
    if any(row.average for plan in experiment.plans for c in plan.curves for row in c.rows):
        says.append("Dots: one model; circles, dotted: averages of models.")
    if len(experiment.panels) > 1:
        says.append("Gray: the systems of the other panels.")
    return " ".join(says)


def picture(experiment: Experiment, grid: Grid, results: Results) -> Any:
    """The figure of an experiment: for each corpus a panel for each group of curves."""
    wanted = [
        (plan, title, shown)
        for plan in experiment.plans
        for title, shown in experiment.panels
        if colored(plan, shown)
    ]
    figure, places = panels(len(wanted), 2, 4.9, 3.5)
    by_speed = experiment.x == "speed"
    draw = against_speed if by_speed else against_value
    for axes, (plan, title, shown) in zip(places, wanted, strict=True):
        draw(axes, plan, results, shown)
        axes.set_title(": ".join(filter(None, [plan.corpus, title])))
        axes.set_ylabel(f"{SCORES[plan.finds]}, test set, %")
        axes.set_xlabel(
            "speed, as a multiple of that of the reference (log scale)"
            if by_speed
            else next(SETTINGS.get(c.varies, c.varies) for c in plan.curves if c.varies)
        )
    if by_speed:
        says = explained(experiment, grid)
        if any(line.get_marker() == "v" for axes in figure.axes for line in axes.lines):
            says += " Triangles: points below the axes, with their scores."
        figure.supxlabel(says, fontsize=8, x=0.01, ha="left", wrap=True)
    return figure


def pictures(grid: Grid, results: Results) -> dict[str, Callable[[], Any]]:
    """What draws each picture, by its name."""
    return {
        experiment.name: partial(picture, experiment, grid, results)
        for experiment in grid.experiments
        if experiment.x
    }
