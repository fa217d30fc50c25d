"""The report of the study: tables of all experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Final

from grid import Claim, Grid, Key, Plan, Result, Results, Row
from studies.tables import gained, interval, of, shown, table, verdict, versions

from spacy_structreg.metrics.summary import Summary, differences, summary

MEANS: Final = (("plain", "Eq. 7"), ("nonzero", "Eq. 8"))
COMMAND: Final = "python -m spacy project run all projects/regularization_study"

Figure = Callable[[Result], float]


def dev_f(result: Result) -> float:
    """F on the dev set, in percent."""
    return 100 * result.dev_f


def dev_oov(result: Result) -> float:
    """Recall of unknown words on the dev set, in percent."""
    return 100 * result.dev_oov_r


def test_f(result: Result) -> float:
    """F on the test set, in percent."""
    return 100 * result.test_f


def test_oov(result: Result) -> float:
    """Recall of unknown words on the test set, in percent."""
    return 100 * result.test_oov_r


def seconds(result: Result) -> float:
    """CPU seconds of training."""
    return result.seconds


def mean(s: Summary, digits: int = 2) -> str:
    """A mean alone."""
    return f"{s.mean:.{digits}f}"


def singles_table(plan: Plan, results: Results, first: str = "setting") -> str:
    """Means over single models."""
    header = [first, "seeds", "dev F", "dev OOV R", "test F", "95 % interval", "test OOV R"]
    rows = []
    for row in plan.rows:
        keys = plan.singles(row)
        test = of(results, keys, test_f)
        rows.append(
            [
                row.name,
                str(row.models),
                shown(of(results, keys, dev_f)),
                shown(of(results, keys, dev_oov), 1),
                shown(test),
                interval(test),
                shown(of(results, keys, test_oov), 1),
                mean(of(results, keys, seconds)),
            ]
        )
    return table([*header, "CPU s"], rows)


def averages_table(plan: Plan, results: Results, first: str = "setting") -> str:
    """Means over averages of models, by equations 7 and 8."""
    header = [first, "averages"]
    for _, name in MEANS:
        header += [f"{name}: dev F", "dev OOV R", "test F", "test OOV R"]
    header.append("Eq. 8 - single, test F")
    rows = []
    for row in plan.rows:
        cells = [row.name, str(row.models // plan.group)]
        for which, _ in MEANS:
            keys = plan.averages(row, which)
            cells += [
                shown(of(results, keys, dev_f)),
                shown(of(results, keys, dev_oov), 1),
                shown(of(results, keys, test_f)),
                shown(of(results, keys, test_oov), 1),
            ]
        gain = of(results, plan.averages(row, "nonzero"), test_f).mean
        gain -= of(results, plan.singles(row), test_f).mean
        rows.append([*cells, f"{gain:+.2f}"])
    return table(header, rows)


def equations(plan: Plan, results: Results) -> str:
    """How often the averages by equation 8 are better than those by equation 7."""
    gains = [
        of(results, plan.averages(row, "nonzero"), test_f).mean
        - of(results, plan.averages(row, "plain"), test_f).mean
        for row in plan.rows
    ]
    return (
        f"Eq. 8 has the higher test F in {sum(gain > 0 for gain in gains)} and the lower in "
        f"{sum(gain < 0 for gain in gains)} of {len(gains)} settings, by "
        f"{summary(gains).mean:+.3f} in the mean."
    )


def curve_table(plan: Plan, results: Results) -> str:
    """A curve as a table: single models, and their average by equation 8 where there is one."""
    header = [plan.curve, "dev F", "test F", "95 % interval", "test OOV R"]
    if plan.group:
        header += [f"{name}: {part} F" for _, name in MEANS for part in ("dev", "test")]
    rows = []
    for row in plan.rows:
        keys = plan.singles(row)
        test = of(results, keys, test_f)
        cells = [
            row.name,
            shown(of(results, keys, dev_f)),
            shown(test),
            interval(test),
            shown(of(results, keys, test_oov), 1),
        ]
        for which, _ in MEANS if plan.group else ():
            averages = plan.averages(row, which)
            cells += [mean(of(results, averages, figure)) for figure in (dev_f, test_f)]
        rows.append(cells)
    return table(header, rows)


def averaging_table(plan: Plan, row: Row, results: Results) -> str:
    """F against the number of averaged models."""
    header = ["models", "Eq. 7: dev F", "test F", "95 % interval", "Eq. 8: dev F", "test F"]
    header += ["95 % interval", "Eq. 8 - Eq. 7, test F", "95 % interval"]
    firsts = [
        Key(plan.corpus, row.setting, plan.epochs, str(first))
        for first in range(0, row.models, plan.group)
    ]
    rows = []
    for size in (1, *plan.sizes):
        cells = [str(size)]
        for which, _ in MEANS:
            keys = plan.averages(row, which, size) if size > 1 else firsts
            test = of(results, keys, test_f)
            cells += [shown(of(results, keys, dev_f)), shown(test), interval(test)]
        if size > 1:
            plain, nonzero = (
                [test_f(results[key]) for key in plan.averages(row, which, size)]
                for which, _ in MEANS
            )
            gain = differences(nonzero, plain)
            cells += [f"{gain.mean:+.3f}", interval(gain, 3)]
        else:
            cells += ["", ""]
        rows.append(cells)
    return table(header, rows)


def sizes_table(plan: Plan, results: Results) -> str:
    """Mini-sample sizes: F, recall of unknown words, CPU seconds, all against whole sentences."""
    whole = next((row for row in plan.rows if row.value is None), None)
    header = ["n'", "dev F", "test F", "95 % interval", "test OOV R", "CPU s"]
    if whole is not None:
        header += ["test F - whole", "95 % interval", "CPU / whole"]
    rows = []
    for row in plan.rows:
        keys = plan.singles(row)
        test, cpu = of(results, keys, test_f), of(results, keys, seconds)
        cells = [
            row.name,
            shown(of(results, keys, dev_f)),
            shown(test),
            interval(test),
            shown(of(results, keys, test_oov), 1),
            shown(cpu),
        ]
        if whole is not None:
            others = plan.singles(whole)
            gain = differences(
                [test_f(results[key]) for key in keys], [test_f(results[key]) for key in others]
            )
            ratio = cpu.mean / of(results, others, seconds).mean
            cells += [f"{gain.mean:+.2f}", interval(gain), f"{ratio:.2f}"]
        rows.append(cells)
    return table(header, rows)


def side(plan: Plan, named: str, results: Results) -> list[float] | None:
    """The test F of one side of a claim, one figure a seed or a group; None if it was not run."""
    name, _, rest = named.partition(" x ")
    row = next((row for row in plan.rows if row.name == name), None)
    if row is None:
        return None
    if not rest:
        return [test_f(results[key]) for key in plan.singles(row)]
    which = "plain" if rest.endswith("(7)") else "nonzero"
    return [test_f(results[key]) for key in plan.averages(row, which)]


def paired(plan: Plan, claim: Claim, results: Results) -> Summary | None:
    """How much `more` exceeds `less`; an average against a single is one against its group."""
    more, less = side(plan, claim.more, results), side(plan, claim.less, results)
    if more is None or less is None:
        return None
    if " x " in claim.more and " x " not in claim.less:
        size = plan.group
        less = [summary(less[i : i + size]).mean for i in range(0, len(less), size)]
    n_pairs = min(len(more), len(less))
    return differences(more[:n_pairs], less[:n_pairs])


def claims_table(grid: Grid, results: Results) -> str:
    """What the papers say against what was found, corpus by corpus."""
    plans = grid.of("combinations")
    header = ["source", "claim", *(plan.corpus for plan in plans)]
    rows = []
    for claim in grid.claims:
        cells = [claim.source, claim.says]
        for plan in plans:
            gain = paired(plan, claim, results)
            if gain is None:
                cells.append("not run")
                continue
            names = ("helps", "agrees (it hurts)", "agrees")
            says = verdict(gain, *names) if claim.equal else verdict(gain, "agrees", "disagrees")
            cells.append(f"{gained(gain)}: {says}")
        rows.append(cells)
    return table(header, rows, n_text=2)


def best_table(grid: Grid, corpus: str, results: Results) -> str:
    """The strength of each curve that is best on the dev set."""
    header = ["curve", "best single", "dev F", "test F", "test OOV R"]
    header += ["best average (Eq. 8)", "dev F", "test F"]
    rows = []
    for plan in grid.of("strengths", corpus):
        best = max(plan.rows, key=lambda row: of(results, plan.singles(row), dev_f).mean)
        keys = plan.singles(best)
        cells = [
            plan.curve,
            best.name,
            shown(of(results, keys, dev_f)),
            shown(of(results, keys, test_f)),
            shown(of(results, keys, test_oov), 1),
        ]
        if plan.group:
            top = max(
                plan.rows,
                key=lambda row: of(results, plan.averages(row, "nonzero"), dev_f).mean,
            )
            averages = plan.averages(top, "nonzero")
            cells += [top.name, *(mean(of(results, averages, f)) for f in (dev_f, test_f))]
        else:
            cells += ["", "", ""]
        rows.append(cells)
    return table(header, rows)


def default_table(grid: Grid, results: Results) -> str:
    """Dev figures of the candidates for the default, on all corpora."""
    plans = grid.of("defaults")
    header = ["candidate"]
    for plan in plans:
        header += [f"{plan.corpus}: dev F", "dev OOV R", "Eq. 8: dev F"]
    header.append("mean dev F: single")
    header.append("Eq. 8")
    rows = []
    for row in plans[0].rows:
        cells, single, average = [row.name], [], []
        for plan in plans:
            keys, averages = plan.singles(row), plan.averages(row, "nonzero")
            single.append(of(results, keys, dev_f).mean)
            average.append(of(results, averages, dev_f).mean)
            cells += [
                shown(of(results, keys, dev_f)),
                shown(of(results, keys, dev_oov), 1),
                f"{average[-1]:.2f}",
            ]
        cells += [f"{summary(single).mean:.2f}", f"{summary(average).mean:.2f}"]
        rows.append(cells)
    return table(header, rows)


def epochs_of(plans: Iterable[Plan]) -> str:
    """Of each corpus, its epochs and numbers of seeds."""
    parts = dict.fromkeys(
        f"{plan.corpus} {plan.epochs} epochs, "
        + " or ".join(map(str, sorted({row.models for row in plan.rows})))
        + " seeds"
        for plan in plans
    )
    return "; ".join(parts) + "."


def head(grid: Grid, results: Results) -> list[str]:
    """Title, command, version, how to read the figures. Raises ValueError if a run is missing."""
    keys = list(dict.fromkeys(key for unit in grid.units() for key in unit.lines()))
    made = [results[key] for key in keys]
    n_averages = sum(bool(key.mean) for key in keys)
    minutes = sum(result.seconds for result in made) / 60
    return [
        "# Regularization of the character-based segmenter",
        f"Made by `{COMMAND}` with spacy_structreg {versions(made)}: {len(keys) - n_averages:,} "
        f"trainings ({minutes:.0f} minutes of CPU time) and {n_averages:,} averages, one JSON line "
        f"each in `{results.path.name}`. Z14 is Zhang, Su & Zhou 2014, S14 is Sun 2014, G10 is "
        "Gao, Qiu & Huang 2010.",
        "F and OOV R, the recall of words that are not in the training set, are in percent; ± is "
        "one standard deviation over seeds, the interval is that of the mean by Student's t. Every "
        "model is trained for a fixed number of epochs, its weights averaged over updates; no "
        "choice is made on a test set. CPU s is the time of one training on one core of a shared "
        "machine. The templates are Z14's seven and the tag bigram, without character types and "
        "half-width view, wherever nothing else is said.",
    ]


def claims_part(grid: Grid, results: Results) -> list[str]:
    """The section on the papers' claims."""
    if not grid.claims or not grid.of("combinations"):
        return []
    return [
        "## The papers' claims",
        "Differences of test F, paired by seed (single models) or by group (averages), and the "
        "half width of their 95 % interval. *undecided*: the interval holds 0. *one pair*: a "
        "single average, so no interval.",
        claims_table(grid, results),
    ]


