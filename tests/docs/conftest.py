"""What the tests of pages share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from docs.small_quickstart import train_quickstart


@pytest.fixture(scope="session")
def quickstart(made_once: Callable[..., Path]) -> Path:
    """The quickstart with the pipelines of its workflows."""
    return made_once("quickstart-of-pages", train_quickstart)
