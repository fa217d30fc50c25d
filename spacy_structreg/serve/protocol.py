"""HTTP/1.1 as uvicorn speaks it, with an end to the patience with slow and silent clients.

uvicorn waits without limit for the head of a request, and for clients that do not read what is sent
to them; other servers for ASGI wait from one packet to the next, which clients that send a byte now
and then outlast. A connection of this one has so many seconds in all to begin a request, from when
it was opened or the last answer was given.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from spacy_structreg.serve.errors import RequestError
from spacy_structreg.serve.figures import Figures
from spacy_structreg.serve.guard import HEADERS

__all__ = ["protocol_of"]

# What is left to send has to shrink to this share in the time that a connection may be idle.
SHRUNK = 0.875


class PatientProtocol(H11Protocol):
    """A connection.

    idle_seconds: for the head of a request to arrive, and for clients to read on. most: connections
    that are open at once; others are told to come again. figures: count what is refused here.
    """

    idle_seconds: ClassVar[float]
    most: ClassVar[int]
    figures: ClassVar[Figures]

    _timer: asyncio.TimerHandle | None = None
    _reader_timer: asyncio.TimerHandle | None = None
    _unread = 0
    _began = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._refuse(
                RequestError(503, "busy", "too many connections are open; try again", wait=1)
            )
            return
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        for timer in (self._timer, self._reader_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what a client sends."""
        self._began = True
        super().data_received(data)

    def handle_events(self) -> None:
        """Begin with a request whose head has arrived."""
        super().handle_events()
        # Its body is the business of the application.
        if self._timer is not None and self.cycle and not self.cycle.response_complete:
            self._timer.cancel()
            self._timer = None

    def on_response_complete(self) -> None:
        """Expect the next request; what may be left of the last one is no excuse."""
        self._began = False
        self._expect_request()
        super().on_response_complete()

    def _expect_request(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(self.idle_seconds, self._late)

    def _late(self) -> None:
        if self.transport.is_closing() or self.transport.get_write_buffer_size():
            # It would wait for a client that does not read. One that is slow is watched already,
            # until little is left.
            if self._reader_timer is None:
                self.transport.abort()
            else:
                self._expect_request()
        elif self._began and self.conn.our_state is h11.IDLE:
            self._refuse(
                RequestError(
                    408,
                    "too_slow",
                    f"the head of the request did not arrive within {self.idle_seconds:g} seconds",
                )
            )
        else:
            self.transport.close()

    # Clients that do not read

    def pause_writing(self) -> None:
        """Watch a client that is slower than what is sent to it."""
        super().pause_writing()
        self._unread = self.transport.get_write_buffer_size()
        self._reader_timer = self.loop.call_later(self.idle_seconds, self._look_at_reader)

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None
        if self.cycle is None or self.cycle.response_complete or self.transport.is_closing():
            # The rest has to be read in the time that there is for the next request.
            self._expect_request()

    def _look_at_reader(self) -> None:
        unread = self.transport.get_write_buffer_size()
        if unread > SHRUNK * self._unread:
            self.transport.abort()
            return
        self._unread = unread
        self._reader_timer = self.loop.call_later(self.idle_seconds, self._look_at_reader)

    # Errors

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._refuse(RequestError(400, "no_http", "this is no request of HTTP/1.1"))

    def _refuse(self, error: RequestError) -> None:
        """Answer with an error, and end the connection."""
        self.figures.requests.labels("other", str(error.status)).inc()
        # The client may not read it.
        self._expect_request()
        given = [*error.headers.items(), *((n.decode(), value.decode()) for n, value in HEADERS)]
        headers = "".join(f"{name}: {value}\r\n" for name, value in given)
        self.transport.write(
            f"HTTP/1.1 {error.status} \r\n{headers}content-length: {len(error.body)}\r\n"
            "connection: close\r\n\r\n".encode()
            + error.body
        )
        self.transport.close()


def protocol_of(idle_seconds: float, most: int, figures: Figures) -> type[Any]:
    """A class of connections with such limits."""
    settings = {"idle_seconds": idle_seconds, "most": most, "figures": figures}
    return type("LimitedProtocol", (PatientProtocol,), settings)
