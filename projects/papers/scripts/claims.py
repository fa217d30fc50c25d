"""The claims of a paper, and what our runs say of them.

A claim is a difference between systems that the paper has run. What becomes of it follows from the
interval of ours alone, by `judged`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from grid import FAILS, HOLDS, MEASURED, OPEN, Claim, Grid, Results, Row, Table
from rows import figures_in, mean, runs_of
from studies.tables import gained, table, verdict

from spacy_structreg.metrics.summary import Summary, differences, summary

NOT_RUN: Final = "not run"
RULE: Final = (
    "What becomes of a claim follows from the 95 % interval of our difference, over seeds "
    "(Student's t, paired by seed). It **holds** if the interval lies wholly on the side that the "
    "paper has; it **does not hold** if it lies wholly on the other; else, or with one seed, it "
    "**cannot be told at this size**. A claim that something gains nothing names what it may gain "
    "at most: it holds if the interval lies below that, and does not if it lies above. Times and "
    "speeds are compared by their ratio. What a paper says of a curve is a claim about its points, "
    "or, where it names none, about the mean of all points. On several corpora the difference is "
    "the mean of theirs, seed by seed; if we have corpora of the paper, it is of these alone."
)


@dataclass(frozen=True)
class Finding:
    """What our runs say of a claim.

    ours, published: the difference, or of what was measured the logarithm of the ratio; None where
    there is none. corpora: by name, the same of each. verdict: `HOLDS`, `FAILS` or `OPEN`;
    `NOT_RUN` without runs.
    """

    claim: Claim
    ours: Summary | None
    published: float | None
    corpora: dict[str, Summary]
    verdict: str

    @property
    def title(self) -> str:
        """The claim, with its panel and its margin."""
        claim = self.claim
        margin = "" if claim.at_most is None else f" (at most {claim.at_most:g})"
        return claim.says + margin + f" ({claim.panel})" * bool(claim.panel)

    @property
    def is_ratio(self) -> bool:
        return self.claim.column in MEASURED


def judged(gain: Summary, at_most: float | None = None) -> str:
    """What becomes of a claim: `HOLDS`, `FAILS` or `OPEN`; see `RULE`.

    gain: our difference, above 0 on the side of the paper. at_most: of `Claim`.
    """
    if gain.half is None:
        return OPEN
    if at_most is not None:
        gain = replace(gain, mean=at_most - gain.mean)
    return verdict(gain, HOLDS, FAILS, OPEN)


def findings(grid: Grid, results: Results, each: Table) -> list[Finding]:
    """What our runs say of all claims of a table; of each panel that has its rows and is run."""
    found = []
    for claim in each.claims:
        of_panels = [
            finding(grid, results, part, replace(claim, panel=part.title * bool(each.panels)))
            for part in each.parts
            if part.has(claim)
        ]
        ran = [one for one in of_panels if one.verdict != NOT_RUN]
        found += ran or of_panels[:1]
    return found


def finding(grid: Grid, results: Results, part: Table, claim: Claim) -> Finding:
    """What our runs say of a claim on one table, or panel of a figure."""
    claim = replace(claim, column=claim.column or next(iter(part.columns)))
    pairs = {
        corpus: pair
        for corpus in part.seeds
        if (not claim.corpora or corpus in claim.corpora)
        and (pair := sides(grid, results, part, claim, corpus)) is not None
    }
    if owned := {corpus for corpus in pairs if "needs" in grid.corpora[corpus]}:
        pairs = {corpus: pairs[corpus] for corpus in owned}
    n_seeds = min((len(more) for more, _ in pairs.values()), default=0)
    ours = None
    if pairs:
        more, less = (
            [mean(pair[side][seed] for pair in pairs.values()) for seed in range(n_seeds)]
            for side in (0, 1)
        )
        ours = differences(more, less)
    return Finding(
        claim,
        ours,
        published(part, claim),
        {corpus: differences(*pair) for corpus, pair in pairs.items()},
        NOT_RUN if ours is None else judged(ours, claim.at_most),
    )


def sides(
    grid: Grid, results: Results, part: Table, claim: Claim, corpus: str
) -> tuple[list[float], list[float]] | None:
    """The figures of both sides of a claim, seed by seed; None if runs are missing."""
    both, varies, column = [], False, claim.column
    for rows in rows_of(part, claim):
        of_rows = []
        for row in rows:
            runs = runs_of(grid, results, corpus, row, part.seeds[corpus])
            values = runs.values(figures_in(column, row)) if runs.is_whole else None
            if values is None or (column in MEASURED and not all(value > 0 for value in values)):
                return None
            varies |= runs.varies
            of_rows.append([scaled(value, column) for value in values])
        both.append([mean(values) for values in zip(*of_rows, strict=True)])
    more, less = both
    # What draws nothing is one run, not as many as there are seeds.
    return (more, less) if varies else (more[:1], less[:1])


def scaled(value: float, column: str) -> float:
    """A figure as differences are taken of it: those of logarithms are ratios."""
    return math.log(value) if column in MEASURED else value


def published(part: Table, claim: Claim) -> float | None:
    """The difference in the paper: that it names, or that of its figures, the mean of corpora."""
    if claim.published is not None:
        return scaled(claim.published, claim.column)
    more, less = rows_of(part, claim)
    found = []
    for corpus in [part.of] if part.of and part.of not in part.seeds else part.seeds:
        both = [
            [
                scaled(figures[name], claim.column)
                for figures in (row.paper.get(corpus, {}) for row in side)
                for name in claim.column.split(" or ")
                if name in figures
            ]
            for side in (more, less)
        ]
        if len(both[0]) == len(more) and len(both[1]) == len(less):
            found.append(mean(both[0]) - mean(both[1]))
    return mean(found) if found else None


def rows_of(part: Table, claim: Claim) -> tuple[list[Row], list[Row]]:
    """The rows of both sides of a claim; of two curves those at values that both have."""
    names = (claim.more, claim.less)
    more, less = (
        [row for name in side for row in part.rows if name in (row.name, row.series)]
        for side in names
    )
    if {row.name for row in part.rows}.isdisjoint([*claim.more, *claim.less]):
        values = {row.value for row in more} & {row.value for row in less}
        more, less = ([row for row in side if row.value in values] for side in (more, less))
    return more, less


def shown(found: Finding, gain: Summary | None) -> str:
    """Our difference and half its interval, or a ratio and its interval."""
    if gain is None:
        return ""
    if not found.is_ratio:
        return gained(gain)
    text = f"× {math.exp(gain.mean):.2f}"
    if gain.half is None:
        return text
    low, high = (math.exp(gain.mean + sign * gain.half) for sign in (-1, 1))
    return f"{text} ({low:.2f} to {high:.2f})"


def counted(found: Sequence[Finding]) -> str:
    """How many claims hold, do not, and cannot be told, in words; "" if there are none."""
    counts = Counter(each.verdict for each in found)
    words = {
        HOLDS: ("holds", "hold"),
        FAILS: ("does not hold", "do not hold"),
        OPEN: ("cannot be told",) * 2,
        NOT_RUN: (NOT_RUN,) * 2,
    }
    return ", ".join(f"{n} {words[name][n > 1]}" for name in words if (n := counts[name]))


def section(grid: Grid, found: Sequence[Finding]) -> list[str]:
    """The claims of a page with their verdicts; below, lines by hand."""
    if not found:
        return ["The paper compares no two systems here, so that there is no claim to be tried."]
    rows, notes = [], []
    for each in found:
        claim = each.claim
        titles = [short(grid, corpus) for corpus in each.corpora]
        several = len(titles) > 1
        paper = "" if each.published is None else shown(each, summary([each.published]))
        rows.append(
            [
                each.title,
                f"mean of {len(titles)}" if several else "".join(titles),
                paper,
                shown(each, each.ours),
                f"**{each.verdict}**",
            ]
        )
        rows += [
            ["", title, "", shown(each, gain), judged(gain, claim.at_most)]
            for title, gain in zip(titles, each.corpora.values(), strict=True)
            if several
        ]
        if each.verdict in claim.why and claim.why[each.verdict] not in notes:
            notes.append(claim.why[each.verdict])
    header = ["claim of the paper", "corpus", "difference, paper", "difference, ours", "verdict"]
    return [
        f"{len(found)} claim{'s' * (len(found) > 1)} of the paper: {counted(found)} "
        "([the rule](../index.md)).",
        table(header, rows, n_text=2),
        *notes,
    ]


def short(grid: Grid, corpus: str) -> str:
    """The title of a corpus without its sizes."""
    return re.sub(r" \([^)]*\)", "", str(grid.corpora[corpus].get("title", corpus)))
