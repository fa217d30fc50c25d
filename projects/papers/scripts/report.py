"""The pages of a paper: one for each table and figure, and a list of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from claims import counted, findings, section
from grid import HERE, MEASURED, Grid, Result, Results, Row, Table
from rows import Runs, figures_in, mean, runs_of
from run import unpacked
from studies.tables import full_columns, gained, interval, table, versions

from spacy_structreg.metrics.figures import Counts
from spacy_structreg.metrics.significance import randomization_test
from spacy_structreg.metrics.summary import differences

NOT_RUN = "not run yet"
N_SEEDS = 5
DIFFERENCE = (
    "*Difference* is that of the means to the row that is named, in percentage points, with half "
    "its 95 % interval over seeds (Student's t, paired by seed)."
)
TEST = (
    "*p* is the probability that the difference comes by chance alone: approximate randomization "
    "over sentences (Yeh 2000; 10,000 exchanges), the counts of all seeds and folds of a sentence "
    "taken together."
)
DRAWN = "Points are means over seeds, bands and bars their 95 % intervals."
LEVELS = "Dotted lines are levels without what is varied."
HOLLOW = "Hollow points are the paper's."


def p_value(first: Runs, second: Runs, figure: str) -> float | None:
    """The p of the test over sentences; None for figures that are not counted by sentence."""
    counts = []
    for runs in (first, second):
        if not all(figure in fold.sentences for folds in runs.seeds for fold in folds):
            return None
        counts.append(
            tuple(tuple(fold.sentences[figure] for fold in folds) for folds in runs.seeds)
        )
    return tested(counts[0], counts[1])


@cache
def tested(first: tuple[tuple[str, ...], ...], second: tuple[tuple[str, ...], ...]) -> float:
    """The p of the counts of two systems, by seed and fold."""
    return randomization_test(added(first), added(second))


def added(seeds: Iterable[Sequence[str]]) -> list[Counts]:
    """The counts of each sentence of all folds, those of the seeds added up."""
    # Folds have different sentences.
    counts = [np.concatenate([unpacked(fold) for fold in folds]) for folds in seeds]
    return [Counts(*each) for each in np.sum(counts, axis=0).tolist()]


def figures_rows(
    grid: Grid, results: Results, each: Table, corpus: str
) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a table on one corpus."""
    n_seeds = each.seeds[corpus]
    header = ["system", "held against"]
    measured = [each.axis.by] if each.axis is not None and each.axis.by in MEASURED else []
    for name in measured:
        header += [MEASURED[name], "95 % interval"]
    for title in each.columns.values():
        header += [f"{title}, paper", f"{title}, ours", "95 % interval", "difference", "p"]
    rows, names = [], {row.name: row for row in each.rows}
    has_several = len(held_against(each)) > 1
    for row in each.rows:
        ours = runs_of(grid, results, corpus, row, n_seeds)
        cells = [row.name, row.against if has_several else ""]
        for name in measured:
            cells += measured_cells(ours, name)
        for column in each.columns:
            theirs = row.paper.get(corpus, row.paper.get(each.of, {}))
            paper = next((theirs[name] for name in column.split(" or ") if name in theirs), None)
            cells.append("" if paper is None else f"{paper:g}")
            figures = figures_in(column, row)
            values = ours.values(figures) if ours.is_whole else None
            found = ours.summary(figures)
            if values is None or found is None:
                cells += [NOT_RUN if not ours.is_whole else "", "", "", ""]
                continue
            cells += [f"{found.mean:.2f}", interval(found), "", ""]
            if not row.against:
                continue
            other = runs_of(grid, results, corpus, names[row.against], n_seeds)
            before = other.values(figures_in(column, names[row.against]))
            if other.is_whole and before is not None:
                is_tested = each.axis is None and len(figures) == 1
                # Test sets that each seed draws for itself have no sentences to be paired.
                is_tested = is_tested and "draws" not in grid.corpora[corpus]
                p = p_value(ours, other, figures[0]) if is_tested else None
                n_pairs = n_seeds if ours.varies or other.varies else 1
                gain = differences(values[:n_pairs], before[:n_pairs])
                cells[-2:] = [gained(gain), "" if p is None else f"{p:.4f}"]
        rows.append(cells)
    return header, rows


def measured_cells(ours: Runs, name: str) -> tuple[str, str]:
    """A measured number, with three digits, and its interval; empty if it cannot be told."""
    found = ours.summary([name])
    if found is None:
        return "" if ours.is_whole else NOT_RUN, ""
    digits = max(0, 2 - math.floor(math.log10(found.mean))) if found.mean > 0 else 2
    return f"{found.mean:.{digits}f}", interval(found, digits)


def state(grid: Grid, results: Results, each: Table) -> str:
    """The number of runs of a table that are there, in words."""
    keys = grid.keys_of(each)
    n_made = sum(key in results for key in keys)
    if not keys:
        return "no grid yet"
    return f"{n_made} of {len(keys)} runs" if n_made else NOT_RUN


