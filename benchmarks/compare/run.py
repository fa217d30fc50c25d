"""The command line, and the rounds."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common.machine import (
    check_cpu,
    command,
    last_cpu,
    load_average,
    log_line,
    machine_facts,
    positive,
)
from benchmarks.common.report import cell, facts_line, markdown_table, paired_ratios, publish
from benchmarks.common.worker import Worker
from benchmarks.compare.trees import ROOT, WORKING_TREE, built_tree, commit_of
from benchmarks.serving.kinds import KINDS
from benchmarks.serving.report import rate
from benchmarks.serving.run import (
    Options,
    Served,
    batches_of,
    chosen,
    load,
    of_pipeline,
    pipelines,
    read_text,
    timed,
)

__all__ = ["Comparison", "main"]

QUICK_ROUNDS, QUICK_SECONDS = 2, 0.02


@dataclass
class Comparison:
    """The rates of two commits, by pipeline and kind, and the ratios of each round.

    commits: their names as they were given, with their ids. pairs: what was timed of each pipeline.
    """

    name: str
    machine: Mapping[str, Any]
    method: Mapping[str, Any]
    pairs: Mapping[str, tuple[Served, Served]]

    def ratios(self, pipeline: str, kind: str) -> list[float]:
        """The speed of the head as a multiple of that of the base, round by round."""
        base, head = (each.result.rates.get(kind, []) for each in self.pairs[pipeline])
        return paired_ratios(head, base) if len(base) == len(head) else []

    def errors(self) -> list[str]:
        """The failures, a line each."""
        return [
            f"{each.result.title}: {what}"
            for pair in self.pairs.values()
            for each in pair
            for what in (
                *([each.result.error] if each.result.error else []),
                *(f"{kind}: {error}" for kind, error in each.result.errors.items()),
            )
        ]

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON; units a CPU second."""
        return {
            "benchmark": "compare",
            "machine": dict(self.machine),
            "method": dict(self.method),
            "results": [
                {
                    "pipeline": pipeline,
                    "kind": kind,
                    "base": base.result.rates[kind],
                    "head": head.result.rates.get(kind, []),
                    "ratios": self.ratios(pipeline, kind),
                }
                for pipeline, (base, head) in self.pairs.items()
                for kind in base.result.rates
            ],
            "errors": self.errors(),
        }

    def as_markdown(self) -> str:
        """A row for each kind of each pipeline."""
        rows = []
        for pipeline, (base, head) in self.pairs.items():
            for kind in KINDS:
                ratios = self.ratios(pipeline, kind)
                if ratios:
                    rows.append(
                        [
                            pipeline,
                            f"{KINDS[kind].title}, {KINDS[kind].unit}",
                            rate(kind, base.result.rates[kind]),
                            rate(kind, head.result.rates[kind]),
                            *(f"{f(ratios):.3f}" for f in (median, min, max)),
                        ]
                    )
        parts = [
            "# Two commits",
            facts_line("Machine", self.machine),
            facts_line("Method", self.method),
            "Per CPU second, characters and words in thousands: median (lowest to highest). Ratios "
            "are head by base of one round: above 1 the head is faster; where the lowest is below "
            "1 and the highest above it, the difference may be chance.",
            markdown_table(
                ("pipeline", "kind", "base", "head", "ratio", "lowest", "highest"), rows
            ),
        ]
        if errors := self.errors():
            parts.append("## Notes\n\n" + "\n".join(f"- {cell(error)}" for error in errors))
        return "\n\n".join(parts) + "\n"


