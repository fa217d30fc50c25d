"""The command line, and a run from trainings to the report."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.common.corpora import Corpus, read_corpus
from benchmarks.common.machine import (
    check_cpu,
    command,
    last_cpu,
    load_average,
    log_line,
    machine_facts,
    positive,
    without_folders,
)
from benchmarks.common.report import Candidate, Report, Result, choose, publish
from benchmarks.common.systems import OURS, Effort, Setting, System
from benchmarks.common.task import Task
from benchmarks.common.worker import Worker, WorkerError

__all__ = ["main", "measure"]

QUICK_SENTENCES = 400, 100
QUICK_ROUNDS, QUICK_SECONDS = 2, 0.05


@command
def main(task: Task[Any, Any, Any], arguments: Sequence[str] | None = None) -> bool:
    """Run the benchmark of a task; True if a system failed."""
    options = _parser(task).parse_args(arguments)
    task = task.configured(options)
    report = measure(
        task,
        names=_chosen_systems(task, options.systems),
        corpora=_corpora(task, options),
        rounds=options.rounds or (QUICK_ROUNDS if options.quick else 5),
        least=QUICK_SECONDS if options.quick else 1.0,
        effort="quick" if options.quick else "capped" if options.capped else "full",
        cpu=options.cpu,
    )
    publish(report, options.output)
    return any(result.error for result in report.results)


def measure(
    task: Task[Any, Any, Any],
    corpora: Sequence[Corpus[Any]],
    names: Sequence[str],
    *,
    rounds: int,
    least: float,
    effort: Effort = "full",
    cpu: int | None = None,
    log: Callable[[str], None] | None = None,
) -> Report:
    """Train, score and time systems.

    corpora: the views of one corpus; systems that can tell them apart take part once for each.
    names: of systems, in the order in which they take their turns. rounds: of timing; in each,
    every system goes over the test corpus for at least `least` CPU seconds. effort: how many
    settings, and how long, they are trained with.
    cpu: the processor for all systems, by default the last that this process may use. log: takes
    lines on how far it is, by default to standard error.
    A system that fails or is not installed is so in the report. Raises ValueError for a corpus that
    cannot be written for them.
    """
    log = log or log_line
    cpu = last_cpu() if cpu is None else cpu
    machine = machine_facts()
    runs: list[tuple[Result, Corpus[Any]]] = []
    for name in names:
        system = task.systems[name]
        version = system.version()
        if version is None:
            log(f"{name}: not installed")
        for corpus in corpora if system.uses_tags else corpora[:1]:
            view = corpus.view if system.uses_tags else ""
            runs.append((Result(name, system.title, version, system.trains, view=view), corpus))
    with tempfile.TemporaryDirectory(prefix=f"{task.name}-") as folder:
        present = [
            _Run(task, corpus, result, folder=Path(folder), cpu=cpu, effort=effort, log=log)
            for result, corpus in runs
            if result.version is not None
        ]
        # Ours first: the trainings of the others are followed by one of ours.
        for run in sorted(present, key=lambda run: run.result.name != OURS):
            run.train(_ours(run, present) if task.retrains else None)
        _predict(present, rounds, least, log)
    machine["load average"] += f" before, {load_average()} after"
    first = corpora[0]
    n_units = sum(map(task.size, first.test))
    return Report(
        task,
        machine,
        _facts(task, first),
        {
            "rounds": rounds,
            "CPU seconds of a timing": f"at least {least}",
            "processes": "one a system, spawned, on one CPU, libraries set to one thread",
            "order": "systems take turns within each round",
            "CPU seconds": "user and system, of all threads",
            "trainings": {"full": "", "capped": "capped", "quick": "quick"}[effort],
        },
        [result for result, _ in runs],
        n_units / len(first.test),
    )


def _facts(task: Task[Any, Any, Any], corpus: Corpus[Any]) -> dict[str, Any]:
    """What the report says of the corpus."""
    parts = {
        part: [list(task.words(gold)) for gold in sentences]
        for part, sentences in (
            ("train", corpus.train),
            ("development", corpus.dev),
            ("test", corpus.test),
        )
    }
    vocabulary = {word for words in parts["train"] for word in words}
    test = [word for words in parts["test"] for word in words]
    unknown = sum(word not in vocabulary for word in test)
    return {
        "name": corpus.name,
        **{f"{part} sentences": len(sentences) for part, sentences in parts.items()},
        **{f"{part} words": sum(map(len, sentences)) for part, sentences in parts.items()},
        "test characters": sum(map(len, test)),
        "test words not in training, %": round(100 * unknown / len(test), 2),
        "note": corpus.note,
    }


class _Run:
    """A system and its result on a view of the corpus."""

    def __init__(
        self,
        task: Task[Any, Any, Any],
        corpus: Corpus[Any],
        result: Result,
        *,
        folder: Path,
        cpu: int | None,
        effort: Effort,
        log: Callable[[str], None],
    ) -> None:
        self.task = task
        self.corpus = corpus
        self.result = result
        self.system: type[System[Any, Any]] = task.systems[result.name]
        self.folder = folder / f"{result.name}-{result.view.replace(' ', '-')}"
        self.folder.mkdir()
        self.cpu = cpu
        self.effort = effort
        self.log = log
        self.train_file = self.folder / "train.txt"
        self.dev_file = self.folder / "dev.txt"
        task.write(self.train_file, corpus.train)
        task.write(self.dev_file, corpus.dev)
        self.count = 0

    def __str__(self) -> str:
        return f"{self.result.name}{f', {self.result.view}' if self.result.view else ''}"

    def worker(self) -> Worker:
        """A new process of the system."""
        self.count += 1
        scratch = self.folder / f"process-{self.count}"
        scratch.mkdir()
        return Worker(self.system, self.cpu, scratch, self.task.made_with)

    def model(self, index: int) -> Path:
        """Where the model of a training is."""
        return self.folder / f"{index}.model"

    def train(self, ours: _Run | None) -> None:
        """Train the system with each of its settings, and ours, if given, after each."""
        result = self.result
        with self.failing():
            for setting in self.system(**self.task.made_with).settings(self.effort):
                candidate = self.train_once(setting)
                result.candidates.append(candidate)
                if ours is not None and ours is not self and not ours.result.error:
                    # If it fails, ours has failed, not this system.
                    with ours.failing():
                        again = ours.train_once({})
                        ours.result.candidates.append(again)
                        candidate.ours_seconds = again.seconds
        if result.candidates and not result.error:
            result.chosen = choose(result.candidates)

    def train_once(self, setting: Setting) -> Candidate:
        """Train in a process that does nothing else before, and score on the development corpus."""
        task, dev = self.task, self.corpus.dev
        model = self.model(len(self.result.candidates))
        with self.worker() as worker:
            trained = worker.train(setting, self.train_file, self.dev_file, model)
            worker.load(model)
            predicted = worker.predict([task.given(gold) for gold in dev], batch=False)
        candidate = Candidate(
            setting=setting,
            dev_score=task.score(dev, predicted)[task.primary] or 0.0,
            seconds=trained.training.seconds,
            wasted=trained.training.wasted,
            kept=trained.training.kept,
            curve=trained.training.curve,
            peak_memory=trained.peak_memory,
            model_bytes=trained.model_bytes,
        )
        self.log(
            f"{self}: trained {dict(setting) or 'by defaults'} in {candidate.seconds:.2f} CPU s, "
            f"dev {task.primary_title} {100 * candidate.dev_score:.2f}"
        )
        return candidate

    def load(self, worker: Worker) -> None:
        """Load the chosen model into a process."""
        with self.failing():
            model = self.model(self.result.chosen or 0)
            has_batch = worker.load(model)
            self.result.batch = [] if has_batch else None
            self.result.model_bytes = worker.model_bytes(model)
            # What is made at first use is made here.
            for batch in (False, True) if has_batch else (False,):
                self.speed(worker, batch=batch, least=0.0)

    def speed(self, worker: Worker, *, batch: bool, least: float) -> float:
        """Units a CPU second over the test corpus."""
        test = self.corpus.test
        timing = worker.time(list(map(self.task.given, test)), batch=batch, least=least)
        return sum(map(self.task.size, test)) * timing.passes / timing.seconds

    def round(self, worker: Worker, least: float) -> None:
        """One turn of timing."""
        result = self.result
        with self.failing():
            one = self.speed(worker, batch=False, least=least)
            if result.batch is not None:
                result.batch.append(self.speed(worker, batch=True, least=least))
            result.one.append(one)

    def score(self, worker: Worker) -> None:
        """Score the chosen model on the test corpus."""
        result, task, gold = self.result, self.task, self.corpus.test
        vocabulary = {word for sentence in self.corpus.train for word in task.words(sentence)}
        inputs = list(map(task.given, gold))
        with self.failing():
            result.peak_memory = worker.peak_memory()
            predicted = worker.predict(inputs, batch=False)
            result.scores = task.score(gold, predicted, vocabulary)
            if result.batch is not None:
                others = worker.predict(inputs, batch=True)
                result.differing = sum(
                    one != other for one, other in zip(predicted, others, strict=True)
                )

    @contextlib.contextmanager
    def failing(self) -> Iterator[None]:
        """The failure of one system does not end the run; ValueError is one of scoring."""
        try:
            yield
        except (WorkerError, ValueError) as error:
            # The report names no folders; the whole error is for the screen.
            self.result.error = without_folders(error)
            self.result.one, self.result.batch = [], None
            self.log(f"{self}: failed: {error}")


def _ours(run: _Run, runs: Sequence[_Run]) -> _Run | None:
    """The run of ours on the view of a run."""
    return next(
        (each for each in runs if each.result.name == OURS and each.corpus is run.corpus), None
    )


def _predict(runs: Sequence[_Run], rounds: int, least: float, log: Callable[[str], None]) -> None:
    """Time the chosen models in turns, and score them."""
    with contextlib.ExitStack() as stack:
        workers = [(run, stack.enter_context(run.worker())) for run in runs if not run.result.error]
        for run, worker in workers:
            run.load(worker)
        for number in range(1, rounds + 1):
            for run, worker in workers:
                if not run.result.error:
                    run.round(worker, least)
            log(f"timing: round {number} of {rounds}")
        for run, worker in workers:
            if not run.result.error:
                run.score(worker)


def _parser(task: Task[Any, Any, Any]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"benchmarks/{task.name}",
        description=f"Train and time {task.what} side by side on the same data.",
    )
    parser.add_argument("--train", type=Path, help="training corpus (default: ud_chinese)")
    parser.add_argument("--dev", type=Path, help="development corpus (default: tenth of --train)")
    parser.add_argument("--test", type=Path, help="test corpus")
    parser.add_argument("--name", help="name of the corpus in the report")
    parser.add_argument("--note", default="", help="what else the report is to say of the corpus")
    task.add_options(parser)
    parser.add_argument(
        "--systems",
        default=",".join(name for name, system in task.systems.items() if system.default),
        help=f"by commas, of: {', '.join(task.systems)} (default: %(default)s)",
    )
    parser.add_argument("--output", type=Path, help="folder for the report, Markdown and JSON")
    parser.add_argument("--rounds", type=positive, help="rounds of timing (default: 5)")
    parser.add_argument("--cpu", type=int, help="processor to run on (default: the last)")
    parser.add_argument(
        "--limit", type=positive, help="take so many sentences of each part, and no more"
    )
    parser.add_argument(
        "--capped", action="store_true", help="end trainings early that take many minutes"
    )
    parser.add_argument(
        "--quick", action="store_true", help="little data, few settings: to see that it works"
    )
    return parser


def _chosen_systems(task: Task[Any, Any, Any], text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in task.systems]
    if unknown or not names:
        raise ValueError(
            f"--systems {text!r}: "
            + (f"no system {', '.join(unknown)}" if unknown else "empty")
            + f"; choose from {', '.join(task.systems)}"
        )
    return names


def _corpora(task: Task[Any, Any, Any], options: argparse.Namespace) -> list[Corpus[Any]]:
    check_cpu(options.cpu)
    if (options.train is None) != (options.test is None):
        raise ValueError("give both --train and --test, or neither")
    if options.train is not None:
        corpus = read_corpus(task.read, options.train, options.dev, options.test, options.name)
    elif options.dev is not None:
        raise ValueError("--dev belongs to --train and --test; give these, too")
    else:
        corpus = task.default_corpus()
    if options.note:
        corpus = replace(corpus, note=f"{corpus.note}; {options.note}".lstrip("; "))
    if options.limit is not None:
        corpus = corpus.head(options.limit, options.limit)
    elif options.quick:
        corpus = corpus.head(*QUICK_SENTENCES)
    return task.views(corpus, options)
