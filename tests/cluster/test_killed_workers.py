"""Workers and schedulers that are killed, disks that are full: nothing is lost or written twice."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cluster.real_clusters import RealCluster, real_cluster, wait
from cluster.shards import analyses_by_pipe, analyses_of, stamps_of
from distributed import Client

from spacy_structreg.cluster.annotate_run import AnnotateSummary, annotate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="processes are killed by signals"),
]

UNIT = 500
Start = Callable[[str, Path], Future[AnnotateSummary]]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealCluster]:
    with real_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def expected(raw_pipeline: str, texts: list[str]) -> list[tuple[Any, ...]]:
    """What `nlp.pipe` says of the texts in one process."""
    return analyses_by_pipe(raw_pipeline, texts)


@pytest.fixture
def arguments(raw_pipeline: str, jsonl: Path) -> list[str]:
    """A pipeline and an input."""
    return [raw_pipeline, str(jsonl)]


@pytest.fixture
def started(arguments: list[str]) -> Iterator[Start]:
    """Start a run in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        pipeline, text = arguments

        def start(address: str, output: Path) -> Future[AnnotateSummary]:
            return pool.submit(
                annotate, pipeline, [text], output, scheduler=address, unit_bytes=UNIT
            )

        yield start


def marks(output: Path) -> list[Path]:
    """The marks of the units that are done."""
    return sorted(output.glob("_units/*.json"))


def stop_in_the_middle(
    pid: int, output: Path, running: Future[AnnotateSummary] | subprocess.Popen[bytes]
) -> None:
    """Stop a process when some units are done; those that it works on stay as they are."""
    ended = running.done if isinstance(running, Future) else lambda: running.poll() is not None
    while len(marks(output)) < 3:
        assert not ended()
        wait()
    os.kill(pid, signal.SIGSTOP)
    assert not ended()


def check_the_next_run(
    run: Callable[[], AnnotateSummary], output: Path, expected: list[Any]
) -> int:
    """Check that a run ends what is missing and touches nothing else; returns what was done."""
    before, stamps = marks(output), stamps_of(output)
    summary = run()
    # Workers may have ended what they had, after they were left alone.
    assert len(before) <= summary.resumed < summary.units
    assert summary.repeated == 0
    assert analyses_of(output) == expected
    after = stamps_of(output)
    for mark in before:
        for name in (f"_units/{mark.name}", f"part-{mark.stem}.parquet"):
            assert after[name] == stamps[name]
    assert len(list(output.glob("part-*"))) == summary.units
    assert not list(output.rglob(".*"))
    return summary.resumed


def test_a_worker_is_killed(
    cluster: RealCluster,
    started: Start,
    expected: list[Any],
    tmp_path: Path,
) -> None:
    victim, _ = before = cluster.pids()
    output = tmp_path / "out"
    running = started(cluster.address, output)
    stop_in_the_middle(victim, output, running)
    # The others go on until nothing is left but what this one has.
    n_done = 0
    while n_done < len(marks(output)):
        n_done = len(marks(output))
        threading.Event().wait(0.3)
    assert not running.done()
    os.kill(victim, signal.SIGKILL)
    summary = running.result(timeout=60)
    assert n_done < summary.units == len(marks(output))
    assert summary.records == len(expected)
    assert analyses_of(output) == expected
    # And another one has taken its place.
    assert victim not in cluster.pids()
    assert len({*before, *cluster.pids()}) == 3


@pytest.mark.parametrize("way", ["limit", "tmpfs"])
def test_the_disk_is_full(
    way: str,
    cluster: RealCluster,
    started: Start,
    expected: list[Any],
    tmp_path: Path,
) -> None:
    """Once no file may have more than some bytes, and once the file system has no more."""
    output = tmp_path / "out"
    number = {"limit": errno.EFBIG, "tmpfs": errno.ENOSPC}[way]

    def allow(n_bytes: int) -> None:
        if way == "tmpfs":
            how = "remount," if os.path.ismount(output) else ""
            call = ["mount", "-t", "tmpfs", "-o", f"{how}size={n_bytes}", "tmpfs", str(output)]
            if subprocess.run(call, capture_output=True, check=False).returncode:
                pytest.skip("no file system may be mounted here")
        else:
            with Client(cluster.address, set_as_default=False) as client:
                client.run(resource.setrlimit, resource.RLIMIT_FSIZE, (n_bytes, -1))

    output.mkdir()
    try:
        allow(64 << 10 if way == "tmpfs" else 4 << 10)
        with pytest.raises(OSError, match=r"\d+\.(?:parquet|json)") as raised:
            started(cluster.address, output).result()
        assert raised.value.errno == number
        # What workers still have is to end on the full disk, not during the next run.
        cluster.wait_until_idle()
        allow(1 << 30)
        n_done = len(marks(output))
        assert (
            check_the_next_run(lambda: started(cluster.address, output).result(), output, expected)
            == n_done
        )
    finally:
        if way == "tmpfs":
            subprocess.run(["umount", str(output)], capture_output=True, check=False)


RUN = """
import sys
from spacy_structreg.cluster.annotate_run import annotate
pipeline, text, output, address, unit = sys.argv[1:]
annotate(pipeline, [text], output, scheduler=address, unit_bytes=int(unit))
"""


def test_the_command_is_killed_and_called_again(
    started: Start, arguments: list[str], expected: list[Any], cluster: RealCluster, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    arguments = [*arguments, str(output), cluster.address, str(UNIT)]
    with subprocess.Popen([sys.executable, "-c", RUN, *arguments]) as process:
        stop_in_the_middle(process.pid, output, process)
        process.kill()
    check_the_next_run(lambda: started(cluster.address, output).result(), output, expected)


def test_the_scheduler_is_killed_and_the_command_called_again(
    started: Start, arguments: list[str], expected: list[Any], cluster: RealCluster, tmp_path: Path
) -> None:
    """The last one here, as it ends the cluster."""
    output = tmp_path / "out"
    running = started(cluster.address, output)
    stop_in_the_middle(cluster.scheduler.pid, output, running)
    cluster.scheduler.kill()
    with pytest.raises(OSError, match=r"scheduler is lost; start it again, .* which goes on"):
        running.result(timeout=60)
    pipeline, text = arguments
    again = partial(annotate, pipeline, [text], output, n_workers=1, unit_bytes=UNIT)
    check_the_next_run(again, output, expected)