def here(grid: Grid, results: Results, each: Table) -> tuple[str, str]:
    """Whether a table is run here, one of `HERE`, and what is missing."""
    yes, in_part, no = HERE
    missing: dict[str, list[str]] = {}
    found = 0
    for part in each.parts:
        made = {
            corpus: [runs_of(grid, results, corpus, row, n_seeds).is_whole for row in part.rows]
            for corpus, n_seeds in part.seeds.items()
        }
        # A corpus that nobody here has is no fault of the page.
        if not any(map(any, made.values())) and all("needs" in grid.corpora[c] for c in made):
            continue
        best = max(made, key=lambda corpus: (sum(made[corpus]), part.seeds[corpus]))
        found += sum(made[best])
        n_seeds = part.seeds[best]
        if not all(made[best]):
            missing.setdefault(f"{sum(made[best])} of {len(part.rows)} rows", []).append(part.title)
        elif n_seeds < N_SEEDS:
            missing.setdefault(f"{n_seeds} seed{'s' * (n_seeds > 1)}", []).append(part.title)
    if not found:
        return no, ""
    told = [
        f"{what} of {', '.join(titles)}" if each.panels and len(titles) < len(each.panels) else what
        for what, titles in missing.items()
    ]
    told += [each.lacks] * bool(each.lacks)
    return (in_part, "; ".join(told)) if told else (yes, "")


def shared(grid: Grid, results: Results, each: Table) -> list[tuple[Table, int]]:
    """The other tables that have runs in common with a table, and how many of those made."""
    made = {key for key in grid.keys_of(each) if key in results}
    others = [(other, len(made & grid.keys_of(other))) for other in grid.tables if other != each]
    return [(other, n) for other, n in others if n]


def said_of_sharing(grid: Grid, results: Results, each: Table) -> str:
    """The pages that have runs in common with this one, in words."""
    links = [
        f"[{other.title.partition(',')[0]}]({other.name}.md) ({n})"
        for other, n in shared(grid, results, each)
    ]
    if not links:
        return ""
    n_made = sum(key in results for key in grid.keys_of(each))
    return f"Of its {n_made} runs, these are also those of other pages: {', '.join(links)}."


def page(grid: Grid, results: Results, each: Table, plots: str) -> list[str]:
    """The page of a table or figure."""
    is_here, missing = here(grid, results, each)
    is_here = f"**{is_here}**: {missing}" if missing else f"**{is_here}**"
    parts = [f"# {grid.title}: {each.title}", f"Run here: {is_here}. {each.because}"]
    parts.append(said_of_sharing(grid, results, each))
    if drawn := drawn_panels(grid, results, each):
        parts += [f"![{each.title}]({each.name}{plots})", said_of_picture(drawn)]
    parts += [each.shows] if each.shows else section(grid, findings(grid, results, each))
    if each.differs:
        parts.append(f"What differs from the paper: {each.differs}")
    figures, shown = [], set[str]()
    for part in each.parts:
        named = f"{part.title}: " if each.panels else ""
        found, titles = results_of(grid, results, part, named)
        figures += found
        shown |= titles
    if against := dict.fromkeys(name for part in each.parts for name in held_against(part)):
        what = "Rows" if each.parts[0].axis is None else "Points"
        quoted = "; ".join(f'"{name}"' for name in against)
        told = [f"{what} are held against: {quoted}."]
        told += [DIFFERENCE] * ("difference" in shown) + [TEST] * ("p" in shown)
        parts.append(" ".join(told))
    return parts + figures


def said_of_picture(drawn: Sequence[tuple[Table, str]]) -> str:
    """The legend of a picture in words: its lines and points."""
    told = [DRAWN]
    if any(row.value is None for part, _ in drawn for row in part.rows):
        told.append(LEVELS)
    if any(papers_points(part, column) for part, _ in drawn for column in part.columns):
        told.append(HOLLOW)
    return " ".join(told)


def papers_points(part: Table, column: str) -> list[tuple[Row, float]]:
    """The rows of a panel that the paper gives a figure of, and that have a place on the axis."""
    if part.axis is None or part.axis.by in MEASURED:
        return []
    found = [(row, row.paper.get(part.of, {}).get(column)) for row in part.rows]
    return [(row, each) for row, each in found if row.value is not None and each is not None]


def held_against(each: Table) -> list[str]:
    """The rows that others are held against, each once.

    A curve goes by its name where another one is held against it point by point.
    """
    names = {row.name: row for row in each.rows}
    held = [(row.series, names[row.against]) for row in each.rows if row.against]
    # A curve that is held against a single point has the same one at all values.
    others: dict[str, set[str]] = {}
    for series, other in held:
        others.setdefault(series, set()).add(other.name)
    return [
        *dict.fromkeys(
            other.series if other.series and len(others[series]) > 1 else other.name
            for series, other in held
        )
    ]


