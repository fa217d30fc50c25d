"""Write the report of the study: tables of all experiments, from the grid and the results alone.

    python scripts/report.py GRID RESULTS REPORT [--findings FILE] [--plots .svg]

REPORT is the Markdown file to write. FINDINGS, Markdown too, says in words what the figures show;
it is put before the tables. The plots that it shows are those of `plots.py`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from grid import Claim, Experiment, Grid, Key, Plan
from results import Result, Results
from summary import Summary, differences, summary

from spacy_structreg.corpora.files import replace_text

COMMAND: Final = "python -m spacy project run study projects/decoder_study"

Figure = Callable[[Result], float]


def dev_f(result: Result) -> float:
    """F of segmentation on the dev set, in percent."""
    return 100 * result.dev_f


def test_f(result: Result) -> float:
    """F of segmentation on the test set, in percent."""
    return 100 * result.test_f


def test_oov(result: Result) -> float:
    """Recall of unknown words on the test set, in percent."""
    return 100 * result.test_oov_r


def dev_joint(result: Result) -> float:
    """F of words with their tags on the dev set, in percent."""
    return 100 * (result.dev_joint_f or 0.0)


def test_joint(result: Result) -> float:
    """F of words with their tags on the test set, in percent."""
    return 100 * (result.test_joint_f or 0.0)


def speed(result: Result) -> float:
    """Thousand characters per CPU second."""
    return result.speed / 1000


def ratio(result: Result) -> float:
    """The speed, as a multiple of that of the reference at the same time."""
    return result.speed / result.reference


def seconds(result: Result) -> float:
    """CPU seconds of training."""
    return result.seconds


OF_CLAIM: Final[dict[str, Figure]] = {"f": test_f, "joint_f": test_joint, "speed": ratio}


def of(results: Results, keys: Iterable[Key], figure: Figure) -> Summary:
    """The summary of one figure of some results."""
    return summary(figure(results[key]) for key in keys)


def shown(s: Summary, digits: int = 2) -> str:
    """A mean and its standard deviation."""
    return f"{s.mean:.{digits}f}" + ("" if s.sd is None else f" ± {s.sd:.{digits}f}")


def rounded(number: float) -> str:
    """A speed, to three digits or the whole number."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def interval(s: Summary) -> str:
    """The 95 % interval of a mean; nothing for a single number."""
    return "" if s.half is None else f"{s.mean - s.half:.2f} to {s.mean + s.half:.2f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], n_text: int = 1) -> str:
    """A table in Markdown: the first `n_text` columns are text, the others are figures."""
    lines = [header, ["---"] * n_text + ["---:"] * (len(header) - n_text), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def cells(keys: Sequence[Key], results: Results, *, joint: bool) -> list[str]:
    """The figures of a row of a table."""
    dev, test = (dev_joint, test_joint) if joint else (dev_f, test_f)
    found = of(results, keys, test)
    weights = sorted({w for w in (results[key].weight for key in keys) if w is not None})
    trained = of(results, keys, seconds).mean
    return [
        *([shown(of(results, keys, f)) for f in (dev_f, test_f)] if joint else []),
        shown(of(results, keys, dev)),
        shown(found),
        interval(found),
        shown(of(results, keys, test_oov), 1),
        rounded(of(results, keys, speed).mean),
        f"{of(results, keys, ratio).mean:.3g}",
        f"{trained:.1f}" if trained else "",
        " ".join(f"{w:g}" for w in weights),
    ]


def plan_table(plan: Plan, results: Results, *, speeds: bool) -> str:
    """All rows of an experiment on a corpus; with their speeds, if these are the matter."""
    of_joint = ["dev SF", "test SF", "dev JF", "test JF"]
    header = ["system", "", "seeds", *(of_joint if plan.joint else ["dev F", "test F"])]
    header += ["95 % interval", "OOV R", "k chars/s", "× ref", "CPU s", "weight"]
    lines = []
    for curve in plan.curves:
        for row in curve.rows:
            name = row.name if curve.varies else ""
            figures = cells(row.singles(), results, joint=plan.joint)
            lines.append([curve.name, name, str(len(row.seeds)), *figures])
            if row.average:
                figures = cells([row.key(row.average)], results, joint=plan.joint)
                lines.append([curve.name, name, f"{len(row.seeds)} averaged", *figures])
    # Columns that say nothing here are left out.
    kept = [
        i
        for i, title in enumerate(header)
        if any(line[i] for line in lines) and (speeds or title not in ("k chars/s", "× ref"))
    ]
    return table(
        [header[i] for i in kept],
        ([line[i] for i in kept] for line in lines),
        n_text=2 if 1 in kept else 1,
    )


def verdict(claim: Claim, gain: Summary) -> str:
    """Whether the difference is what the paper says."""
    if gain.half is None:
        return "one pair"
    if abs(gain.mean) <= gain.half:
        return "agrees" if claim.equal else "undecided"
    if claim.equal:
        return "disagrees" if gain.mean > 0 else "agrees (it is worse)"
    return "agrees" if gain.mean > 0 else "disagrees"


def claims_table(grid: Grid, results: Results) -> str:
    """What the papers say against what was found, corpus by corpus."""
    sides = [(claim, grid.rows(claim.more), grid.rows(claim.less)) for claim in grid.claims]
    corpora = [
        name
        for name in grid.corpora
        if any(name in more and name in less for _, more, less in sides)
    ]
    lines = []
    for claim, more, less in sides:
        line = [claim.source, claim.says]
        for corpus in corpora:
            if corpus not in more or corpus not in less:
                line.append("not run")
                continue
            one, other = more[corpus], less[corpus]
            figure = OF_CLAIM[claim.figure]
            pairs = [
                (figure(results[one.key(seed)]), figure(results[other.key(seed)]))
                for seed in one.seeds
                if seed in other.seeds
            ]
            if claim.figure == "speed":
                # Of speeds the quotient means something; that of their means is nearly it.
                quotients = summary(a / b for a, b in pairs)
                right = quotients.mean > 1
                line.append(f"× {quotients.mean:.3g}: {'agrees' if right else 'disagrees'}")
                continue
            gain = differences([a for a, _ in pairs], [b for _, b in pairs])
            spread = "" if gain.half is None else f" ± {gain.half:.2f}"
            line.append(f"{gain.mean:+.2f}{spread}: {verdict(claim, gain)}")
        lines.append(line)
    return table(["source", "claim", *corpora], lines, n_text=2)


def head(grid: Grid, results: Results) -> list[str]:
    """Title, command, version, how to read the figures. Raises ValueError if a run is missing."""
    keys = [key for corpus in grid.corpora for key in grid.wanted(corpus)]
    made = [results[key] for key in keys]
    versions = " and ".join(sorted({result.version for result in made}))
    return [
        "# Decoders: accuracy against speed",
        f"Made by `{COMMAND}` with spacy_structreg {versions}: {len(keys):,} runs, one JSON line "
        f"each in `{results.path.name}`. ZC11 is Zhang & Clark 2011, Z14 is Zhang, Su & Zhou 2014, "
        "S14 is Sun 2014.",
        "F (SF) is that of segmentation, JF that of words with their tags, OOV R the recall of "
        "words that are not in the training set; all in percent. ± is one standard deviation over "
        "seeds, the interval is that of the mean by Student's t. Models are trained for a fixed "
        "number of epochs; weights of guides are tuned on the dev set, and no choice is made on a "
        "test set.",
        "**Speeds** are characters of raw text per CPU second of one thread, from strings to lists "
        f"of words: the first {grid.timed_characters:,} characters of the test set, the best of "
        f"{grid.rounds} rounds (of one, where a round takes more than {grid.enough:g} s). The "
        "machine was shared with other work, which changes them by up to a factor of two between "
        "one minute and the next, so that k chars/s of different rows cannot be compared. *× ref* "
        "can: it is the speed as a multiple of that of the reference, in rounds that took turns "
        f"with its own. The reference is one model of words, with beam "
        f"{reference_beam(grid)}, no merging. CPU s is the time of one training, on the same "
        "shared machine.",
    ]


def reference_beam(grid: Grid) -> int:
    """The width of the beam of the reference."""
    _, line = grid.reference.parts[-1]
    given = {**grid.models[line], **grid.decodings[grid.reference.decoding]}
    return int(given.get("beam", 16))


def section(experiment: Experiment, results: Results, plots: str) -> list[str]:
    """The section of an experiment."""
    parts = [f"## {experiment.title}", experiment.note]
    if experiment.x:
        parts.append(f"![{experiment.title}]({experiment.name}{plots})")
    for plan in experiment.plans:
        parts += [f"### {plan.corpus}", plan_table(plan, results, speeds=experiment.x == "speed")]
    return parts


def report(grid: Grid, results: Results, findings: str, plots: str) -> str:
    """The report in Markdown. Raises ValueError if a result is missing."""
    parts = [*head(grid, results), findings]
    if grid.claims:
        parts += [
            "## The papers' claims",
            "Differences of test F (of JF where tags are the matter), paired by seed, and the half "
            "width of their 95 % interval; of speeds their quotient. *undecided*: the interval "
            "holds 0.",
            claims_table(grid, results),
        ]
    for experiment in grid.experiments:
        parts += section(experiment, results, plots)
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("grid", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("report", type=Path)
    parser.add_argument("--findings", type=Path)
    parser.add_argument("--plots", default=".svg", help="how the names of plots end")
    arguments = parser.parse_args()
    try:
        findings = ""
        if arguments.findings is not None and arguments.findings.exists():
            findings = arguments.findings.read_text(encoding="utf-8")
        elif arguments.findings is not None:
            print(f"no findings in words: there is no {arguments.findings}", file=sys.stderr)
        text = report(Grid(arguments.grid), Results(arguments.results), findings, arguments.plots)
        arguments.report.parent.mkdir(parents=True, exist_ok=True)
        with replace_text(arguments.report) as stream:
            stream.write(text)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
