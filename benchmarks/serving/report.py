"""From measurements to ratios, Markdown, JSON and a picture."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.common.report import (
    MEGA,
    NOTHING,
    cell,
    facts_line,
    markdown_table,
    paired_ratios,
    percent,
    shown,
    spread,
)
from benchmarks.common.treebank import Fit
from benchmarks.serving.kinds import FOUND, KINDS, LATENCY, Unit
from benchmarks.serving.training import Cost

__all__ = ["Latency", "Memory", "Result", "ServingReport", "quantile", "save_picture"]

UNITS: Final[Mapping[Unit, tuple[float, str]]] = {
    "characters": (1000.0, "thousand characters"),
    "words": (1000.0, "thousand words"),
    "sentences": (1.0, "sentences"),
}
"""The units that rates are shown in."""

PICTURES = Path(__file__).parents[2] / "projects"


@dataclass
class Latency:
    """Seconds of single calls, by the clock on the wall and by the processor."""

    walls: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)


@dataclass
class Memory:
    """Bytes of processes: with nothing but imports, of one that works, and of several together.

    Pages that processes share are divided among them, so that several may be added up; None where
    the operating system does not tell. loads: CPU and wall seconds of loading, of each process.
    """

    imports: int | None
    one: int | None
    several: int | None
    n_processes: int
    loads: list[tuple[float, float]]


@dataclass
class Result:
    """All that is known of a system.

    version: None if it is not installed. error: why it is out, in a line; errors: of single kinds.
    rates: units a CPU second by kind, in each round. threads: units a second of the clock with one
    with several threads, by kind, in each round. files: bytes on disk, by parts. fits: figures on
    the registers of the treebank, by the kind of work that found the words. words_f: on the text,
    by its gold words. trees: figures on a treebank.
    """

    name: str
    title: str
    version: str | None
    error: str | None = None
    ours: bool = False
    errors: dict[str, str] = field(default_factory=dict)
    rates: dict[str, list[float]] = field(default_factory=dict)
    latency: dict[str, Latency] = field(default_factory=dict)
    threads: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    memory: Memory | None = None
    files: dict[str, int] = field(default_factory=dict)
    fits: dict[str, Fit] = field(default_factory=dict)
    words_f: float | None = None
    trees: dict[str, float] = field(default_factory=dict)


@dataclass
class ServingReport:
    """A run: where, on what and how, and the results in their order."""

    name: str
    machine: Mapping[str, Any]
    corpus: Mapping[str, Any]
    method: Mapping[str, Any]
    results: list[Result]
    costs: list[Cost] = field(default_factory=list)

    def reference(self, result: Result, kind: str) -> list[float] | None:
        """The rates that those of a system are compared with; None if there are none."""
        about = KINDS[kind]
        name, of = about.system or result.name, about.kind or kind
        if (name, of) == (result.name, kind):
            return None
        other = next((each for each in self.results if each.name == name), None)
        return None if other is None else other.rates.get(of)

    def ratios(self, result: Result, kind: str) -> list[float]:
        """The speed of a system as a multiple of that of its reference, round by round."""
        reference = self.reference(result, kind)
        rates = result.rates.get(kind, [])
        if not reference or len(reference) != len(rates):
            return []
        return paired_ratios(rates, reference)

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON: seconds, bytes, fractions of 1, units a second."""
        return {
            "benchmark": "serving",
            "machine": dict(self.machine),
            "corpus": dict(self.corpus),
            "method": dict(self.method),
            "kinds": {kind: asdict(about) for kind, about in KINDS.items()},
            "results": [
                {
                    **asdict(result),
                    "latency": {kind: _calls(found) for kind, found in result.latency.items()},
                    "ratios": {kind: self.ratios(result, kind) for kind in result.rates},
                }
                for result in self.results
            ],
            "trainings": [asdict(cost) for cost in self.costs],
        }

    def as_markdown(self) -> str:
        """The tables of all that was measured."""
        parts = [
            f"# Serving: {self.corpus['name']}",
            facts_line("Corpus", self.corpus),
            facts_line("Machine", self.machine),
            facts_line("Method", self.method),
            *self._throughput(),
            *self._section(
                "Latency",
                "Milliseconds of a call with one short text: half of the calls take less than p50, "
                "one in a hundred more than p99. CPU: without the time that others had the "
                "processor.",
                ("system", "call", "p50", "p99", "p50, CPU", "p99, CPU", "calls"),
                [row for result in self.results for row in _latency_rows(result)],
            ),
            *self._section(
                "Loading, memory and size",
                "Loading: the median of the processes, without imports. Resident MB (10⁶ bytes): "
                "pages that processes share are divided among them. A further one: what each "
                "process after the first adds. The last column has the largest parts on disk.",
                (
                    *("system", "load, CPU ms", "wall ms", "imports MB", "one process MB"),
                    *("several MB", "a further one MB", "on disk MB", "parts"),
                ),
                [_memory_row(each) for each in self.results if each.memory or each.files],
            ),
            *self._section(
                "Threads",
                "Per second of the clock, and how many times as fast more threads were in the same "
                "round, the median (lowest to highest).",
                ("system", "kind", "one thread", f"{self.method.get('threads', 2)} threads", "×"),
                [row for result in self.results for row in _thread_rows(result)],
            ),
            *self._section(
                "Words of the treebank, and how fast they are found",
                "From raw text of the blind test part, per cent: F of words, of words with "
                "universal tags, and of words in the register where it is lowest; the share of "
                "gold words that a found one crosses, an error by any standard of words. Beside it "
                "the speed of the same call, in thousand characters a CPU second, on the text "
                "above.",
                (
                    *("system", "call", "words", "with tags", "lowest register"),
                    *("crossed", "thousand characters/s"),
                ),
                [row for result in self.results for row in _fit_rows(result)],
            ),
            *self._section(
                "Accuracy",
                "F of words on the text above, by its standard, which may not be that of the "
                "system; and on the treebank, per cent: of raw text, and of gold words.",
                ("system", "F, text", "F, words", "LAS, raw text", "LAS, gold words"),
                [
                    [
                        result.title,
                        percent(result.words_f),
                        *(percent(result.trees.get(key)) for key in ("seg_f", "las_f", "dep_las")),
                    ]
                    for result in self.results
                    if result.words_f is not None or result.trees
                ],
            ),
            *self._section(
                "Training",
                "CPU seconds from corpus to model, of all threads, and peak memory of the process.",
                ("what", "corpus", "setting", "CPU s", "peak MB", "model MB"),
                [
                    [
                        cell(cost.title),
                        cost.corpus,
                        cell(cost.setting),
                        shown(cost.cpu_seconds, 1),
                        shown(cost.peak_memory, 0, MEGA),
                        shown(cost.model_bytes, 1, MEGA),
                    ]
                    for cost in self.costs
                ],
            ),
        ]
        notes = [
            f"{result.title}: {what}"
            for result in self.results
            for what in (
                *(["not installed"] if result.version is None else []),
                *([cell(result.error)] if result.error else []),
                *(f"{kind} failed: {cell(error)}" for kind, error in result.errors.items()),
            )
        ]
        if notes:
            parts.append("## Notes\n\n" + "\n".join(f"- {note}" for note in notes))
        return "\n\n".join(parts) + "\n"

    def _throughput(self) -> list[str]:
        parts: list[str] = []
        titles = {result.name: result.title for result in self.results}
        for kind, about in KINDS.items():
            present = [result for result in self.results if result.rates.get(kind)]
            if not present:
                continue
            other = KINDS[about.kind].title if about.kind else "the same"
            of = f"{titles.get(about.system, about.system)}, {other}" if about.system else other
            rows = [
                [result.title, rate(kind, result.rates[kind]), times(self.ratios(result, kind))]
                for result in present
            ]
            says = "Per CPU second: median (lowest to highest)."
            if any(self.ratios(result, kind) for result in present):
                says += f" ×: as many times as fast as {of}, in the same round."
            parts += [
                f"## {heading(about.title)}\n\n{says}",
                markdown_table(("system", f"{UNITS[about.unit][1]}/s", "×"), rows),
            ]
        return parts

    @staticmethod
    def _section(
        title: str, says: str, head: Sequence[str], rows: Sequence[Sequence[str]]
    ) -> list[str]:
        return [f"## {title}\n\n{says}", markdown_table(head, rows)] if rows else []


