"""The pictures: curves of figures with their 95 % intervals, a panel for each corpus; claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import wrap
from typing import Any, Final

from claims import NOT_RUN, Finding
from grid import FAILS, HOLDS, MEASURED, OPEN, Grid, Results, Row, Table
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from report import drawn_panels, papers_points
from rows import figures_in, runs_of
from studies.grids import value_text
from studies.pictures import label_points, panels

from spacy_structreg.corpora.palette import COLORS

MARKS: Final = {
    HOLDS: ("o", COLORS["for"].light),
    FAILS: ("X", COLORS["against"].light),
    OPEN: ("s", COLORS["muted"].light),
}
"""Marker and color of a claim by what becomes of it."""

Curves = dict[str, list[tuple[Row, float, float, float]]]
"""By series: rows, what places their points, what they are of, and half of its interval."""


def curves_of(grid: Grid, results: Results, part: Table, corpus: str, column: str) -> Curves:
    """The curves of a panel."""
    assert part.axis is not None
    found: Curves = {}
    for row in expanded(grid, results, part, corpus, column):
        runs = runs_of(grid, results, corpus, row, part.seeds[corpus])
        y = runs.summary(figures_in(column, row))
        place: float | None = place_of(part, row.value)
        if part.axis.by in MEASURED:
            x = runs.summary([part.axis.by])
            place = None if x is None else x.mean
        if y is not None and place is not None:
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


def draw_paper(axes: Any, part: Table, column: str) -> None:
    """The points that the paper gives."""
    order = list(dict.fromkeys(row.series for row in part.rows))
    for row, figure in papers_points(part, column):
        axes.plot(
            place_of(part, row.value),
            figure,
            "o",
            color=f"C{order.index(row.series)}",
            markerfacecolor="none",
            label=row.series,
        )


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
        return
    first, last = min(values), max(values)
    if part.axis.log:
        margin = (last / first) ** 0.06
        axes.set_xlim(first / margin, last * margin)
    else:
        margin = (last - first) * 0.05
        axes.set_xlim(first - margin, last + margin)
    if not any(row.on == "epoch" for row in part.rows):
        axes.xaxis.set_major_locator(FixedLocator(values))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))


def panels_of(grid: Grid, results: Results, each: Table) -> list[tuple[Table, str, str, Curves]]:
    """What is drawn: parts of a figure, corpora, columns, our curves.

    There are none beside what the paper gives of a corpus that we have not run.
    """
    drawn = drawn_panels(grid, results, each)
    found = []
    for part in dict.fromkeys(part.title for part, _ in drawn):
        (table,) = (each for each in each.parts if each.title == part)
        corpora = [corpus for other, corpus in drawn if other is table]
        for column in table.columns:
            for corpus in corpora:
                if curves := curves_of(grid, results, table, corpus, column):
                    found.append((table, corpus, column, curves))
            if table.of not in corpora and papers_points(table, column):
                found.append((table, table.of, column, {}))
    return found


def picture(grid: Grid, results: Results, each: Table) -> Any:
    """The picture of a figure: our curves, and the points that the paper gives."""
    wanted = panels_of(grid, results, each)
    figure, places = panels(len(wanted), 2, 4.9, 3.4)
    for axes, (part, corpus, column, curves) in zip(places, wanted, strict=True):
        draw(axes, part, curves, column)
        if corpus == part.of:
            draw_paper(axes, part, column)
        scale(axes, part)
        title = str(grid.corpora[corpus].get("title", corpus)).partition(" (")[0]
        told = [part.title] * bool(each.panels) + ["the paper"] * (not curves) + [title]
        axes.set_title(": ".join(told))
        handles, labels = axes.get_legend_handles_labels()
        if len(set(labels)) > 1:
            named = dict(reversed([*zip(labels, handles, strict=True)]))
            axes.legend([named[label] for label in dict.fromkeys(labels)], dict.fromkeys(labels))
    return figure


def pictures(grid: Grid, results: Results) -> dict[str, Callable[[], Any]]:
    """What draws each picture, by its name."""
    return {
        each.name: partial(picture, grid, results, each)
        for each in grid.tables
        if drawn_panels(grid, results, each)
    }


Claims = Mapping[str, Sequence[tuple[Table, Finding]]]


def claims_picture(claims: Claims) -> Any:
    """The picture of all claims that are run: a row each, by papers; below, those about times.

    claims: by the title of the paper, with their tables.
    """
    figure, places = panels(2, 1, 9.2, 1)
    heights = []
    for axes, is_ratio in zip(places, (False, True), strict=True):
        kept = {
            title: [
                (table, found)
                for table, found in of_paper
                if found.is_ratio == is_ratio and found.verdict != NOT_RUN
            ]
            for title, of_paper in claims.items()
        }
        heights.append(draw_claims(axes, {title: each for title, each in kept.items() if each}))
        if is_ratio:
            axes.set_xscale("log")
            axes.set_xlabel("ratio of times or speeds (log scale); right of 1 as in the paper")
        else:
            axes.set_xscale("symlog", linthresh=1, linscale=1.5)
            axes.xaxis.set_major_locator(FixedLocator([-10, -1, -0.5, 0, 0.5, 1, 10]))
            axes.set_xlabel("difference in points (log scale beyond 1); right of 0 as in the paper")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.axvline(1 if is_ratio else 0, color=COLORS["line"].light, linewidth=0.8, zorder=1)
    figure.set_size_inches(9.2, 0.125 * sum(heights) + 1.2)
    places[0].get_gridspec().set_height_ratios(heights)
    for verdict, (marker, color) in MARKS.items():
        places[0].plot([], [], marker, color=color, markersize=4, label=f"ours: {verdict}")
    places[0].plot([], [], **PAPER, label="the paper")
    places[0].plot([], [], "|", color=COLORS["text"].light, label="gains at most")
    places[0].legend(loc="lower center", bbox_to_anchor=(0.2, 1), ncols=5, frameon=False)
    return figure


PAPER: Final[dict[str, Any]] = {
    **{"marker": "D", "linestyle": "", "color": COLORS["text"].light, "markersize": 4},
    **{"markerfacecolor": "none", "markeredgewidth": 0.8, "zorder": 4},
}
"""The style of what a paper has."""


def draw_claims(axes: Any, claims: Claims) -> float:
    """Draw a row for each claim, from the top; returns the height of all, in lines."""
    y, places, labels = 0.0, [], []
    for title, of_paper in claims.items():
        places.append(y)
        labels.append(title)
        y += 1.4
        for table, found in of_paper:
            named = table.name.replace("table_", "T").replace("figure_", "F").replace("_", " ")
            lines = wrap(f"{named}: {found.title}", 82)
            y += 0.45 * (len(lines) - 1)
            places.append(y)
            labels.append("\n".join(lines))
            draw_claim(axes, found, y)
            y += 1 + 0.45 * (len(lines) - 1)
        y += 0.5
    axes.set_ylim(y - 0.5, -1)
    axes.set_yticks(places, labels, fontsize=6.2, linespacing=0.95)
    for label in axes.get_yticklabels():
        if label.get_text() in claims:
            label.set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    return y + 0.5


def draw_claim(axes: Any, found: Finding, y: float) -> None:
    """Draw what the paper has, our mean, and its interval."""
    scaled = math.exp if found.is_ratio else float
    marker, color = MARKS[found.verdict]
    assert found.ours is not None
    mean, half = found.ours.mean, found.ours.half or 0.0
    axes.plot([scaled(mean - half), scaled(mean + half)], [y, y], color=color, linewidth=1.2)
    axes.plot(scaled(mean), y, marker, color=color, markersize=4)
    if found.claim.at_most is not None:
        axes.plot(found.claim.at_most, y, "|", color=COLORS["text"].light, markersize=6)
    if found.published is not None:
        axes.plot(scaled(found.published), y, **PAPER)
