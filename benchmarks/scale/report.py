"""Costs and what follows from them as Markdown and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from benchmarks.common.report import MEGA, NOTHING, facts_line, markdown_table, shown, spread
from benchmarks.scale.costs import EngineCosts, Phases, PipelineCosts
from benchmarks.scale.projection import Cluster, Projection

__all__ = ["ScaleReport"]

GIGA, TERA = 1e9, 1e12
SECONDS_OF_HOUR = 3600


@dataclass
class ScaleReport:
    """All that was measured in a run, and computed from it."""

    name: str
    machine: Mapping[str, Any]
    corpus: Mapping[str, Any]
    method: Mapping[str, Any]
    pipelines: Sequence[PipelineCosts]
    engine: EngineCosts
    cluster: Cluster
    projections: Sequence[Projection]

    def as_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return asdict(self) | {"limits": {each.name: each.limit for each in self.projections}}

    def as_markdown(self) -> str:
        """The report for people."""
        return (
            "\n\n".join(
                [
                    f"# Scale: {self.name.partition('-')[2]}",
                    facts_line("Corpus", self.corpus),
                    facts_line("Machine", self.machine),
                    facts_line("Method", self.method),
                    *self._rates(),
                    *self._sizes(),
                    *self._starts(),
                    *self._projections(),
                ]
            )
            + "\n"
        )

    def _rates(self) -> list[str]:
        workers = sorted(self.engine.starting)
        head = ["pipeline", "unit"]
        for number in workers:
            head += [f"{number} workers" if number > 1 else "1 worker"]
            head += [] if number == workers[0] else ["×"]
        rows = []
        for each in self.pipelines:
            of_sentences = each.sentences / each.phases.characters
            sentences = {n: [of_sentences * rate for rate in each.rates[n]] for n in workers}
            rows += [
                [each.name, "thousand characters/s", *self._cells(each.rates)],
                [each.name, "sentences/s", *self._cells(sentences, 1.0)],
                [each.name, "thousand characters/CPU s", *self._cells(each.cpu_rates)],
            ]
        rows.append(["count-ngrams", "thousand characters/s", *self._cells(self.engine.counting)])
        steps = [[each.name, *self._steps(each.phases)] for each in self.pipelines]
        return [
            "## Rates by number of workers",
            "Per second of the clock, from JSON lines to Parquet: median (lowest to highest) of "
            "the rounds; and per second of the processor, all workers together, which says less of "
            "what else the machine did. ×: of the medians, as many times as one worker.",
            markdown_table(head, rows),
            "## Steps of one process",
            "Thousand characters a second of each step alone, and its share of the time.",
            markdown_table(["pipeline", "reading", "decoding", "writing Parquet"], steps),
        ]

    @staticmethod
    def _cells(rates: Mapping[int, Sequence[float]], unit: float = 1000.0) -> list[str]:
        cells = []
        first = median(rates[min(rates)])
        for number in sorted(rates):
            cells.append(spread(rates[number], unit))
            cells += [] if number == min(rates) else [shown(median(rates[number]) / first, 2)]
        return cells

    @staticmethod
    def _steps(phases: Phases) -> list[str]:
        seconds = (phases.reading, phases.decoding, phases.writing)
        return [
            f"{phases.characters / each / 1000:,.0f} ({each / sum(seconds):.1%})"
            for each in seconds
        ]

    def _sizes(self) -> list[str]:
        rows = [
            [
                each.name,
                *(
                    shown(size / of, digits)
                    for of, digits in ((each.phases.records, 0), (each.phases.characters, 2))
                    for size in (
                        each.bytes_in,
                        each.phases.bytes_out,
                        each.phases.bytes_without_text,
                    )
                ),
            ]
            for each in self.pipelines
        ]
        head = ["pipeline", "input", "output", "without text", "input", "output", "without text"]
        return [
            "## Bytes",
            "Bytes a record, then bytes a character, of JSON lines as they are and of Parquet "
            "(zstd).",
            markdown_table(head, rows),
        ]

    def _starts(self) -> list[str]:
        rows = [
            [
                each.name,
                shown(each.importing, 2),
                shown(each.loading, 2),
                shown(each.model_bytes, 1, MEGA),
                shown(each.packed_bytes, 1, MEGA),
                shown(each.packing, 2),
                shown(each.shipping, 2),
            ]
            for each in self.pipelines
        ]
        head = ["pipeline", "import s", "load s", "on disk MB", "shipped MB", "pack s", "ship s"]
        starting = ", ".join(
            f"{number}: {seconds:.1f} s" for number, seconds in sorted(self.engine.starting.items())
        )
        return [
            "## Starting a worker, shipping a pipeline",
            "Import and load: of a new process, until it has annotated a first text. Ship: to the "
            "workers of this machine and unpacked there. MB are 10⁶ bytes.",
            markdown_table(head, rows),
            f"Scheduler and workers on this machine are ready after (number of workers: seconds) "
            f"{starting}. The scheduler takes {self.engine.tasks:,.0f} tasks a second that do "
            "nothing.",
        ]

    def _projections(self) -> list[str]:
        cluster = self.cluster
        rows = [
            [
                each.name,
                shown(each.core_hours, 0),
                shown(each.decoding / SECONDS_OF_HOUR, 2),
                shown(each.reading / SECONDS_OF_HOUR, 2),
                shown(each.writing / SECONDS_OF_HOUR, 2),
                shown(each.scheduling / SECONDS_OF_HOUR, 2),
                shown(each.starting, 0),
                shown(each.bytes_in, 1, TERA),
                shown(each.bytes_out, 1, TERA),
                each.limit,
            ]
            for each in self.projections
        ]
        head = [
            "pipeline",
            "core hours",
            "decoding h",
            "reading h",
            "writing h",
            "scheduling h",
            "start s",
            "in TB",
            "out TB",
            "limit",
        ]
        return [
            "## Computed, not measured",
            f"{cluster.documents:,.0f} documents of {cluster.document_characters:,} characters on "
            f"{cluster.machines} machines of {cluster.cores} cores. Assumed: a core is as fast as "
            f"the one that was measured, and {cluster.core_share:.0%} of that when all work; "
            f"storage gives and takes {cluster.storage / GIGA:g} GB a second in all, a machine "
            f"gets {cluster.network / GIGA:g} GB a second from the scheduler, one after the "
            "other; input is not compressed; units are 32 MiB. Hours of a step are those that it "
            "would take alone; steps go on side by side.",
            markdown_table(head, rows) if rows else NOTHING,
        ]
