"""What the tests of the service share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from small_pipeline import trained


@pytest.fixture(scope="session")
def pipeline(made_once: Callable[..., Path]) -> Path:
    """The folder of a small pipeline with parts of all kinds."""
    return made_once("served", lambda folder: trained().to_disk(folder))
