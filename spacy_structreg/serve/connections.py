"""Limits of connections: how many are open, and how long they may be idle, or be read slowly.

uvicorn waits without limit for the head of a request, and for clients that do not read what is sent
to them; other servers for ASGI wait from one packet to the next, which clients that send a byte now
and then outlast. Here, a connection has so many seconds in all to begin a request, from when it was
opened or the last answer was given.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from starlette.types import Scope

# The other one that uvicorn has, httptools, does not limit the head of a request.
from uvicorn.protocols.http.h11_impl import H11Protocol

from spacy_structreg.serve.errors import RequestError
from spacy_structreg.serve.figures import Figures
from spacy_structreg.serve.settings import Limits

HEADERS: Final = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
]
"""Headers of every answer."""


SHRUNK: Final = 0.875
"""Share to which unsent data must shrink in the time that a connection may be idle."""

Address: TypeAlias = "tuple[tuple[str, int], tuple[str, int]]"


class Connections:
    """The open connections of a service.

    To be handed to uvicorn as its class of connections. figures: count what is refused.
    """

    def __init__(self, limits: Limits, figures: Figures) -> None:
        self.limits = limits
        self.figures = figures
        self.open: dict[Address, Connection] = {}

    def __call__(self, **settings: Any) -> asyncio.Protocol:
        """Make a connection as uvicorn wants it."""
        return Connection(H11Protocol(**settings), self)

    @contextmanager
    def working(self, scope: Scope) -> Iterator[None]:
        """Let a connection live while one of its requests is answered within a ``with`` block."""
        connection = self.open.get((scope["client"], scope["server"]))
        if connection is None:
            # Its client has gone.
            yield
            return
        connection.begin()
        try:
            yield
        finally:
            connection.end()


class Connection(asyncio.Protocol):
    """A connection that ends in time.

    http: speaks HTTP on it.
    """

    def __init__(self, http: asyncio.Protocol, connections: Connections) -> None:
        self._http = http
        self._connections = connections
        self._n_requests = 0
        self._began = False
        self._unread = math.inf

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, unless there are too many."""
        self._transport = transport
        names = ("peername", "sockname")
        self._address: Any = tuple(transport.get_extra_info(name)[:2] for name in names)
        connections = self._connections
        connections.open[self._address] = self
        self._timer = self._look_later()
        if len(connections.open) > connections.limits.connections:
            self._http = asyncio.Protocol()
            self._refuse(
                RequestError(503, "busy", "too many connections are open; try again", wait=1)
            )
        self._http.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._timer.cancel()
        self._connections.open.pop(self._address, None)
        self._http.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what a client sends."""
        self._began = True
        self._http.data_received(data)

    def eof_received(self) -> bool | None:
        """Take the end of what a client sends."""
        return self._http.eof_received()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        self._http.pause_writing()

    def resume_writing(self) -> None:
        """Go on."""
        self._http.resume_writing()

    def begin(self) -> None:
        """Begin with a request whose head has arrived."""
        self._n_requests += 1
        self._unread = math.inf

    def end(self) -> None:
        """Expect the next request; what may be left of the last one is no excuse."""
        self._n_requests -= 1
        self._began = False
        if not self._transport.is_closing():
            self._timer.cancel()
            self._timer = self._look_later()

    def _look_later(self) -> asyncio.TimerHandle:
        seconds = self._connections.limits.idle_seconds
        return asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        """End the connection if it has been idle, or its client does not read."""
        unread = self._transport.get_write_buffer_size()
        if unread > SHRUNK * self._unread:
            self._transport.abort()
            return
        if unread or self._n_requests:
            self._unread = unread or math.inf
        elif self._began:
            seconds = self._connections.limits.idle_seconds
            self._refuse(
                RequestError(
                    408,
                    "too_slow",
                    f"the head of the request did not arrive within {seconds:g} seconds",
                )
            )
        else:
            self._transport.close()
        self._timer = self._look_later()

    def _refuse(self, error: RequestError) -> None:
        """Answer with an error, and end the connection."""
        self._connections.figures.requests.labels("other", str(error.status)).inc()
        given = dict(HEADERS) | error.headers
        given |= {"content-length": str(len(error.body)), "connection": "close"}
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        self._transport.write(f"HTTP/1.1 {error.status} \r\n{head}\r\n".encode() + error.body)
        self._transport.close()
