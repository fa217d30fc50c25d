"""Pictures of papers: none yet; figures of the papers are written as tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grid import Grid, Results


def pictures(grid: Grid, results: Results) -> dict[str, Callable[[], Any]]:
    """By its name, what makes each figure."""
    return {}
