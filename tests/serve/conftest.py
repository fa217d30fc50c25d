"""What the tests of the service share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from small_pipeline import trained


@pytest.fixture(scope="session")
def pipeline(made_once: Callable[..., Path]) -> Path:
    """The folder of a small pipeline with parts of all kinds."""
    return made_once("served", lambda folder: trained().to_disk(folder))


@pytest.fixture(scope="session")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a pipeline that is loaded at once."""
    folder = tmp_path_factory.mktemp("blank") / "pipeline"
    spacy.blank("zh").to_disk(folder)
    return folder
