"""The server: a socket, a loop, and a clean end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import uvicorn

from spacy_structreg.serve.api import make_app
from spacy_structreg.serve.pool import Pool
from spacy_structreg.serve.settings import ServiceSettings

__all__ = ["serve"]


def serve(settings: ServiceSettings, on_ready: Callable[[str], object]) -> None:
    """Serve a pipeline until a signal ends it.

    on_ready: is called with the address when the pipeline has been loaded.
    Raises ValueError if the pipeline cannot be loaded, OSError if the address cannot be had.
    """
    listener = bound(settings.host, settings.port)
    try:
        asyncio.run(run(settings, listener, on_ready))
    finally:
        listener.close()


def bound(host: str, port: int) -> socket.socket:
    """A socket that is bound to an address. Raises OSError, naming the address, if it is taken."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise OSError(error.errno, error.strerror, f"{host}:{port}") from error
    return listener


def address_of(listener: socket.socket) -> str:
    """The address of a socket, as browsers take it."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


async def run(
    settings: ServiceSettings, listener: socket.socket, on_ready: Callable[[str], object]
) -> None:
    """Serve on a socket."""
    limits = settings.limits
    pool = Pool(settings.pipeline, settings.workers, seconds=limits.seconds, waiting=limits.waiting)
    config = uvicorn.Config(
        make_app(settings, pool),
        log_level="critical",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="off",
        http="h11",
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    try:
        await pool.start()
        on_ready(address_of(listener))
        await serving
    finally:
        server.should_exit = True
        await serving
        await pool.stop()