def defaults_part(grid: Grid, results: Results) -> list[str]:
    """The section on the default of the package."""
    plans = grid.of("defaults")
    if not plans:
        return []
    return [
        "## The default of the package",
        f"Candidates, on the dev sets. {epochs_of(plans)}",
        default_table(grid, results),
        *chain.from_iterable(
            (f"{plan.corpus}, single models:", singles_table(plan, results, "candidate"))
            for plan in plans
        ),
    ]


def combinations_part(grid: Grid, results: Results, plots: str) -> list[str]:
    """The section on all regularizers."""
    plans = grid.of("combinations")
    if not plans:
        return []
    parts = [
        "## Every regularizer, alone and combined (Z14, Table 2 and Fig. 5)",
        epochs_of(plans),
        f"![Test F of all settings](combinations{plots})",
    ]
    for plan in plans:
        parts += [
            f"### {plan.corpus}",
            "Single models:",
            singles_table(plan, results),
            f"Averages of {plan.group} models:",
            averages_table(plan, results),
            equations(plan, results),
        ]
    return parts


def strengths_part(grid: Grid, results: Results, plots: str) -> list[str]:
    """The section on strengths."""
    plans = grid.of("strengths")
    if not plans:
        return []
    parts = [
        "## Strengths (Z14, Fig. 3 and 4)",
        f"{epochs_of(plans)} Best is what is best on the dev set. *Every mistake* is the clock "
        "`mistakes`: penalties and averaging count the updates that changed weights, not all "
        "visits. The averages are of the same models.",
    ]
    for corpus in dict.fromkeys(plan.corpus for plan in plans):
        parts += [
            f"### {corpus}",
            f"![F against the strengths, {corpus}](strengths-{corpus}{plots})",
            best_table(grid, corpus, results),
            *(curve_table(plan, results) for plan in grid.of("strengths", corpus)),
        ]
    return parts


