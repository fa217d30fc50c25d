"""The command line, and a run from trainings to the report."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.segmentation.corpora import Corpus, default_corpus, read_corpus
from benchmarks.segmentation.report import Candidate, Report, Result, choose, write_report
from benchmarks.segmentation.systems import OURS, SYSTEMS, Setting
from benchmarks.segmentation.worker import ONE_THREAD, Worker, WorkerError
from spacy_structreg.corpora.segmented import write_segmented
from spacy_structreg.metrics.segmentation import score_segmentation

__all__ = ["main", "measure"]

QUICK_SENTENCES = 400, 100
QUICK_ROUNDS, QUICK_SECONDS = 2, 0.05

# The folders of a path, as they stand in the messages of errors.
FOLDERS = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[^\s/\\:'\"()]+[/\\])+")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0, or 1 if a system failed, or 2 if it could not begin."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        names = _chosen_systems(options.systems)
        corpus = _corpus(options)
    except (ValueError, OSError) as error:
        print(f"error: {_told(error)}", file=sys.stderr)
        return 2
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else 5)
    try:
        report = measure(
            corpus,
            names,
            rounds=rounds,
            least=QUICK_SECONDS if options.quick else 1.0,
            quick=options.quick,
            cpu=options.cpu,
        )
        print(report.as_markdown())
        if options.output is not None:
            for path in write_report(report, options.output):
                _log(f"wrote {path}")
    except (ValueError, OSError) as error:
        print(f"error: {_told(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        _log("interrupted: nothing was written")
        return 130
    return 1 if any(result.error for result in report.results) else 0


def measure(
    corpus: Corpus,
    names: Sequence[str],
    *,
    rounds: int,
    least: float,
    quick: bool = False,
    cpu: int | None = None,
    log: Callable[[str], None] | None = None,
) -> Report:
    """Train, score and time systems on a corpus.

    names: of systems, in the order in which they take their turns. rounds: of timing; in each,
    every system segments the test corpus for at least `least` CPU seconds. quick: fewer settings.
    cpu: the processor for all systems, by default the last that this process may use. log: takes
    lines on how far it is, by default to standard error.
    A system that fails or is not installed is so in the report. Raises ValueError for a corpus that
    cannot be written as segmented text.
    """
    log = log or _log
    cpu = _last_cpu() if cpu is None else cpu
    machine = _machine()
    results = []
    for name in names:
        system = SYSTEMS[name]
        result = Result(name, system.title, system.version(), system.trains)
        if result.version is None:
            log(f"{name}: not installed")
        results.append(result)
    present = [result for result in results if result.version is not None]
    with tempfile.TemporaryDirectory(prefix="segmentation-") as folder:
        run = _Run(corpus, Path(folder), cpu, quick, log)
        # Ours first: the trainings of the others are followed by one of ours.
        for result in sorted(present, key=lambda result: result.name != OURS):
            run.train(result, next((r for r in present if r.name == OURS), None))
        run.predict([result for result in present if not result.error], rounds, least)
    machine["load average"] += f" before, {_load()} after"
    vocabulary = {word for words in corpus.train for word in words}
    n_test = sum(map(len, corpus.test))
    unknown = sum(word not in vocabulary for words in corpus.test for word in words)
    parts = (("train", corpus.train), ("development", corpus.dev), ("test", corpus.test))
    return Report(
        machine,
        {
            "name": corpus.name,
            **{f"{part} sentences": len(sentences) for part, sentences in parts},
            **{f"{part} words": sum(map(len, sentences)) for part, sentences in parts},
            "test characters": sum(len(word) for words in corpus.test for word in words),
            "test words not in training, %": round(100 * unknown / n_test, 2),
            "note": corpus.note,
        },
        {
            "rounds": rounds,
            "CPU seconds of a timing": f"at least {least}",
            "processes": "one a system, spawned, on one CPU, libraries set to one thread",
            "order": "systems take turns within each round",
            "CPU seconds": "user and system, of all threads",
            "quick": quick or "",
        },
        results,
    )


class _Run:
    """What the steps of a run share."""

    def __init__(
        self,
        corpus: Corpus,
        folder: Path,
        cpu: int | None,
        quick: bool,
        log: Callable[[str], None],
    ) -> None:
        self.corpus = corpus
        self.folder = folder
        self.cpu = cpu
        self.quick = quick
        self.log = log
        self.train_file = folder / "train.txt"
        self.dev_file = folder / "dev.txt"
        write_segmented(self.train_file, corpus.train)
        write_segmented(self.dev_file, corpus.dev)
        self.count = 0

    def worker(self, result: Result) -> Worker:
        self.count += 1
        scratch = self.folder / f"process-{self.count}"
        scratch.mkdir()
        return Worker(result.name, self.cpu, scratch)

    def model(self, result: Result, index: int) -> Path:
        return self.folder / f"{result.name}-{index}.model"

    def train(self, result: Result, ours: Result | None) -> None:
        """Train a system with each of its settings, and ours after each."""
        with self._failing(result):
            for setting in SYSTEMS[result.name]().settings(self.quick):
                candidate = self.train_once(result, setting)
                result.candidates.append(candidate)
                if ours is not None and ours is not result and not ours.error:
                    # If it fails, ours has failed, not this system.
                    with self._failing(ours):
                        again = self.train_once(ours, {})
                        ours.candidates.append(again)
                        candidate.ours_seconds = again.seconds
        if result.candidates and not result.error:
            result.chosen = choose(result.candidates)

    def train_once(self, result: Result, setting: Setting) -> Candidate:
        """Train in a process that does nothing else before, and score on the development corpus."""
        model = self.model(result, len(result.candidates))
        with self.worker(result) as worker:
            trained = worker.train(setting, self.train_file, self.dev_file, model)
            worker.load(model)
            words = worker.segment(["".join(gold) for gold in self.corpus.dev], batch=False)
        candidate = Candidate(
            setting=setting,
            dev_f=score_segmentation(self.corpus.dev, words).seg_f or 0.0,
            seconds=trained.training.seconds,
            wasted=trained.training.wasted,
            kept=trained.training.kept,
            peak_memory=trained.peak_memory,
            model_bytes=trained.model_bytes,
        )
        self.log(
            f"{result.name}: trained {dict(setting) or 'by defaults'} in "
            f"{candidate.seconds:.2f} CPU s, dev F {100 * candidate.dev_f:.2f}"
        )
        return candidate

    def predict(self, results: list[Result], rounds: int, least: float) -> None:
        """Time the chosen models in turns, and score them."""
        gold = self.corpus.test
        texts = ["".join(words) for words in gold]
        n_characters = sum(map(len, texts))
        with contextlib.ExitStack() as stack:
            workers: list[tuple[Result, Worker]] = []
            for result in results:
                worker = stack.enter_context(self.worker(result))
                workers.append((result, worker))
                with self._failing(result):
                    model = self.model(result, result.chosen or 0)
                    has_batch = worker.load(model)
                    result.batch = [] if has_batch else None
                    result.model_bytes = worker.model_bytes(model)
                    # What is made at first use is made here.
                    for batch in (False, True) if has_batch else (False,):
                        worker.time(texts, batch=batch, least=0.0)
            for number in range(1, rounds + 1):
                for result, worker in workers:
                    if result.error:
                        continue
                    with self._failing(result):
                        timing = worker.time(texts, batch=False, least=least)
                        one = n_characters * timing.passes / timing.seconds
                        if result.batch is not None:
                            timing = worker.time(texts, batch=True, least=least)
                            result.batch.append(n_characters * timing.passes / timing.seconds)
                        result.one.append(one)
                self.log(f"timing: round {number} of {rounds}")
            vocabulary = {word for words in self.corpus.train for word in words}
            for result, worker in workers:
                if result.error:
                    continue
                with self._failing(result):
                    result.peak_memory = worker.peak_memory()
                    words = worker.segment(texts, batch=False)
                    result.scores = score_segmentation(gold, words, vocabulary).as_dict()
                    if result.batch is not None:
                        others = worker.segment(texts, batch=True)
                        result.differing = sum(
                            one != other for one, other in zip(words, others, strict=True)
                        )

    @contextlib.contextmanager
    def _failing(self, result: Result) -> Iterator[None]:
        """The failure of one system does not end the run; ValueError is one of scoring."""
        try:
            yield
        except (WorkerError, ValueError) as error:
            # The report names no folders; the whole error is for the screen.
            lines = str(error).strip().splitlines() or ["no reason given"]
            result.error = FOLDERS.sub("", lines[-1])
            result.one, result.batch = [], None
            self.log(f"{result.name}: failed: {error}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="benchmarks/segmentation",
        description="Train and time word segmenters side by side on the same data.",
    )
    parser.add_argument("--train", type=Path, help="training corpus (default: ud_chinese)")
    parser.add_argument("--dev", type=Path, help="development corpus (default: tenth of --train)")
    parser.add_argument("--test", type=Path, help="test corpus")
    parser.add_argument("--name", help="name of the corpus in the report")
    parser.add_argument(
        "--systems", default=",".join(SYSTEMS), help="by commas, of: %(default)s (the default)"
    )
    parser.add_argument("--output", type=Path, help="folder for the report, Markdown and JSON")
    parser.add_argument("--rounds", type=_positive, help="rounds of timing (default: 5)")
    parser.add_argument("--cpu", type=int, help="processor to run on (default: the last)")
    parser.add_argument(
        "--quick", action="store_true", help="little data, few settings: to see that it works"
    )
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def _chosen_systems(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in SYSTEMS]
    if unknown or not names:
        raise ValueError(
            f"--systems {text!r}: "
            + (f"no system {', '.join(unknown)}" if unknown else "empty")
            + f"; choose from {', '.join(SYSTEMS)}"
        )
    return names


def _corpus(options: argparse.Namespace) -> Corpus:
    if options.cpu is not None and hasattr(os, "sched_getaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        if options.cpu not in allowed:
            raise ValueError(f"--cpu {options.cpu}: this process may use {allowed}")
    if (options.train is None) != (options.test is None):
        raise ValueError("give both --train and --test, or neither")
    if options.train is not None:
        corpus = read_corpus(options.train, options.dev, options.test, options.name)
    elif options.dev is not None:
        raise ValueError("--dev belongs to --train and --test; give these, too")
    else:
        corpus = default_corpus()
    return corpus.head(*QUICK_SENTENCES) if options.quick else corpus


def _last_cpu() -> int | None:
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _machine() -> dict[str, Any]:
    """What the figures depend on, and nothing that names the machine."""
    return {
        "CPU": _cpu_model(),
        "CPUs": os.cpu_count(),
        "load average": _load(),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "threads": ", ".join(name for name in ONE_THREAD if name.endswith("THREADS")) + " = 1",
        "date": datetime.date.today().isoformat(),
    }


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _load() -> str:
    """The load average of the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _told(error: Exception) -> str:
    """What an error says, without the number of a system error."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
