"""The pictures of figures: curves of means with their 95 % intervals, a panel for each corpus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from grid import MEASURED, Grid, Results, Row, Table
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from report import drawn_panels, figures_in, runs_of
from studies.grids import value_text
from studies.pictures import label_points, panels

Curves = dict[str, list[tuple[Row, float, float, float]]]
"""By series: rows, what places their points, what they are of, and half of its interval."""


def curves_of(grid: Grid, results: Results, part: Table, corpus: str, column: str) -> Curves:
    """The curves of a panel."""
    assert part.axis is not None
    found: Curves = {}
    for row in expanded(grid, results, part, corpus, column):
        runs = runs_of(grid, results, corpus, row, part.seeds[corpus])
        y = runs.summary(figures_in(column, row))
        x = runs.summary([part.axis.by]) if part.axis.by in MEASURED else None
        if y is not None:
            place = place_of(part, row.value) if x is None else x.mean
            found.setdefault(row.series, []).append((row, place, y.mean, y.half or 0.0))
    return found


def expanded(grid: Grid, results: Results, part: Table, corpus: str, column: str) -> list[Row]:
    """The rows of a panel; of curves over epochs all of these, not only those of the table."""
    rows: dict[tuple[str, Any], Row] = {}
    for row in part.rows:
        if row.on == "epoch":
            runs = runs_of(grid, results, corpus, row, part.seeds[corpus])
            n_epochs = min(
                len(fold.after.get(column, ())) for folds in runs.seeds for fold in folds
            )
            for epoch in range(1, n_epochs + 1):
                rows[row.series, epoch] = replace(row, value=epoch)
        else:
            rows[row.series, row.value] = row
    return list(rows.values())


def place_of(part: Table, value: Any) -> float:
    """Where a value is on the axis: names stand side by side."""
    names = [each for each in values_of(part) if isinstance(each, str)]
    return float(names.index(value) if value in names else value or 0.0)


def values_of(part: Table) -> list[Any]:
    """What is varied in a panel, in the order of the grid."""
    return list(dict.fromkeys(row.value for row in part.rows if row.value is not None))


def draw(axes: Any, part: Table, curves: Curves, column: str) -> None:
    """Our curves."""
    assert part.axis is not None
    for number, (series, points) in enumerate(curves.items()):
        color = f"C{number}"
        rows, xs, ys, halves = zip(*points, strict=True)
        if rows[0].value is None:
            axes.axhline(ys[0], color=color, linestyle=":", label=series)
            axes.axhspan(ys[0] - halves[0], ys[0] + halves[0], color=color, alpha=0.1, linewidth=0)
        elif part.axis.by in MEASURED or isinstance(rows[0].value, str):
            line = "" if isinstance(rows[0].value, str) else "-"
            axes.errorbar(xs, ys, yerr=halves, fmt=f"{line}o", color=color, label=series)
        else:
            marker = "" if len(xs) > 12 else "o"
            axes.plot(xs, ys, marker=marker, color=color, label=series)
            lower = [y - half for y, half in zip(ys, halves, strict=True)]
            upper = [y + half for y, half in zip(ys, halves, strict=True)]
            axes.fill_between(xs, lower, upper, color=color, alpha=0.15, linewidth=0)
        if part.axis.by in MEASURED and len(points) > 1:
            for row, x, y, _ in points:
                label_points(axes, value_text(row.value), [(x, y)], color, fontsize=7)
    unit = MEASURED[column] if column in MEASURED else f"{part.columns[column]}, %"
    on = "development set" if any(row.on != "test" for row in part.rows) else "test set"
    axes.set_ylabel(unit if column in MEASURED else f"{unit}, {on}")


def draw_paper(axes: Any, part: Table, column: str) -> bool:
    """The points that the paper gives of a panel; returns whether there are any."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in part.rows:
        figure = row.paper.get(part.of, {}).get(column)
        if figure is not None and row.value is not None:
            found.setdefault(row.series, []).append((place_of(part, row.value), figure))
    order = list(dict.fromkeys(row.series for row in part.rows))
    for series, points in found.items():
        color = f"C{order.index(series)}"
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, "o", color=color, markerfacecolor="none", label=series)
    axes.set_ylabel(f"{part.columns[column]}, %")
    return bool(found)


def scale(axes: Any, part: Table) -> None:
    """The horizontal axis."""
    assert part.axis is not None
    values = values_of(part)
    log = " (log scale)" if part.axis.log else ""
    if part.axis.log:
        axes.set_xscale("log")
    if part.axis.by in MEASURED:
        axes.set_xlabel(f"{MEASURED[part.axis.by]}{log}; numbers: {part.axis.title}")
        if part.axis.log:
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        return
    axes.set_xlabel(f"{part.axis.title}{log}")
    if any(isinstance(value, str) for value in values):
        axes.set_xticks(range(len(values)), values)
        axes.set_xlim(-0.5, len(values) - 0.5)
    elif len(values) < 12 and not any(row.on == "epoch" for row in part.rows):
        axes.xaxis.set_major_locator(FixedLocator(values))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))


def picture(grid: Grid, results: Results, each: Table) -> Any:
    """The picture of a figure: our curves, and beside them what the paper gives of its own."""
    wanted: list[tuple[Table, str, str]] = []
    for part, corpus in drawn_panels(grid, results, each):
        for column in part.columns:
            if any(curves_of(grid, results, part, corpus, column).values()):
                wanted.append((part, corpus, column))
    for part in each.parts:
        for column in part.columns:
            placed = part.axis is not None and part.axis.by == "value"
            if placed and any(
                row.value is not None and column in row.paper.get(part.of, {}) for row in part.rows
            ):
                wanted.append((part, "", column))
    figure, places = panels(len(wanted), 2, 4.9, 3.4)
    for axes, (part, corpus, column) in zip(places, wanted, strict=True):
        if corpus:
            draw(axes, part, curves_of(grid, results, part, corpus, column), column)
        else:
            draw_paper(axes, part, column)
        scale(axes, part)
        of = str(grid.corpora[corpus or part.of].get("title", corpus or part.of))
        whose = of.partition(" (")[0] if corpus else f"the paper: {of.partition(',')[0]}"
        axes.set_title(f"{part.title}: {whose}" if each.panels else whose)
        if len(axes.get_legend_handles_labels()[0]) > 1:
            axes.legend()
    return figure


def pictures(grid: Grid, results: Results) -> dict[str, Callable[[], Any]]:
    """What draws each picture, by its name."""
    return {
        each.name: partial(picture, grid, results, each)
        for each in grid.tables
        if drawn_panels(grid, results, each)
    }
