"""The server: a socket, a loop, and a clean end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

import uvicorn

from spacy_structreg.serve.api import ROUTES, make_app
from spacy_structreg.serve.connections import HEADERS, Connections
from spacy_structreg.serve.figures import Figures
from spacy_structreg.serve.guard import Guard
from spacy_structreg.serve.pool import Pool
from spacy_structreg.serve.settings import Limits

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


def serve(
    pipeline: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    names: Collection[str] = (),
    limits: Limits = Limits(),  # noqa: B008 - it is frozen
    on_ready: Callable[[str], object],
) -> None:
    """Serve a pipeline until a signal ends it; what is in work then is finished.

    pipeline: a folder or a package. host, port: where it listens; 0 for any free port. workers:
    processes that annotate. names: host names by which it may be addressed, besides its own.
    on_ready: is called with the address when the pipeline has been loaded.
    Raises ValueError if the pipeline cannot be loaded, OSError if the address cannot be had.
    """
    known = {name.lower() for name in ("localhost", host, socket.gethostname(), *names)}
    with bound(host, port) as listener:
        asyncio.run(run(Pool(pipeline, workers, limits), known, limits, listener, on_ready))


def bound(host: str, port: int) -> socket.socket:
    """A socket that is bound to an address. Raises OSError, naming it, if it cannot be had."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as error:
        raise OSError(
            f"there is no host {host!r} to listen at; name an address of yours"
        ) from error
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            # Elsewhere, it would let several processes have one address.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise OSError(error.errno, error.strerror, f"{host}:{port}") from error
    return listener


def address_of(listener: socket.socket) -> str:
    """The address of a socket, as browsers take it."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class Server(uvicorn.Server):
    """uvicorn's server, which tells of signals, and ends by them without an error.

    on_signal: is called when one has come.
    """

    def __init__(self, config: uvicorn.Config, on_signal: Callable[[], object]) -> None:
        super().__init__(config)
        self._on_signal = on_signal

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let signals end the server while it serves."""
        numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
        # Whoever ignores one, as nohup does, goes on ignoring it.
        before = {number: signal.getsignal(number) for number in numbers}
        ours = [number for number in numbers if before[number] is not signal.SIG_IGN]
        for number in ours:
            signal.signal(number, self._end)
        try:
            yield
        finally:
            for number in ours:
                signal.signal(number, before[number])

    def _end(self, number: int, frame: object) -> None:
        # A second one does not wait for what is in work.
        self.force_exit = self.should_exit
        self.should_exit = True
        self._on_signal()


async def run(
    pool: Pool,
    names: Collection[str],
    limits: Limits,
    listener: socket.socket,
    on_ready: Callable[[str], object],
) -> None:
    """Serve on a socket."""
    figures = Figures()
    connections = Connections(limits, figures)
    config = uvicorn.Config(
        Guard(
            make_app(limits, pool, figures),
            limits=limits,
            names=names,
            routes=ROUTES,
            figures=figures,
            connections=connections,
        ),
        http=connections,  # type: ignore[arg-type]  # which is called like a class
        headers=HEADERS,
        ws="none",
        lifespan="off",
        # Connections are known by the addresses of their clients.
        proxy_headers=False,
        timeout_keep_alive=int(limits.idle_seconds) + 1,
        timeout_graceful_shutdown=int(limits.seconds) + 1,
        # Whatever it might log of a request is told by our own lines, and figures.
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
    )

    def stopping() -> None:
        pool.is_stopping = True

    server = Server(config, stopping)
    figures.gauge("waiting", "Requests that wait for a worker", lambda: pool.n_waiting)
    figures.gauge("connections", "Open connections", lambda: len(connections.open))
    figures.gauge("workers_ended", "Workers that had to be started again", lambda: pool.n_ended)
    serving = asyncio.ensure_future(server.serve([listener]))
    working = asyncio.ensure_future(pool.work())
    loaded = asyncio.ensure_future(pool.loaded.wait())
    try:
        await asyncio.wait({serving, working, loaded}, return_when=asyncio.FIRST_COMPLETED)
        if loaded.done():
            on_ready(address_of(listener))
        await asyncio.wait({serving, working}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            # By an error.
            await working
    finally:
        server.should_exit = True
        await serving
        loaded.cancel()
        working.cancel()
        await asyncio.gather(loaded, working, return_exceptions=True)
