"""What the tests of pages share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from docs.stand_in import train_stand_ins

REAL = os.environ.get("STRUCTREG_TRAINING")
"""The folder of the trained packages, if they are there."""
PLACES = {"zh_structreg": "pipeline/model", "zh_structreg_fast": "fast/model"}


@pytest.fixture(scope="session")
def pipelines(made_once: Callable[..., Path]) -> dict[str, Path]:
    """The pipelines that are packages, by their names, or small ones of the same parts.

    They take minutes to train. After `make pipeline`, STRUCTREG_TRAINING names their folder,
    projects/quickstart/training.
    """
    if REAL:
        return {name: Path(REAL, place).resolve() for name, place in PLACES.items()}
    folder = made_once("stand-ins", train_stand_ins)
    return {name: folder / name for name in PLACES}


@pytest.fixture(scope="session")
def zh_structreg(pipelines: dict[str, Path]) -> Path:
    """The Chinese pipeline, or a small one of the same parts."""
    return pipelines["zh_structreg"]