def drawn_panels(grid: Grid, results: Results, each: Table) -> list[tuple[Table, str]]:
    """The panels of a figure, each with a corpus, that all points are there of."""
    return [
        (part, corpus)
        for part in each.parts
        if part.axis is not None
        for corpus, n_seeds in part.seeds.items()
        if all(runs_of(grid, results, corpus, row, n_seeds).is_whole for row in part.rows)
    ]


def results_of(grid: Grid, results: Results, each: Table, title: str) -> tuple[list[str], set[str]]:
    """The results of a table, or of a panel of a figure, corpus by corpus.

    Returned with the titles of columns that have a figure on any of them.
    """
    parts, titles = [], set[str]()
    for corpus in each.seeds:
        entry = grid.corpora[corpus]
        parts.append(f"## {title}{entry.get('title', corpus)}")
        told = [f"Seeds: {each.seeds[corpus]}."]
        if any(row.on != "test" for row in each.rows):
            told.append("Figures are those of the development set.")
        if "draws" in entry:
            told.append("Each has parts of the corpus of its own, drawn by the seed.")
            if each.axis is None:
                told.append("Differences are tested over seeds alone, by their intervals.")
        if grid.folds(corpus) > 1:
            told.append(f"Folds: {grid.folds(corpus)}, a figure is the mean of theirs.")
        keys = (key for row in each.rows for key in grid.keys(corpus, row, each.seeds[corpus]))
        if not any(key in results for key in keys):
            needs = f": it needs {entry['needs']}" if "needs" in entry else ""
            parts += [" ".join(told), f"{NOT_RUN.capitalize()}{needs}."]
            continue
        if each.of and each.of != corpus:
            of = grid.corpora.get(each.of, {}).get("title", each.of)
            told.append(f"The paper's figures are those of another corpus: {of}.")
        header, rows = figures_rows(grid, results, each, corpus)
        titles |= {name for row in rows for name, cell in zip(header, row, strict=True) if cell}
        parts += [" ".join(told), full_columns(header, rows, n_text=2)]
        parts.append(made_by(grid, results, each, corpus))
    return parts, titles


def made_by(grid: Grid, results: Results, each: Table, corpus: str) -> str:
    """The settings, times and code of the runs of a table on a corpus."""
    rows = []
    found: list[Result] = []
    for row in each.rows:
        runs = runs_of(grid, results, corpus, row, each.seeds[corpus])
        made = [fold for folds in runs.seeds for fold in folds]
        if not made:
            continue
        found += made
        system = grid.chosen(corpus, row.system) or row.system
        rows.append(
            [
                row.name,
                f"`{system.config}.cfg` {system.setting}".strip(),
                f"{mean(one.training_seconds for one in made):.1f}",
                f"{mean(one.decoding_seconds for one in made):.2f}",
                f"{mean(epoch for one in made for epoch in one.epochs):.1f}",
            ]
        )
    epochs = "best epoch"
    if any(row.system.to_the_optimum for row in each.rows):
        epochs += ", or iterations to the optimum"
    elif not any(row.system.chooses_epoch for row in each.rows):
        epochs = "epochs"
    header = ["system", "settings", "s to train", "s to test", epochs]
    checksums = sorted({one.checksum for one in found})
    commits = sorted({one.commit or "unknown" for one in found})
    return (
        table(header, rows, n_text=2)
        + f"\nCPU times of a run, in seconds. Corpus {', '.join(checksums)}, "
        f"version {versions(found)}, commit {', '.join(commits)}."
    )


def head(grid: Grid, results: Results) -> list[str]:
    """The title."""
    return [
        f"# {grid.title}",
        "The tables and figures of the paper, as far as they are run here. Each has a page, with "
        "the paper's figures and ours.",
    ]


def sections(grid: Grid, results: Results, plots: str) -> list[str]:
    """The list of tables."""
    return [listed(grid, results)]


def listed(grid: Grid, results: Results, folder: str = "") -> str:
    """The tables of a paper, with what there is of them."""
    rows = []
    for each in grid.tables:
        is_here, missing = here(grid, results, each)
        title = f"[{each.title}]({folder}{each.name}.md)" if grid.keys_of(each) else each.title
        others = ", ".join(
            f"{n} of {other.title.partition(',')[0]}" for other, n in shared(grid, results, each)
        )
        runs = state(grid, results, each) + f"; {others}" * bool(others)
        claims = counted(findings(grid, results, each))
        rows.append([title, is_here, missing, claims, runs, each.because])
    header = ["table or figure", "run here", "missing", "claims", "runs, those shared", "reason"]
    return full_columns(header, rows, n_text=6)


def pages(grid: Grid, results: Results, plots: str) -> dict[str, list[str]]:
    """The pages of tables, by the names of their files."""
    return {
        f"{each.name}.md": page(grid, results, each, plots)
        for each in grid.tables
        if grid.keys_of(each)
    }
