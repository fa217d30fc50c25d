"""Figures and tables of reports, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy_structreg.metrics.summary import Summary, summary
from studies.grids import GridFile
from studies.results import KeyT, ResultFile, ResultT


def of(
    results: ResultFile[KeyT, ResultT], keys: Iterable[KeyT], figure: Callable[[ResultT], float]
) -> Summary:
    """The summary of one figure of some results. Raises ValueError if one is missing."""
    return summary(figure(results[key]) for key in keys)


def shown(s: Summary, digits: int = 2) -> str:
    """A mean and its standard deviation."""
    return f"{s.mean:.{digits}f}" + ("" if s.sd is None else f" ± {s.sd:.{digits}f}")


def interval(s: Summary, digits: int = 2) -> str:
    """The 95 % interval of a mean; nothing for a single number."""
    if s.half is None:
        return ""
    return f"{s.mean - s.half:.{digits}f} to {s.mean + s.half:.{digits}f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], n_text: int = 1) -> str:
    """A table in Markdown: the first `n_text` columns are text, the others are figures."""
    lines = [header, ["---"] * n_text + ["---:"] * (len(header) - n_text), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def full_columns(
    header: Sequence[str], rows: Sequence[Sequence[str]], n_text: int, hidden: Iterable[str] = ()
) -> str:
    """A table without the columns that have no figure at all, or a title that is hidden."""
    kept = [
        i for i, title in enumerate(header) if title not in hidden and any(row[i] for row in rows)
    ]
    return table(
        [header[i] for i in kept],
        ([row[i] for i in kept] for row in rows),
        n_text=sum(i < n_text for i in kept),
    )


def verdict(gain: Summary, above: str, below: str, within: str = "undecided") -> str:
    """What to call a mean difference: above or below 0, or 0 within its 95 % interval."""
    if gain.half is None:
        return "one pair"
    if abs(gain.mean) <= gain.half:
        return within
    return above if gain.mean > 0 else below


def gained(gain: Summary) -> str:
    """A mean difference and half its 95 % interval."""
    return f"{gain.mean:+.2f}" + ("" if gain.half is None else f" ± {gain.half:.2f}")


def versions(results: Iterable[Any]) -> str:
    """The versions of the package that results were made by."""
    return " and ".join(sorted({result.version for result in results}))


def command(usual: str, usual_grid: str, grid: GridFile, results: ResultFile[Any, Any]) -> str:
    """What makes a report; other grids than the usual one have their files beside it."""
    name = grid.path.stem
    if name == usual_grid:
        return usual
    return (
        f"{usual} --vars.grid {grid.path.as_posix()} "
        f"--vars.report {results.path.parent.as_posix()} --vars.findings {name}.md"
    )
