"""The report of the study: tables of all experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from grid import Experiment, Grid, Key, Plan, Result, Results, Row, single
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

from spacy_structreg.metrics.summary import Summary, differences

COMMAND: Final = "python -m spacy project run study projects/domain_adaptation"
USUAL_GRID: Final = "study"
PARTS: Final = ("dev", "test")

Figure: TypeAlias = Callable[[Result], float]


def figure(part: str, name: str = "seg_f") -> Figure:
    """A figure on a part, in percent; 0 where it is undefined."""

    def read(result: Result) -> float:
        scores: Any = result.scores(part)
        return 100 * (getattr(scores, name) or 0.0)

    return read


def sentences(result: Result) -> float:
    """How many sentences of the target were given."""
    return result.sentences


def seconds(result: Result) -> float:
    """CPU seconds of training."""
    return result.seconds


def speed(result: Result) -> float:
    """Characters per CPU second."""
    return result.speed


def has_dev(results: Results, plan: Plan) -> bool:
    """True if the target has something to choose on."""
    return results[plan.keys(plan.rows[0])[0]].dev is not None


def gain(results: Results, keys: Sequence[Key], others: Sequence[Key], part: str) -> Summary:
    """By how much F is above another, seed by seed."""
    f = figure(part)
    return differences(*([f(results[key]) for key in each] for each in (keys, others)))


def closed(experiment: Experiment, plan: Plan, results: Results, row: Row, part: str) -> str:
    """The share of the way to a model trained on the target that a row goes, in percent."""
    least, most = single(plan.rows, experiment.against), single(plan.rows, experiment.ceiling)
    if least is None or most is None or row.system in (least.system, most.system):
        return ""
    here, low, high = (
        of(results, plan.keys(each), figure(part)).mean for each in (row, least, most)
    )
    return f"{100 * (here - low) / (high - low):.0f} %" if high > low else ""


def plan_table(experiment: Experiment, plan: Plan, results: Results) -> str:
    """All rows of an experiment on a target."""
    against = single(plan.rows, experiment.against)
    header = ["system", "sentences", "dev F", "test F", "95 % interval", "P", "R"]
    header += ["R unseen", "R seen", f"- {experiment.against}", "verdict", "gap closed"]
    header += ["CPU s", "characters/s"]
    lines = []
    for row in plan.rows:
        keys = plan.keys(row)
        score = of(results, keys, figure("test"))
        given = of(results, keys, sentences).mean
        cells = [row.name, f"{given:,.0f}" if given else ""]
        cells.append(shown(of(results, keys, figure("dev"))) if has_dev(results, plan) else "")
        cells += [shown(score), interval(score)]
        for name in ("seg_p", "seg_r", "oov_r", "iv_r"):
            cells.append(f"{of(results, keys, figure('test', name)).mean:.1f}")
        if against is None or row.system == against.system:
            cells += ["", ""]
        else:
            more = gain(results, keys, plan.keys(against), "test")
            cells += [gained(more), verdict(more, "better", "worse")]
        cells.append(closed(experiment, plan, results, row, "test"))
        cells.append(f"{of(results, keys, seconds).mean:.1f}")
        cells.append(f"{of(results, keys, speed).mean:,.0f}")
        lines.append(cells)
    return full_columns(header, lines, 1)


def overview(experiment: Experiment, results: Results, part: str) -> str:
    """F of all rows on all targets, without intervals."""
    plans = [plan for plan in experiment.plans if part == "test" or has_dev(results, plan)]
    rows = list(dict.fromkeys((row.name, row.value) for plan in plans for row in plan.rows))
    lines = []
    for name, value in rows:
        cells = [name, "" if value is None else str(value)]
        for plan in plans:
            row = next((row for row in plan.rows if (row.name, row.value) == (name, value)), None)
            if row is None:
                cells.append("")
            else:
                cells.append(f"{of(results, plan.keys(row), figure(part)).mean:.2f}")
        lines.append(cells)
    return full_columns([f"{part} F", "sentences", *(plan.corpus for plan in plans)], lines, 1)


def pairs_table(experiment: Experiment, results: Results) -> str:
    """Rows that are compared with others than the usual one."""
    lines = []
    for more, less in experiment.pairs:
        for plan in experiment.plans:
            one, other = single(plan.rows, more), single(plan.rows, less)
            if one is None or other is None:
                continue
            cells = [more, less, plan.corpus]
            for part in PARTS:
                if part == "dev" and not has_dev(results, plan):
                    cells.append("")
                    continue
                found = gain(results, plan.keys(one), plan.keys(other), part)
                cells.append(gained(found))
            lines.append([*cells, verdict(found, "better", "worse")])
    header = ["system", "less", "target", "dev", "test", "verdict (test)"]
    return table(header, lines, n_text=3)


def head(grid: Grid, results: Results) -> list[str]:
    """Title, command, version, how to read the figures. Raises ValueError if a run is missing."""
    keys = list(grid.wanted())
    made_by = versions(results[key] for key in keys)
    return [
        f"# {grid.title}",
        f"Made by `{command(COMMAND, USUAL_GRID, grid, results)}` with spacy_structreg {made_by}: "
        f"{len(keys):,} runs, one JSON line each in `{results.path.name}`. G10 is "
        "Gao, Qiu & Huang 2010.",
        "F, precision (P) and recall (R) of words are in percent, as the SIGHAN bakeoffs define "
        "them; words are *seen* if the training part of the source has them. ± is one standard "
        "deviation over seeds, which give the order of training sentences and the sentences of "
        "the target that are given; the interval is that of the mean by Student's t. Differences "
        "are paired by seed, ± half their 95 % interval. *Gap closed*: of the way from the source "
        "alone to a model trained on the target, on the test set. *CPU s* is the time of training, "
        "all models that a system needs included, *characters/s* the speed of segmentation, on one "
        "core of a shared machine.",
    ]


def section(experiment: Experiment, results: Results, plots: str) -> list[str]:
    """The section of an experiment."""
    parts = [f"## {experiment.title}", experiment.note]
    if experiment.has_curves:
        parts.append(f"![{experiment.title}]({experiment.name}{plots})")
    parts += [overview(experiment, results, part) for part in reversed(PARTS)]
    if experiment.pairs:
        parts.append(pairs_table(experiment, results))
    for plan in experiment.plans:
        parts += [f"### {experiment.title}: {plan.corpus}", plan_table(experiment, plan, results)]
    return parts


def sections(grid: Grid, results: Results, plots: str) -> list[str]:
    """The sections of all experiments. Raises ValueError if a result is missing."""
    return [part for each in grid.experiments for part in section(each, results, plots)]