@command
def main(arguments: Sequence[str] | None = None, repository: Path = ROOT) -> list[str]:
    """Compare two commits; what failed."""
    options = _parser().parse_args(arguments)
    check_cpu(options.cpu)
    folders = pipelines(options.pipelines)
    kinds = chosen("--kinds", options.kinds, tuple(KINDS))
    text = read_text(options.text, options.limit, options.quick)
    commits = {role: commit_of(getattr(options, role), repository) for role in ("base", "head")}
    with tempfile.TemporaryDirectory(prefix="compare-") as scratch:
        packages = {}
        for role, commit in commits.items():
            log_line(f"{role}: building {getattr(options, role)}")
            folder = Path(scratch) / role
            folder.mkdir()
            packages[role] = built_tree(commit, folder, repository)
        comparison = _compare(
            options, folders, kinds, text=text, commits=commits, packages=packages
        )
    publish(comparison, options.output)
    return comparison.errors()


def _compare(
    options: argparse.Namespace,
    folders: Mapping[str, Path],
    kinds: Sequence[str],
    *,
    text: list[list[str]],
    commits: Mapping[str, str],
    packages: Mapping[str, Path],
) -> Comparison:
    how = Options(
        rounds=options.rounds or (QUICK_ROUNDS if options.quick else 5),
        least=QUICK_SECONDS if options.quick else 1.0,
        most=0.0,
        cpu=last_cpu() if options.cpu is None else options.cpu,
        processes=1,
        threads=1,
        kinds=tuple(kinds),
    )
    machine = machine_facts()
    batches = batches_of(text, options.batch)
    pairs = {}
    for name, folder in folders.items():
        base, head = (
            of_pipeline(f"{name}, {role}", folder, package) for role, package in packages.items()
        )
        pairs[name] = base, head
    with contextlib.ExitStack() as stack:
        workers = []
        for pair in pairs.values():
            for each in pair:
                worker = stack.enter_context(each.worker(how.cpu))
                with each.failing():
                    load(each, worker, batches, how)
                    check_package(each, worker)
                    workers.append((each, worker))
            # A kind that only one of the two has cannot be compared.
            common = [kind for kind in pair[0].kinds if kind in pair[1].kinds]
            for each in pair:
                each.kinds = list(common)
        for number in range(how.rounds):
            timed(workers, text, options.batch, number, how)
            log_line(f"timing: round {number + 1} of {how.rounds}")
    machine["load average"] += f" before, {load_average()} after"
    method = {
        **{role: f"{getattr(options, role)} ({commits[role]:.12})" for role in commits},
        "rounds": how.rounds,
        "CPU seconds of a timing": f"at least {how.least}",
        "sentences of a batch": options.batch,
        "characters": sum(len(word) for words in text for word in words),
        "order": "the two in turn, in every other round the head first",
    }
    names = "-".join("working_tree" if c == WORKING_TREE else c[:12] for c in commits.values())
    return Comparison(f"compare-{names}", machine, method, pairs)


def check_package(served: Served, worker: Worker) -> None:
    """Raise ValueError unless a process has the package that it was told to take."""
    found = Path(worker.call("package"))
    if served.package is not None and not found.is_relative_to(served.package.resolve()):
        raise ValueError("another package is found first; run this from the environment alone")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks/compare",
        description="Build two commits of this repository, and time them in turns.",
    )
    parser.add_argument("base", help="a commit, or . for the files as they are")
    parser.add_argument("head", help="another one")
    parser.add_argument(
        "--pipelines", nargs="+", required=True, metavar="NAME=FOLDER",
        help="pipelines that both commits can load; what their parts do is timed",
    )  # fmt: skip
    parser.add_argument("--kinds", help=f"by commas, of: {', '.join(KINDS)} (default: all)")
    parser.add_argument(
        "--text", type=Path, nargs="+", default=[], help="segmented corpora (default: both of cnc)"
    )
    parser.add_argument("--output", type=Path, help="folder for Markdown and JSON")
    parser.add_argument("--rounds", type=positive, help="rounds of timing (default: 5)")
    parser.add_argument("--batch", type=positive, default=1000, help="sentences of a call")
    parser.add_argument("--cpu", type=int, help="processor to run on (default: the last)")
    parser.add_argument("--limit", type=positive, help="take so many sentences, and no more")
    parser.add_argument("--quick", action="store_true", help="little of all: to see that it works")
    return parser
