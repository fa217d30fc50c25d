"""The report of the study: tables of all experiments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from grid import READS, Claim, Experiment, Grid, Key, Plan, Result, Results, Row
from studies.tables import (
    command,
    full_columns,
    gained,
    interval,
    of,
    shown,
    table,
    verdict,
    versions,
)
from systems import SCORES

from spacy_structreg.metrics.summary import differences, summary

COMMAND: Final = "python -m spacy project run study projects/decoder_study"
USUAL_GRID: Final = "study"

Figure = Callable[[Result], float]

TITLES: Final = {
    "words": {"f": "F"},
    "tags": {"f": "SF", "joint_f": "JF"},
    "trees": {"uas": "UAS", "las": "LAS"},
    "constituents": {"f": "F"},
    "trees_of_texts": {"f": "SF", "joint_f": "JF", "uas": "UAS", "las": "LAS"},
}
"""By what a system finds, the scores that tables and pictures show; the last is the chief one."""

SPEEDS: Final = {"texts": ("k chars/s", 1000), "tagged_words": ("sentences/s", 1)}
"""By what a system reads, the title of its speed, and the unit."""

MEANINGS: Final = {
    "texts": "F (SF) is that of segmentation, JF that of words with their tags, OOV R the recall "
    "of words that are not in the training set",
    "trees": "UAS and LAS the share of words, punctuation among them, with the right head, and "
    "with the right label too",
    "constituents": "F is that of labeled brackets, by the conventions of EVALB's COLLINS.prm",
    "trees_of_texts": "UAS and LAS the F of words that are right with their head, and with its "
    "label too",
}
"""By what systems read or find, what their scores are."""


def score(name: str) -> Figure:
    """One of the scores of a result, in percent."""

    def figure(result: Result) -> float:
        return 100 * result.scores[name]

    return figure


def speed(result: Result) -> float:
    """Characters or sentences per CPU second."""
    return result.speed


def ratio(result: Result) -> float:
    """The speed, as a multiple of that of the reference at the same time."""
    return result.speed / result.reference


def seconds(result: Result) -> float:
    """CPU seconds of training."""
    return result.seconds


def rounded(number: float) -> str:
    """A speed, to three digits or the whole number."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def cells(keys: Sequence[Key], results: Results, finds: str) -> list[str]:
    """The figures of a row of a table."""
    names = [f"{part}_{name}" for name in TITLES[finds] for part in ("dev", "test")]
    found = [of(results, keys, score(name)) for name in names]
    weights = sorted({w for w in (results[key].weight for key in keys) if w is not None})
    trained = of(results, keys, seconds).mean
    _, unit = SPEEDS[READS[finds]]
    return [
        *map(shown, found),
        interval(found[-1]),
        shown(of(results, keys, score("test_oov_r")), 1) if "oov_r" in SCORES[finds] else "",
        rounded(of(results, keys, speed).mean / unit),
        f"{of(results, keys, ratio).mean:.3g}",
        f"{trained:.1f}" if trained else "",
        " ".join(f"{w:g}" for w in weights),
    ]


def plan_table(plan: Plan, results: Results, *, speeds: bool) -> str:
    """All rows of an experiment on a corpus; with their speeds, if these are the matter."""
    per_second, _ = SPEEDS[READS[plan.finds]]
    header = ["system", "", "seeds"]
    header += [f"{part} {name}" for name in TITLES[plan.finds].values() for part in ("dev", "test")]
    header += ["95 % interval", "OOV R", per_second, "× ref", "CPU s", "weight"]
    lines = []
    for curve in plan.curves:
        for row in curve.rows:
            name = row.name if curve.varies else ""
            figures = cells(row.singles(), results, plan.finds)
            lines.append([curve.name, name, str(len(row.seeds)), *figures])
            if row.average:
                figures = cells([row.key(row.average)], results, plan.finds)
                lines.append([curve.name, name, f"{len(row.seeds)} averaged", *figures])
    return full_columns(header, lines, 2, hidden=() if speeds else (per_second, "× ref"))


def claims_table(grid: Grid, results: Results) -> str:
    """What the papers say against what was found, corpus by corpus."""
    lines = []
    for claim in grid.claims:
        less = grid.rows(claim.less)
        for corpus, one in grid.rows(claim.more).items():
            if corpus in less:
                found = difference(claim, one, less[corpus], results)
                lines.append([claim.source, claim.says, corpus, found])
    return table(["source", "claim", "corpus", "difference"], lines, n_text=3)


