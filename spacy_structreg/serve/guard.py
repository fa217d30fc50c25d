"""The gate before the API: names of hosts, kinds and sizes of bodies, times, headers, figures."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import time
from collections.abc import Collection
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spacy_structreg.serve.connections import Connections
from spacy_structreg.serve.errors import RequestError, log, place_of
from spacy_structreg.serve.figures import Figures
from spacy_structreg.serve.settings import Limits

JSON: Final = b"application/json"


class ClientGoneError(Exception):
    """The client has hung up."""


class Guard:
    """Lets well-behaved requests through to an application, and counts them.

    names: the host names, besides addresses, by which the service may be asked: pages of other
        names that lead here (DNS rebinding) get no answer. routes: the paths that figures name.
    The body of a request is read here, within the limits, before the application sees any of it.
    When a client hangs up, what it has asked for is cancelled.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        names: Collection[str],
        routes: Collection[str],
        figures: Figures,
        connections: Connections,
    ) -> None:
        self._app = app
        self._limits = limits
        self._names = names
        self._routes = routes
        self._figures = figures
        self._connections = connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin = time.perf_counter()
        status = 0

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                # Answers are of one request; the page may come with a new version.
                kept = b"no-store" if scope["path"].startswith("/v1/") else b"no-cache"
                message["headers"] = [*message.get("headers", ()), (b"cache-control", kept)]
            await send(message)

        try:
            with self._connections.working(scope):
                try:
                    await self._answer(scope, receive, guarded)
                except RequestError as error:
                    await response_of(error)(scope, receive, guarded)
        except ClientGoneError:
            # Nobody reads an answer: the status stays 0.
            pass
        except Exception as error:
            # Which has been answered by the application.
            log(f"a request failed: {place_of(error)}")
        finally:
            path = scope["path"]
            route = path if path in self._routes else "other"
            self._figures.requests.labels(route, str(status)).inc()
            self._figures.seconds.labels(route).observe(time.perf_counter() - begin)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        if not is_known_host(host, self._names):
            raise RequestError(
                400,
                "unknown_host",
                "the service is not known by the name that was asked for; use its address, or "
                "start it with --name",
            )
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        if headers.get(b"content-type", b"").split(b";")[0].strip().lower() != JSON:
            raise RequestError(
                415,
                "no_json",
                "the body must be JSON, with the header content-type: application/json",
            )
        if headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
            raise RequestError(
                415,
                "encoded",
                "the body must not be compressed; send it as it is, without content-encoding",
            )
        body = await self._body(headers, receive)
        # Python's own reader takes UTF-16 and UTF-32 as well, whatever the standard says.
        if not json.detect_encoding(body).startswith("utf-8"):
            raise RequestError(400, "bad_request", "the body must be JSON in UTF-8")
        given = False

        async def replay() -> Message:
            nonlocal given
            if given:
                # Nothing but the end of the connection is to come, which is waited for here.
                await asyncio.get_running_loop().create_future()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        work = asyncio.ensure_future(self._app(scope, replay, send))
        gone = asyncio.ensure_future(receive())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not work.done():
                work.cancel()
            gone.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)
        if work.cancelled():
            raise ClientGoneError
        await work

    async def _body(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        """The body of a request. Raises RequestError if it is too long, or too slow."""
        most = self._limits.body
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > most:
            raise too_large(most)
        try:
            return await asyncio.wait_for(read(receive, most), self._limits.body_seconds)
        except asyncio.TimeoutError:
            raise RequestError(
                408,
                "too_slow",
                f"the body did not arrive within {self._limits.body_seconds:g} seconds; send less "
                "at once",
            ) from None


async def read(receive: Receive, most: int) -> bytes:
    """The body of a request. Raises RequestError as soon as it is longer than it may be."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise too_large(most)
        if not message.get("more_body", False):
            return b"".join(parts)


def too_large(most: int) -> RequestError:
    """An error for a body of more bytes than may be."""
    return RequestError(
        413,
        "body_too_large",
        f"the body has more than {most:,} bytes; send fewer texts at once, or start the server "
        "with --max-body",
    )


def response_of(error: RequestError) -> Response:
    """The answer that tells an error."""
    return Response(error.body, error.status, error.headers)


def is_known_host(host: str, names: Collection[str]) -> bool:
    """True if the header Host is an address, or one of some names; its port does not matter.

    An address cannot be made to lead elsewhere, as a name can.
    """
    name, _, port = host.rpartition(":")
    if not name or not port.isdigit():
        name = host
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    if name.lower() in names:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
