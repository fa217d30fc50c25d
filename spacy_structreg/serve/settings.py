"""Settings of a service: its limits, and where it is found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Limits", "ServiceSettings"]


@dataclass(frozen=True)
class Limits:
    """The limits of requests, each the most that is taken.

    text: characters of a text; of all texts of a request that wants alternatives or pictures.
    texts: of a request. body: bytes of a request's body.
    explained_text: characters of a text that is explained, which takes time by the square of them.
    user_words: of a request. alternatives: of each sentence.
    answer: bytes of an answer.
    seconds: from a request's arrival to its answer. body_seconds: for its body to arrive.
    idle_seconds: that a connection may take to begin a request, or to go on with the next one.
    waiting: requests that wait for a worker. connections: that are open at once.
    """

    text: int = 20_000
    texts: int = 100
    body: int = 1 << 20
    explained_text: int = 200
    user_words: int = 1_000
    alternatives: int = 10
    answer: int = 1 << 26
    seconds: float = 10.0
    body_seconds: float = 20.0
    idle_seconds: float = 15.0
    waiting: int = 200
    connections: int = 500

    def as_dict(self) -> dict[str, Any]:
        """The limits by their names."""
        return asdict(self)


@dataclass(frozen=True)
class ServiceSettings:
    """Settings of a service.

    pipeline: a folder or a package. host, port: where it listens; 0 for any free port. workers:
    processes that annotate. names: host names by which it may be addressed, besides its own.
    """

    pipeline: str
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    names: tuple[str, ...] = ()
    limits: Limits = Limits()
