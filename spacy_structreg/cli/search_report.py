"""The table and the picture of the trials of a search."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy_structreg.cli.pictures import new_figure, save_figure
from spacy_structreg.cli.search_space import Range

__all__ = ["draw_trials", "table_of"]

Lines = Sequence[Mapping[str, Any]]


def table_of(lines: Lines, settings: Mapping[str, Any], metric: str, budgets: Sequence[int]) -> str:
    """A table of trials in Markdown, the best first; of several rounds, the last one first.

    lines: of the file of trials. settings: what trials have (`Space.columns`). budgets: how much
    of the resource each round gives.
    """
    names = short_names(settings)
    header = ["trial", *names.values(), metric, "epoch"]
    if len(budgets) > 1:
        header.insert(1, "budget")
    rows = []
    for line in sorted(lines, key=_place):
        cells = [_text(line["settings"], name) for name in names]
        figure = "failed" if line["figure"] is None else f"{100 * line['figure']:.2f}"
        row = [str(line["trial"]), *cells, figure, str(line.get("epoch", ""))]
        if len(budgets) > 1:
            row.insert(1, f"{budgets[line['round']]:,}")
        rows.append([cell.replace("|", "\\|") for cell in row])
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    rule = ["-" * (width - 1) + ":" for width in widths]
    lined = (
        " | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in (header, rule, *rows)
    )
    return "".join(f"| {line} |\n" for line in lined)


def _text(settings: Mapping[str, Any], name: str) -> str:
    return json.dumps(settings[name], ensure_ascii=False) if name in settings else ""


def _place(line: Mapping[str, Any]) -> tuple[int, float, int]:
    figure = line["figure"]
    return -line["round"], 1.0 if figure is None else -figure, line["trial"]


def short_names(settings: Mapping[str, Any]) -> dict[str, str]:
    """The names of settings without the blocks that all of them lie in."""
    blocks = [name.split(".")[:-1] for name in settings]
    shared = 0
    for parts in zip(*blocks, strict=False):
        if len(set(parts)) > 1:
            break
        shared += 1
    return {name: ".".join(name.split(".")[shared:]) for name in settings}


def draw_trials(lines: Lines, settings: Mapping[str, Any], metric: str, path: Path) -> None:
    """Draw the figures of the trials by each setting, a panel each, later rounds darker.

    lines: of the file of trials. settings: what trials have (`Space.columns`).
    """
    names = short_names(settings)
    n_columns = min(3, len(names))
    n_rows = -(-len(names) // n_columns)
    figure, axes = new_figure(
        "search", n_rows, n_columns, figsize=(3.6 * n_columns, 3.0 * n_rows), sharey=True
    )
    last = max(line["round"] for line in lines)
    done = [line for line in lines if line["figure"] is not None]
    panels = list(axes.flat)
    for axis, (name, short) in zip(panels, names.items(), strict=False):
        values = settings[name]
        for number in range(last + 1):
            of_round = [
                line for line in done if line["round"] == number and name in line["settings"]
            ]
            tried = [line["settings"][name] for line in of_round]
            axis.plot(
                tried if isinstance(values, Range) else [values.index(each) for each in tried],
                [line["figure"] for line in of_round],
                linestyle="none",
                marker="o",
                markersize=4,
                color="C0",
                alpha=1.0 if number == last else 0.2 + 0.4 * number / last,
                label=f"round {number + 1}",
            )
        if not isinstance(values, Range):
            axis.set_xticks(range(len(values)), [json.dumps(each) for each in values])
            axis.margins(x=0.2)
        elif values.log:
            axis.set_xscale("log")
        axis.set(title=short)
    for axis in panels[len(names) :]:
        axis.set_visible(False)
    for row in axes:
        row[0].set_ylabel(metric)
    if last:
        axes[0][0].legend()
    save_figure(figure, path)
