"""Schedulers and workers as processes of their own on the loopback interface, to be killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed import Client


@dataclass
class RealCluster:
    """A scheduler, at an address, and a process that keeps two workers running."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: subprocess.Popen[bytes]

    def pids(self) -> list[int]:
        """The processes of the workers."""
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
            return list(client.run(os.getpid).values())

    def wait_until_idle(self) -> None:
        """Wait until the workers have ended what they had, be it of clients that have left."""
        with Client(self.address, set_as_default=False) as client:
            # A worker has one thread, which goes on with a task that nobody waits for any more.
            workers = list(client.run(os.getpid))
            client.gather(
                [client.submit(os.getpid, workers=[each], pure=False) for each in workers]
            )


@contextmanager
def real_cluster(folder: Path) -> Iterator[RealCluster]:
    """A cluster whose processes know nothing of this one but where the programs lie."""
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(folder)}

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        with (folder / f"{arguments[0]}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"],
                cwd=folder,
                env=environment,
                stderr=log,
                # So that those that it keeps can be ended with it.
                start_new_session=True,
            )

    scheduler = start("scheduler", "--port", "0")
    processes = [scheduler]
    try:
        address = said(scheduler, folder / "scheduler.log", rb"Scheduler at: +(tcp://[0-9.:]+)")
        workers = start(
            *("worker", address, "--nworkers", "2", "--nthreads", "1"),
            *("--local-directory", str(folder)),
        )
        processes.append(workers)
        cluster = RealCluster(address, scheduler, workers)
        # What is run on all workers is to reach both of them.
        cluster.pids()
        yield cluster
    finally:
        for process in reversed(processes):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def said(process: subprocess.Popen[bytes], log: Path, pattern: bytes) -> str:
    """What a process writes to its log that goes with a pattern."""
    while True:
        has_ended = process.poll() is not None
        if found := re.search(pattern + rb"\s", log.read_bytes()):
            return found[1].decode()
        assert not has_ended, log.read_text()
        wait()


def wait() -> None:
    """Wait for something to happen elsewhere."""
    signal.sigtimedwait([], 0.01)
