"""Explanations as a page of HTML, which needs no other file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

from spacy_structreg.corpora.palette import css

if TYPE_CHECKING:
    from spacy_structreg.models.explanation import Decision, Explanation

PAGE = """\
<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{colors}body {{
  background: var(--ground); color: var(--text); font-family: sans-serif;
  max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
}}
table {{ border-collapse: collapse; margin: 0.5rem 0 1.5rem; display: block; overflow-x: auto; }}
th, td {{ text-align: left; padding: 0.2rem 0.8rem; border-bottom: 1px solid var(--rule); }}
td.number, th.number {{ text-align: right; font-variant-numeric: tabular-nums; }}
td.for {{ color: var(--for); }}
td.against {{ color: var(--against); }}
tr.needed td:first-child {{ font-weight: bold; }}
summary {{ cursor: pointer; padding: 0.3rem 0; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{analysis}</p>
<p>Score {score:.3f}. Features in bold are the fewest without which the runner-up would score as
much.</p>
{decisions}
</body>
</html>
"""
OF_DECISION = ("template", "value", "source", "score")
OF_DIFFERENCE = ("template", "value", "at", "source", "decision", "runner-up", "difference")
# Columns from here on are numbers.
WORDS = {"template", "value", "at", "source"}


def page(found: Explanation, number: int | None = None) -> str:
    """An explanation as a page. number: of one decision, from 1 on; None for all.

    Raises ValueError if there is no such decision.
    """
    chosen = (
        list(enumerate(found.decisions, 1))
        if number is None
        else [(number, found.decision(number))]
    )
    return PAGE.format(
        colors=css(),
        title=escape(found.text) or "-",
        analysis=escape(found.analysis).replace("\n", "<br>"),
        score=found.score,
        decisions="\n".join(
            "".join(section(each, one, is_open=number is not None)) for each, one in chosen
        ),
    )


def section(number: int, decision: Decision, *, is_open: bool) -> Iterator[str]:
    """Yield the pieces of the part of a page about one decision."""
    other = "no other choice"
    if decision.runner_up is not None:
        other = f"runner-up {escape(decision.runner_up)}, {decision.margin:.3f} behind"
    yield f"<details{' open' if is_open else ''}>\n<summary>{number}. "
    yield f"{escape(decision.place)}: <b>{escape(decision.chosen)}</b>, {other}</summary>\n"
    yield from table(
        OF_DECISION,
        (
            ((each.template, each.value, each.source, each.score), False)
            for each in decision.contributions
        ),
    )
    if decision.runner_up is not None:
        needed = set(decision.to_change)
        yield f"<p>Against {escape(decision.runner_up)}:</p>\n"
        yield from table(
            OF_DIFFERENCE,
            (
                (
                    (
                        each.template,
                        each.value,
                        each.place,
                        each.source,
                        each.chosen,
                        each.runner_up,
                        each.score,
                    ),
                    each in needed,
                )
                for each in decision.differences
            ),
        )
    yield "</details>"


def table(
    header: Iterable[str], rows: Iterable[tuple[tuple[str | float, ...], bool]]
) -> Iterator[str]:
    """Yield the pieces of a table. rows: cells, and whether the row is marked."""
    yield "<table>\n<tr>"
    for name in header:
        yield f"<th>{name}</th>" if name in WORDS else f'<th class="number">{name}</th>'
    yield "</tr>\n"
    for cells, is_marked in rows:
        yield '<tr class="needed">' if is_marked else "<tr>"
        for cell in cells:
            if isinstance(cell, str):
                yield f"<td>{escape(cell)}</td>"
            else:
                side = " for" if cell > 0 else " against" if cell < 0 else ""
                yield f'<td class="number{side}">{cell:.3f}</td>'
        yield "</tr>\n"
    yield "</table>\n"
