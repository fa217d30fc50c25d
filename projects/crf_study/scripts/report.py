"""The report of the study: tables of all experiments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from grid import Experiment, Grid, Key, Plan, Result, Results, Row
from studies.tables import command, full_columns, interval, of, shown, table, verdict, versions

from spacy_structreg.metrics.figures import Counts
from spacy_structreg.metrics.summary import Summary, differences, summary

COMMAND: Final = "python -m spacy project run study projects/crf_study"
USUAL_GRID: Final = "structure"
PARTS: Final = ("dev", "test")

Figure: TypeAlias = Callable[[Result], float]


def dev(result: Result) -> float:
    """The score on the dev set, in percent."""
    return 100 * result.dev


def test(result: Result) -> float:
    """The score on the test set, in percent."""
    return 100 * result.test


def epoch(result: Result) -> float:
    """The epoch that is kept."""
    return result.epoch


def per_epoch(result: Result) -> float | None:
    """CPU seconds of an epoch, if they are known."""
    return result.seconds


def seconds(result: Result) -> float | None:
    """CPU seconds of training up to the epoch that is kept, if they are known."""
    return None if result.seconds is None else result.epoch * result.seconds


def timed(
    results: Results, keys: Sequence[Key], figure: Callable[[Result], float | None]
) -> Summary | None:
    """The summary of a time; None if it is not known."""
    found = [figure(results[key]) for key in keys]
    known = [each for each in found if each is not None]
    return summary(known) if len(known) == len(found) else None


def gain(results: Results, keys: Sequence[Key], others: Sequence[Key]) -> Summary:
    """By how much the test scores are above others, seed by seed."""
    return differences(*([test(results[key]) for key in each] for each in (keys, others)))


def reaching(results: Results, keys: Sequence[Key], others: Sequence[Key]) -> list[float]:
    """CPU seconds until the dev set has the score that the other run of the seed ends with.

    Of the runs that get there, if their times are known.
    """
    found = []
    for result, other in (
        (results[key], results[its]) for key, its in zip(keys, others, strict=True)
    ):
        there = [n for n, score in enumerate(result.curve, 1) if score >= other.dev]
        if there and result.seconds is not None:
            found.append(there[0] * result.seconds)
    return found


def times_of(times: Sequence[float], n: int, unit: float = 1.0) -> str:
    """The mean of times, in a unit; if not all of `n` runs have one, how many do."""
    if len(times) < n:
        return f"{len(times)} of {n} do"
    return f"{summary(times).mean / unit:.2f}" if unit else ""


def rows_of(plan: Plan, results: Results) -> list[Row]:
    """All rows of a table. Raises ValueError if a result is missing."""
    rows = plan.rows(lambda key: results[key].dev)
    return [row for row in rows if isinstance(row, Row)]


def reference(experiment: Experiment, rows: Sequence[Row]) -> Row | None:
    """The row that all others are held against, if there is one."""
    return next((row for row in rows if row.system == experiment.against and not row.name), None)


def plan_table(experiment: Experiment, plan: Plan, results: Results) -> str:
    """All rows of an experiment on a corpus."""
    rows = rows_of(plan, results)
    against = reference(experiment, rows)
    header = ["system", "", "chosen on dev", "seeds", "dev", "test", "95 % interval", "epochs"]
    header += ["s an epoch", "CPU s", "s to its dev", "test - its", "95 % interval of that"]
    lines = []
    for row in rows:
        keys = plan.keys(row.setting)
        score = of(results, keys, test)
        cells = [
            row.system,
            row.name,
            ", ".join(f"{name} {value:g}" for name, value in row.tuned.items()),
            str(plan.seeds),
            shown(of(results, keys, dev)),
            shown(score),
            interval(score),
            shown(of(results, keys, epoch), 1),
        ]
        for figure, digits in ((per_epoch, 3), (seconds, 2)):
            time = timed(results, keys, figure)
            cells.append("" if time is None else shown(time, digits))
        if against is None:
            cells += ["", "", ""]
        else:
            others = plan.keys(against.setting)
            known = all(results[key].seconds is not None for key in keys)
            times = times_of(reaching(results, keys, others), len(keys))
            cells.append(times if known else "")
            more = gain(results, keys, others)
            cells += ["", ""] if row == against else [f"{more.mean:+.2f}", interval(more)]
        lines.append(cells)
    return full_columns(header, lines, 3)


def best_table(experiment: Experiment, results: Results) -> str:
    """Of each curve the point that is best on the dev set, against the reference."""
    header = ["corpus", "system", "chosen on dev", "test - its", "95 % interval", "verdict"]
    header += ["CPU s, a multiple of its", "s to its dev, the same"]
    lines = []
    for plan in experiment.plans:
        rows = rows_of(plan, results)
        against = reference(experiment, rows)
        assert against is not None
        others = plan.keys(against.setting)
        for name in experiment.best:
            row = max(
                (row for row in rows if row.system == name),
                key=lambda row: of(results, plan.keys(row.setting), dev).mean,
            )
            keys = plan.keys(row.setting)
            more = gain(results, keys, others)
            cells = [plan.corpus, name, row.name, f"{more.mean:+.2f}", interval(more)]
            cells.append(verdict(more, "better", "worse"))
            ours, its = (timed(results, each, seconds) for each in (keys, others))
            cells.append(f"{ours.mean / its.mean:.2f}" if ours and its and its.mean else "")
            unit = summary(reaching(results, others, others)).mean
            cells.append(times_of(reaching(results, keys, others), len(keys), unit))
            lines.append(cells)
    return table(header, lines, n_text=3)


def types_table(experiment: Experiment, plan: Plan, results: Results) -> str:
    """Precision, recall and F of each label, all seeds together; nothing if there are no spans."""
    rows = [row for row in rows_of(plan, results) if row.system in experiment.types]
    tables = []
    for part in PARTS:
        header = ["label"]
        lines: dict[str, list[str]] = {}
        for row in rows:
            header += [f"{row.system}: P", "R", "F"]
            counts = added(results[key].types[part] for key in plan.keys(row.setting))
            for label, each in counts.items():
                figures = (each.p, each.r, each.f)
                lines.setdefault(label, [label]).extend(
                    "" if figure is None else f"{100 * figure:.2f}" for figure in figures
                )
        if lines:
            title = "the dev set" if part == "dev" else "the test set"
            tables += [f"Each label, on {title} (W13, Table 6):", table(header, lines.values())]
    return "\n\n".join(each.strip() for each in tables)


def added(counts: Iterable[dict[str, list[int]]]) -> dict[str, Counts]:
    """The counts of all runs together, label by label, and of all labels."""
    sums: dict[str, Counter[str]] = {}
    for each in counts:
        for label, numbers in each.items():
            for name in (label, "all"):
                sums.setdefault(name, Counter()).update(
                    dict(zip(("gold", "predicted", "correct"), numbers, strict=True))
                )
    return {
        label: Counts(sums[label]["gold"], sums[label]["predicted"], sums[label]["correct"])
        for label in sorted(sums, key=lambda label: (label == "all", label))
    }


def head(grid: Grid, results: Results) -> list[str]:
    """Title, command, version, how to read the figures. Raises ValueError if a run is missing."""
    keys = list(grid.wanted(lambda key: results[key].dev))
    made_by = versions(results[key] for key in keys)
    return [
        f"# {grid.title}",
        f"Made by `{command(COMMAND, USUAL_GRID, grid, results)}` with spacy_structreg {made_by}: "
        f"{len(keys):,} trainings, one JSON line each in `{results.path.name}`. S14 is Sun 2014, "
        "W13 is Wang et al. 2013.",
        "Scores are in percent: F of words where words are found, F of spans (names, chunks) where "
        "there are spans, and else the share of labels or texts that are right. ± is one standard "
        "deviation over seeds, which give the order of training sentences, and the split where it "
        "is random; the interval is that of the mean by Student's t. Differences are paired by "
        "seed. All trainings follow one rule: the epoch that is best on the dev set is kept, and "
        "training ends when some epochs in a row were no better (`patience` in the grid). What is "
        "chosen, is chosen on the dev set. *Its* is what the system "
        "has that the others are compared with.",
        "*CPU s* is the time of training up to the epoch that is kept, on one core of a shared "
        "machine, without reading features and without scoring; *s to its dev* that until the dev "
        "set first has the score that the system compared with ends with at that seed, or how many "
        "runs get there.",
    ]


def section(experiment: Experiment, results: Results, plots: str) -> list[str]:
    """The section of an experiment."""
    parts = [f"## {experiment.title}", experiment.note]
    if experiment.against:
        parts.append(f"Compared with *{experiment.against}*.")
    if experiment.axis:
        parts.append(f"![{experiment.title}]({experiment.name}{plots})")
    if experiment.best:
        parts += ["What is best on the dev set, on all corpora:", best_table(experiment, results)]
    for plan in experiment.plans:
        parts += [f"### {plan.corpus}", plan_table(experiment, plan, results)]
        if experiment.types:
            parts.append(types_table(experiment, plan, results))
    return parts


def sections(grid: Grid, results: Results, plots: str) -> list[str]:
    """The sections of all experiments. Raises ValueError if a result is missing."""
    return [part for each in grid.experiments for part in section(each, results, plots)]
