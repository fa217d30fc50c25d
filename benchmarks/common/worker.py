"""One system in one process: spawned, on one CPU, with one thread."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.common.systems import Predictor, Setting, System, Training, cpu_seconds

__all__ = [
    "Timing",
    "Trained",
    "Worker",
    "WorkerError",
    "one_thread",
    "peak_memory",
    "resident_memory",
]

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}


class WorkerError(RuntimeError):
    """What went wrong in the process of a system, with its traceback or exit code."""


@dataclass(frozen=True)
class Trained:
    """A training, with its peak memory in bytes (None where the system does not tell it)."""

    training: Training
    peak_memory: int | None
    model_bytes: int


@dataclass(frozen=True)
class Timing:
    """Passes over a corpus, and their CPU seconds."""

    passes: int
    seconds: float


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Processes started within the block run libraries in one thread, and hash strings alike."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _first_on_path(folder: Path | None) -> Iterator[None]:
    """Processes started within the block look for modules in a folder first, if one is given."""
    if folder is None:
        yield
        return
    # The path is handed over to a spawned process before it imports anything.
    before = list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = before


class Worker:
    """The process of a system, as a context. Every method waits for the process.

    system: a `System`, or any class with a name whose methods are called by `call`.
    cpu: the processor to stay on, where the operating system can do that; None for any.
    scratch: a folder for what the system writes. made_with: keyword arguments of the system.
    package: the folder that the process finds our package in, in place of the installed one.
    Methods raise WorkerError when the system fails, or its process ends.
    """

    def __init__(
        self,
        system: type[Any],
        cpu: int | None,
        scratch: Path,
        made_with: Mapping[str, Any] | None = None,
        package: Path | None = None,
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self.system = system.name
        self._connection, theirs = context.Pipe()
        # A daemon ends with this process, whatever happens to it.
        self._process = context.Process(
            target=_serve, args=(theirs, system, cpu, scratch, made_with or {}), daemon=True
        )
        with one_thread(), _first_on_path(package):
            self._process.start()
        theirs.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The process ends when nothing is left to read; it may be in the middle of something if
        # this one was interrupted.
        self._connection.close()
        self._process.join(None if kind is None else 1)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Trained:
        """Train once; the process is to be used for nothing else, or memory is not its own."""
        trained = self._ask("train", setting, train, dev, model)
        assert isinstance(trained, Trained)
        return trained

    def load(self, model: Path) -> bool:
        """Load a model; whether the system has a call for many sentences at once."""
        return bool(self._ask("load", model))

    def time(self, inputs: list[Any], *, batch: bool, least: float) -> Timing:
        """Predict as often as it takes for `least` CPU seconds, at least once."""
        timing = self._ask("time", inputs, batch, least)
        assert isinstance(timing, Timing)
        return timing

    def predict(self, inputs: list[Any], *, batch: bool) -> list[Any]:
        """The output of each input."""
        outputs: list[Any] = self._ask("predict", inputs, batch)
        return outputs

    def call(self, method: str, *arguments: Any) -> Any:
        """Call any method of the system."""
        return self._ask("call", method, *arguments)

    def peak_memory(self) -> int | None:
        """The most bytes that the process has had in memory so far, if that is known."""
        peak: int | None = self._ask("peak_memory")
        return peak

    def model_bytes(self, model: Path) -> int:
        """The size of the model on disk."""
        return int(self._ask("model_bytes", model))

    def _ask(self, method: str, *arguments: Any) -> Any:
        try:
            self._connection.send((method, arguments))
            fine, answer = self._connection.recv()
        except (EOFError, OSError) as error:
            self._process.join(5)
            raise WorkerError(
                f"{self.system}: the process ended during {method!r}, "
                f"exit code {self._process.exitcode}"
            ) from error
        if not fine:
            raise WorkerError(f"{self.system}: {method!r} failed\n{answer}")
        return answer


class _Host:
    """The other end of a Worker."""

    def __init__(self, system: System[Any, Any], scratch: Path) -> None:
        self._system = system
        self._scratch = scratch
        self._predictor: Predictor[Any, Any] | None = None

    def train(self, setting: Setting, train: Path, dev: Path, model: Path) -> Trained:
        training = self._system.train(setting, train, dev, model)
        return Trained(training, peak_memory(), self._system.size(model))

    def load(self, model: Path) -> bool:
        self._predictor = self._system.load(model, self._scratch)
        return self._predictor.batch is not None

    def time(self, inputs: list[Any], batch: bool, least: float) -> Timing:
        passes = 0
        began = cpu_seconds()
        while True:
            self.predict(inputs, batch)
            passes += 1
            seconds = cpu_seconds() - began
            if seconds >= least:
                return Timing(passes, seconds)

    def predict(self, inputs: list[Any], batch: bool) -> list[Any]:
        predictor = self._predictor
        assert predictor is not None, "no model is loaded"
        if batch:
            assert predictor.batch is not None, "the system has no call for many sentences"
            return predictor.batch(inputs)
        one = predictor.one
        return [one(given) for given in inputs]

    def call(self, method: str, *arguments: Any) -> Any:
        return getattr(self._system, method)(*arguments)

    def peak_memory(self) -> int | None:
        return peak_memory()

    def model_bytes(self, model: Path) -> int:
        return self._system.size(model)


def _serve(
    connection: Connection,
    system: type[System[Any, Any]],
    cpu: int | None,
    scratch: Path,
    made_with: Mapping[str, Any],
) -> None:
    if cpu is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cpu})
    # Some systems report on standard output, which is the report's, and leave files behind.
    with Path(os.devnull).open("w") as nowhere:
        sys.stdout.flush()
        os.dup2(nowhere.fileno(), 1)
    tempfile.tempdir = str(scratch)
    host = _Host(system(**made_with), scratch)
    while True:
        try:
            method, arguments = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer = True, getattr(host, method)(*arguments)
        except KeyboardInterrupt:
            return
        except Exception:
            answer = False, traceback.format_exc()
        connection.send(answer)


def peak_memory() -> int | None:
    """The most bytes this process has had in memory.

    On Linux as the kernel counts it for the program that runs: `resource` counts the process, which
    before it became this program was a copy of its parent, with all of its parent's memory.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def resident_memory() -> int | None:
    """The bytes that this process has in memory, each page divided by the processes that share it.

    None where the operating system does not tell it: Linux does, in `/proc/self/smaps_rollup`.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/smaps_rollup").read_text(encoding="utf-8").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return None
