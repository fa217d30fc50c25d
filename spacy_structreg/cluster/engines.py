"""Workers that carry tasks: processes of this machine, or a Dask cluster that exists."""

from __future__ import annotations

import logging
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from spacy_structreg.cluster.extra_packages import need_packages

if TYPE_CHECKING:
    from distributed import Client

LOOPBACK = "127.0.0.1"


@contextmanager
def connect(
    scheduler: str | None = None, *, n_workers: int | None = None, n_threads: int = 1
) -> Iterator[Client]:
    """A client of a Dask cluster, for a ``with`` block.

    scheduler: the address of one that runs already, such as ``tcp://10.0.0.1:8786``. None starts
    processes of this machine, which talk over the loopback interface, are started again when they
    die, and end with the block. n_workers: so many of these; None for as many as the cores that
    this process may use, divided by n_threads: the threads that a task has for itself. A worker
    does one task at a time.

    Raises ValueError if a package is missing or the settings contradict each other, OSError if
    there is no scheduler at the address.
    """
    need_packages("distributed")
    if scheduler is not None:
        if n_workers is not None:
            raise ValueError(
                "a cluster that exists has its workers already; leave their number out"
            )
        with client_of(scheduler) as client:
            yield client
        return
    from dask.system import CPU_COUNT
    from distributed import LocalCluster

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="structreg-workers-"))
        with interrupts_ignored():
            cluster = LocalCluster(
                n_workers=n_workers or max(1, CPU_COUNT // n_threads),
                threads_per_worker=1,
                host=LOOPBACK,
                # Any free port: that of another cluster may be the usual one.
                dashboard_address=f"{LOOPBACK}:0",
                local_directory=folder,
                # A machine that is busy is warned of, again and again.
                silence_logs=logging.ERROR,
            )
        stack.enter_context(cluster)
        yield stack.enter_context(client_of(cluster.scheduler_address))


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C, as processes that are started in the block go on to do: it ends whoever waits.

    A terminal tells all processes of a command, and workers would say at length where they were.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def client_of(address: str) -> Iterator[Client]:
    """A client of the scheduler at an address. Raises OSError if there is none."""
    from distributed import Client
    from distributed.comm import resolve_address

    try:
        # A client that cannot be made of an address waits for a minute when it is freed.
        resolve_address(address)
        client = Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise OSError(
            f"no Dask scheduler answers at {address} ({error or type(error).__name__}); start one "
            "with 'dask scheduler', or correct the address"
        ) from error
    # What it logs of a scheduler that is lost, at length, is an error of what waits for it.
    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with client:
            yield client
    finally:
        log.setLevel(level)
