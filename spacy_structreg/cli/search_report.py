"""The table and the picture of the trials of a search."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from spacy_structreg.cli.pictures import new_figure, save_figure
from spacy_structreg.cli.search_space import Range, Space

Lines = Sequence[Mapping[str, Any]]


def table_of(lines: Lines, metric: str, budgets: Sequence[int]) -> str:
    """A table of trials in Markdown, the best first; of several rounds, the last one first.

    lines: of the file of trials. budgets: how much of the resource each round gives.
    """
    names = short_names(lines)
    rows = [["trial", "budget", *names.values(), metric, "epoch"]]
    for line in sorted(lines, key=_place):
        settings = {name: json.dumps(v, ensure_ascii=False) for name, v in line["settings"].items()}
        cells = [settings.get(name, "").replace("|", "\\|") for name in names]
        figure = "failed" if line["figure"] is None else f"{100 * line['figure']:.2f}"
        budget = f"{budgets[line['round']]:,}"
        rows.append([str(line["trial"]), budget, *cells, figure, str(line.get("epoch", ""))])
    if len(budgets) == 1:
        for row in rows:
            del row[1]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * (width - 1) + ":" for width in widths])
    lined = (" | ".join(map(str.rjust, row, widths)) for row in rows)
    return "".join(f"| {line} |\n" for line in lined)


def _place(line: Mapping[str, Any]) -> tuple[int, float, int]:
    figure = line["figure"]
    return -line["round"], 1.0 if figure is None else -figure, line["trial"]


def short_names(lines: Lines) -> dict[str, str]:
    """The names of the settings of trials, without the blocks that all of them lie in."""
    names = sorted({name for line in lines for name in line["settings"]})
    blocks = zip(*(name.split(".")[:-1] for name in names), strict=False)
    shared = sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, blocks))
    return {name: ".".join(name.split(".")[shared:]) for name in names}


def draw_trials(lines: Lines, space: Space, metric: str, path: Path) -> None:
    """Draw the figures of the trials by each setting, a panel each, later rounds darker.

    lines: of the file of trials.
    """
    names = short_names(lines)
    n_columns = min(3, len(names))
    n_rows = -(-len(names) // n_columns)
    figure, axes = new_figure(
        "search", n_rows, n_columns, figsize=(3.6 * n_columns, 3.0 * n_rows), sharey=True
    )
    last = max(line["round"] for line in lines)
    done = [line for line in lines if line["figure"] is not None]
    for axis, (name, short) in zip(axes.flat, names.items(), strict=False):
        values = space.settings.get(name)
        for number in range(last + 1):
            of_round = [
                line for line in done if line["round"] == number and name in line["settings"]
            ]
            tried = [line["settings"][name] for line in of_round]
            axis.plot(
                tried if isinstance(values, Range) else list(map(json.dumps, tried)),
                [line["figure"] for line in of_round],
                linestyle="none",
                marker="o",
                markersize=4,
                color="C0",
                alpha=1.0 if number == last else 0.2 + 0.4 * number / last,
                label=f"round {number + 1}",
            )
        if isinstance(values, Range) and values.log:
            axis.set_xscale("log")
        axis.margins(x=0.2)
        axis.set(title=short)
    for axis in list(axes.flat)[len(names) :]:
        axis.set_visible(False)
    for row in axes:
        row[0].set_ylabel(metric)
    if last:
        axes[0][0].legend()
    save_figure(figure, path)
