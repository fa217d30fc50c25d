"""What the tests of the service share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def pipeline(small_pipeline_folder: Path) -> Path:
    """The folder of the pipeline that is served."""
    return small_pipeline_folder
