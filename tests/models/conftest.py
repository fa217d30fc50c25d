"""What the tests of the segmenter share."""

from __future__ import annotations

import pytest
from made_up_corpora import sentences

from spacy_structreg.models.segmentation import CharacterSegmenter


@pytest.fixture(scope="session")
def train() -> list[list[str]]:
    return sentences(150, seed=1)


@pytest.fixture(scope="session")
def dev() -> list[list[str]]:
    return sentences(60, seed=2)


@pytest.fixture(scope="session")
def fitted(train: list[list[str]]) -> CharacterSegmenter:
    """A trained segmenter; tests that change weights take their own."""
    return CharacterSegmenter(epochs=3).fit(train)


@pytest.fixture(scope="session")
def small() -> CharacterSegmenter:
    """A segmenter with a model file of little more than a thousand bytes."""
    return CharacterSegmenter(templates="c0 | t-1t0", types=None, epochs=2).fit(
        [["大学", "生活"], ["学生", "活", "。"]]
    )
