"""Figures of a service, in the format of Prometheus. None of them holds anything of a text."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

TIMES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


class Figures:
    """Counters of requests and texts, in the format of Prometheus."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.requests = Counter(
            "structreg_requests",
            "Requests, by route and status; 0 if the client hung up",
            ["route", "status"],
            registry=self._registry,
        )
        self.seconds = Histogram(
            "structreg_request_seconds",
            "From the head of a request to the end of its answer",
            ["route"],
            buckets=TIMES,
            registry=self._registry,
        )
        self.characters = Counter(
            "structreg_characters", "Characters that were annotated", registry=self._registry
        )
        self.texts = Counter(
            "structreg_texts", "Texts that were annotated", registry=self._registry
        )

    def gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """Add a figure that is asked for when it is read."""
        Gauge(f"structreg_{name}", about, registry=self._registry).set_function(value)

    def text(self) -> tuple[bytes, str]:
        """All figures, and the content type of their format."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