def quantile(numbers: Sequence[float], share: float) -> float:
    """The smallest number that at least this share of the numbers do not exceed."""
    ordered = sorted(numbers)
    return ordered[max(0, -(-len(ordered) * round(share * 1000) // 1000) - 1)]


def heading(title: str) -> str:
    """A title with a capital, unless it begins with a name of code."""
    return title if "." in title.split(maxsplit=1)[0] else title[0].upper() + title[1:]


def rate(kind: str, rates: Sequence[float]) -> str:
    """The median of the rates of a kind in its unit, with the lowest and the highest."""
    return spread(rates, UNITS[KINDS[kind].unit][0])


def times(ratios: Sequence[float]) -> str:
    """The median of ratios with the lowest and the highest; a dash for none."""
    if not ratios:
        return NOTHING
    low, middle, high = (f"{each:.2f}" for each in (min(ratios), median(ratios), max(ratios)))
    return f"{middle} ({low} to {high})"


def _calls(found: Latency) -> dict[str, float]:
    """Single calls in some numbers."""
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
    return {"calls": len(found.walls)} | {
        f"{name} {clock} s": quantile(seconds, share)
        for clock, seconds in (("wall", found.walls), ("CPU", found.cpus))
        for name, share in shares.items()
    }


def _fit_rows(result: Result) -> list[list[str]]:
    return [
        [
            result.title,
            FOUND[kind],
            percent(fit.words),
            percent(fit.tagged),
            f"{percent(fit.lowest)} ({fit.register})",
            percent(fit.crossed),
            rate(kind, result.rates.get(kind, [])),
        ]
        for kind, fit in result.fits.items()
    ]


def _latency_rows(result: Result) -> list[list[str]]:
    return [
        [
            result.title,
            LATENCY[kind],
            *(
                f"{1000 * quantile(seconds, share):.3f}"
                for seconds in (found.walls, found.cpus)
                for share in (0.5, 0.99)
            ),
            f"{len(found.walls):,}",
        ]
        for kind, found in result.latency.items()
    ]


def _memory_row(result: Result) -> list[str]:
    memory = result.memory
    loads = memory.loads if memory else []
    further = None
    if memory and memory.one is not None and memory.several is not None:
        further = (memory.several - memory.one) / max(1, memory.n_processes - 1)
    largest = sorted(result.files.items(), key=lambda item: -item[1])[:4]
    return [
        result.title,
        *(f"{1000 * median(each[i] for each in loads):,.0f}" if loads else NOTHING for i in (0, 1)),
        *(
            shown(number, 0, MEGA)
            for number in (
                memory.imports if memory else None,
                memory.one if memory else None,
                memory.several if memory else None,
                further,
            )
        ),
        shown(sum(result.files.values()), 1, MEGA),
        ", ".join(f"{cell(part)} {shown(size, 1, MEGA)}" for part, size in largest),
    ]


def _thread_rows(result: Result) -> list[list[str]]:
    return [
        [
            result.title,
            f"{KINDS[kind].title}, {UNITS[KINDS[kind].unit][1]}",
            rate(kind, [one for one, _ in rounds]),
            rate(kind, [several for _, several in rounds]),
            times([several / one for one, several in rounds]),
        ]
        for kind, rounds in result.threads.items()
        if rounds
    ]


# The picture -------------------------------------------------------------------------------------


def save_picture(report: ServingReport, folder: Path) -> Path | None:
    """Draw rates by kind as SVG into a folder; its path, or None without matplotlib, or rates."""
    kinds = [kind for kind in KINDS if any(each.rates.get(kind) for each in report.results)]
    if not kinds or find_spec("matplotlib") is None:
        return None
    # What the studies draw with lies beside them.
    if str(PICTURES) not in sys.path:
        sys.path.append(str(PICTURES))
    from studies.pictures import save_pictures  # type: ignore[import-not-found]

    name = report.name
    return save_pictures({name: lambda: _picture(report, kinds)}, folder, ".svg", name)[0]


def _picture(report: ServingReport, kinds: Sequence[str]) -> Any:
    """A panel for each kind: medians of rates on a log scale, from the lowest to the highest."""
    from studies.pictures import panels

    figure, places = panels(len(kinds), 2, 6.4, 2.6)
    for axes, kind in zip(places, kinds, strict=True):
        present = [result for result in report.results if result.rates.get(kind)]
        present.sort(key=lambda result: median(result.rates[kind]))
        for height, result in enumerate(present):
            rates = result.rates[kind]
            middle = median(rates)
            axes.errorbar(
                [middle],
                [height],
                xerr=[[middle - min(rates)], [max(rates) - middle]],
                fmt="o",
                color="C1" if result.ours else "C0",
            )
            ratios = report.ratios(result, kind)
            says = f"{middle:,.0f}" + (f", {median(ratios):.2f}×" if ratios else "")
            axes.annotate(
                says, (max(rates), height), xytext=(5, 0), textcoords="offset points",
                va="center", fontsize=7,
            )  # fmt: skip
        axes.set_yticks(range(len(present)), [result.title for result in present])
        axes.set_ylim(-0.6, len(present) - 0.4)
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.set_xlim(low / 1.2, high * 2.5)
        axes.set_title(KINDS[kind].title)
        axes.set_xlabel(f"{KINDS[kind].unit} a CPU second (log scale)")
    return figure
