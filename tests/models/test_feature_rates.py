"""Rates of features (Sun, Wang & Li 2012) against one rate: passes until the best figure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.learn.learning_settings import LogLinear, Optimizer
from spacy_structreg.models.segmentation import CharacterSegmenter

TREEBANK = Path(__file__).parents[2] / "treebank"
REGISTERS = ("general", "news", "everyday", "novels", "science")
N_PASSES = 20


def words(part: str) -> list[list[str]]:
    return [
        list(sentence.words)
        for register in REGISTERS
        for sentence in constituency_sentences(TREEBANK / part / f"{register}.bracket", "ctb")
    ]


def curve(optimizer: Optimizer, rate: float) -> np.ndarray:
    """F of words on the development part after each pass, the mean of two seeds."""
    runs = []
    for seed in (1, 2):
        model = CharacterSegmenter(
            learning=LogLinear(optimizer=optimizer, rate=rate, tolerance=0.0),
            epochs=N_PASSES,
            seed=seed,
        )
        model.fit(words("train"), words("dev"))
        runs.append([report.primary for report in model.history])
    return np.mean(runs, axis=0)


@pytest.mark.slow
def test_rates_of_features_reach_the_best_figure_in_fewer_passes() -> None:
    """The paper's figures of convergence in kind: each method at the rate that is best for it."""
    plain, adaptive = (
        max((curve(optimizer, rate) for rate in (1.0, 2.0, 4.0)), key=max)
        for optimizer in ("sgd", "adf")
    )
    assert adaptive.max() > plain.max()
    passes_of_plain, passes = (
        1 + int(np.argmax(figures >= plain.max())) for figures in (plain, adaptive)
    )
    assert 2 * passes <= passes_of_plain
    assert adaptive[0] > plain[0]