def averaging_part(grid: Grid, results: Results, plots: str) -> list[str]:
    """The section on the number of averaged models."""
    plans = grid.of("averaging")
    if not plans:
        return []
    parts = [
        "## The number of averaged models (Z14, Fig. 2)",
        f"{epochs_of(plans)} Averaged are the first models of disjoint groups.",
        f"![F against the number of models](averaging{plots})",
    ]
    for plan in plans:
        for row in plan.rows:
            parts += [
                f"### {plan.corpus}, {row.name}, {row.models // plan.group} groups",
                averaging_table(plan, row, results),
            ]
    return parts


def sizes_part(grid: Grid, results: Results, plots: str) -> list[str]:
    """The section on mini-samples."""
    plans = grid.of("mini_samples")
    if not plans:
        return []
    parts = [
        "## The size of mini-samples (S14, Fig. 2 and 3)",
        f"{epochs_of(plans)} Differences to whole sentences are paired by seed.",
        f"![F and training time against the size of mini-samples](mini-samples{plots})",
    ]
    for plan in plans:
        parts += [f"### {plan.corpus}, {plan.epochs} epochs", sizes_table(plan, results)]
    return parts


def sections(grid: Grid, results: Results, plots: str) -> list[str]:
    """All sections. Raises ValueError if a result is missing."""
    return [
        *claims_part(grid, results),
        *defaults_part(grid, results),
        *combinations_part(grid, results, plots),
        *strengths_part(grid, results, plots),
        *averaging_part(grid, results, plots),
        *sizes_part(grid, results, plots),
    ]
