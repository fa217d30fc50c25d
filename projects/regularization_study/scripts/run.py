"""The runs of the study: models are trained, averaged and scored."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from corpora import Corpus
from grid import Grid, Key, Results, Unit, segmenter

from spacy_structreg.learn.model_average import MEANS
from spacy_structreg.models.segmentation import CharacterSegmenter


def scored(model: CharacterSegmenter, corpus: Corpus, seconds: float) -> dict[str, float]:
    """The figures of a trained model."""
    dev, test = (
        model.evaluate(part, vocabulary=corpus.vocabulary) for part in (corpus.dev, corpus.test)
    )
    return {
        "dev_f": round(dev.seg_f or 0.0, 6),
        "dev_oov_r": round(dev.oov_r or 0.0, 6),
        "test_f": round(test.seg_f or 0.0, 6),
        "test_oov_r": round(test.oov_r or 0.0, 6),
        "seconds": round(seconds, 3),
    }


@dataclass(frozen=True)
class Training:
    """The models of a unit that are missing or to be averaged, and their averages."""

    unit: Unit
    grid: Grid
    results: Results

    @property
    def corpus(self) -> str:
        return self.unit.corpus

    def __str__(self) -> str:
        unit = self.unit
        return (
            f"{unit.epochs} epochs, seeds {unit.first} to {unit.last}: {unit.setting or 'nothing'}"
        )

    def run(self, corpus: Corpus) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Train, average and score."""
        unit, results = self.unit, self.results
        averages = [
            (first, last)
            for first, last in unit.averages
            if any(unit.average(first, last, mean) not in results for mean in MEANS)
        ]
        models: dict[int, CharacterSegmenter] = {}
        for seed in range(unit.first, unit.last + 1):
            averaged = any(first <= seed <= last for first, last in averages)
            if unit.single(seed) in results and not averaged:
                continue
            began = time.process_time()
            setting = self.grid.settings[unit.setting]
            model = segmenter(setting, unit.epochs, seed).fit(corpus.train)
            seconds = time.process_time() - began
            if unit.single(seed) not in results:
                yield unit.single(seed), scored(model, corpus, seconds)
            if averaged:
                models[seed] = model
        for first, last in averages:
            for mean in MEANS:
                group = [models[seed] for seed in range(first, last + 1)]
                average = CharacterSegmenter.average(group, mean)
                yield unit.average(first, last, mean), scored(average, corpus, 0.0)


def tasks(grid: Grid, results: Results) -> list[Training]:
    """What is missing, one group of models after the other."""
    return [
        Training(unit, grid, results)
        for unit in grid.units()
        if any(key not in results for key in unit.lines())
    ]