def difference(claim: Claim, one: Row, other: Row, results: Results) -> str:
    """By how much one row is ahead of the other, and what that says of the claim."""
    figure = ratio if claim.figure == "speed" else score(f"test_{claim.figure}")
    pairs = [
        (figure(results[one.key(seed)]), figure(results[other.key(seed)]))
        for seed in one.seeds
        if seed in other.seeds
    ]
    if claim.figure == "speed":
        # Of speeds the quotient means something; that of their means is nearly it.
        quotients = summary(a / b for a, b in pairs)
        return f"× {quotients.mean:.3g}: {'agrees' if quotients.mean > 1 else 'disagrees'}"
    gain = differences([a for a, _ in pairs], [b for _, b in pairs])
    names = ("disagrees", "agrees (it is worse)", "agrees")
    says = verdict(gain, *names) if claim.equal else verdict(gain, "agrees", "disagrees")
    return f"{gained(gain)}: {says}"


def head(grid: Grid, results: Results) -> list[str]:
    """Title, command, version, how to read the figures. Raises ValueError if a run is missing."""
    keys = [key for corpus in grid.corpora for key in grid.wanted(corpus)]
    made_by = versions(results[key] for key in keys)
    found = {plan.finds for plan in grid.plans()}
    read = {READS[finds] for finds in found}
    return [
        "# Decoders: accuracy against speed",
        f"Made by `{command(COMMAND, USUAL_GRID, grid, results)}` with spacy_structreg {made_by}: "
        f"{len(keys):,} runs, one JSON line each in `{results.path.name}`. ZC11 is Zhang & "
        "Clark 2011, Z14 is Zhang, Su & Zhou 2014, S14 is Sun 2014.",
        ", ".join(says for name, says in MEANINGS.items() if name in found | read)
        + "; all in percent. ± is one "
        "standard deviation over seeds, the interval is that of the mean by Student's t. Models "
        "are trained for a fixed number of epochs; weights of guides are tuned on the dev set, and "
        "no choice is made on a test set.",
        f"**Speeds** are {'; those of parsers '.join(timed(grid, read))}. They "
        f"are the best of {grid.rounds} rounds (of one, where a round takes more than "
        f"{grid.enough:g} s). The machine was shared with other work, which changes them by up to "
        "a factor of two between one minute and the next, so that speeds of different rows cannot "
        "be compared. *× ref* can: it is the speed as a multiple of that of a reference, in rounds "
        f"that took turns with its own. {references(grid)} CPU s is the time of one training, on "
        "the same shared machine.",
    ]


def timed(grid: Grid, read: Collection[str]) -> list[str]:
    """What is timed, for each kind of what systems read."""
    sentences = f"from tagged words to trees: the first {grid.timed_sentences:,}"
    if "texts" not in read:
        return [f"sentences per CPU second of one thread, {sentences} of the test set"]
    says = {
        "texts": "characters of raw text per CPU second of one thread, from strings to lists of "
        f"words: the first {grid.timed_characters:,} characters of the test set",
        "tagged_words": f"sentences, {sentences}",
    }
    return [text for name, text in says.items() if name in read]


def references(grid: Grid) -> str:
    """What the references are."""
    texts = []
    for reads, system in grid.references.items():
        models = " + ".join(line for _, line in system.parts)
        decoding = f", decoded with {system.decoding}" if system.decoding else ""
        name = reads.replace("_", " ")
        texts.append(f"The reference for systems that read {name} is `{models}`{decoding}.")
    return " ".join(texts)


def section(experiment: Experiment, results: Results, plots: str) -> list[str]:
    """The section of an experiment."""
    parts = [f"## {experiment.title}", experiment.note]
    if experiment.x:
        parts.append(f"![{experiment.title}]({experiment.name}{plots})")
    for plan in experiment.plans:
        parts += [f"### {plan.corpus}", plan_table(plan, results, speeds=experiment.x == "speed")]
    return parts


def sections(grid: Grid, results: Results, plots: str) -> list[str]:
    """The papers' claims, and the sections of all experiments. Raises ValueError as `head`."""
    parts = []
    if grid.claims:
        parts += [
            "## The papers' claims",
            "Differences on the test set, of F, of JF where tags are the matter, and of LAS for "
            "parsers, paired by seed, and the half width of their 95 % interval; of speeds their "
            "quotient. *undecided*: the interval holds 0.",
            claims_table(grid, results),
        ]
    for experiment in grid.experiments:
        parts += section(experiment, results, plots)
    return parts
