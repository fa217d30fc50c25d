"""Errors in the one shape that the service has for them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

TITLES: Final = {
    400: "The request cannot be read, or asks for what the pipeline does not have",
    408: "The request has not arrived in time",
    413: "The request, or a text, is too long",
    415: "The request is no JSON",
    429: "Too many requests wait",
    503: "The pipeline is being loaded, or the time is over",
}
"""The errors of requests with a body, as the OpenAPI document tells them."""


class RequestError(Exception):
    """An error that is told to who has sent a request.

    wait: seconds after which it may be tried again.
    """

    def __init__(self, status: int, code: str, message: str, wait: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.wait = wait

    @property
    def body(self) -> bytes:
        """The answer, as JSON."""
        return body_of_error(self.code, str(self))

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer."""
        headers = {"content-type": "application/json"}
        if self.wait is not None:
            headers["retry-after"] = str(self.wait)
        if self.status == 408:
            # The rest of the request may still come.
            headers["connection"] = "close"
        return headers


class FaultError(ValueError):
    """A fault of a request that a worker finds; the message is for who has sent it."""


@contextmanager
def as_request_faults() -> Iterator[None]:
    """Let a ValueError of what a request has asked for be one of the request."""
    try:
        yield
    except ValueError as error:
        raise FaultError(str(error)) from error


def body_of_error(code: str, message: str) -> bytes:
    """An error as JSON."""
    content = {"error": {"code": code, "message": message}}
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")


def log(message: str) -> None:
    """Write a line to standard error. It must not hold anything of a request."""
    print(message, file=sys.stderr, flush=True)


def place_of(error: BaseException) -> str:
    """The class of an error, and the line where it was raised; not its message, nor any value."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    return f"{type(error).__name__} at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
