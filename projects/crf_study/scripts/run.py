"""The trainings of the study."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from corpora import Corpus, Parts
from grid import Grid, Key, Result, Results, Setting, estimator

from spacy_structreg.metrics.labeling import SPAN_FIGURES


def primary(model: Any, scores: Any) -> float:
    """The figure by which the model is judged, 0 where it is undefined."""
    return round(scores.as_dict()[model.PRIMARY] or 0.0, 6)


def counts(scores: Any) -> dict[str, list[int]]:
    """Gold, predicted and correct spans of each label, if there are spans."""
    if scores.table != SPAN_FIGURES:
        return {}
    return {
        label: [each.gold, each.predicted, each.correct] for label, each in scores.by_label.items()
    }


def inputs(kind: str, sentences: list[Any]) -> list[Any]:
    """What is known of gold sentences without their labels."""
    if kind == "texts":
        return [words for words, _ in sentences]
    return [[row[:-1] for row in sentence] for sentence in sentences]


def by_passes(model: Any, parts: Parts) -> tuple[Any, list[float], float]:
    """Train on labeled sentences alone, pass by pass.

    Returns the model of the best epoch, the figures on the dev set, and the CPU time of a pass.
    """
    model.prepare(parts.train)
    compiled = model.compile(parts.train)
    curve: list[float] = []
    seconds = 0.0
    best = 0
    kept = model
    while len(curve) < model.epochs and len(curve) - best < (model.patience or model.epochs):
        began = time.process_time()
        model.learn(compiled)
        seconds += time.process_time() - began
        curve.append(primary(model, model.evaluate(parts.dev)))
        if not best or curve[-1] > curve[best - 1]:
            best = len(curve)
            kept = type(model).from_contents("the best epoch", *model.contents())
    return kept, curve, seconds / len(curve)


def train(entry: dict[str, Any], parts: Parts, setting: Setting, seed: int) -> dict[str, Any]:
    """The figures of one training, as `Result` names them."""
    model = estimator(entry, setting, seed)
    seconds: float | None = None
    if "unlabeled" in setting:
        # Passes and scoring are one call here, so that the passes are not timed.
        further = inputs(entry["kind"], getattr(parts, setting["unlabeled"]))
        model.fit(parts.train, parts.dev, unlabeled=further)
        curve = [round(report.primary, 6) for report in model.history]
    else:
        model, curve, seconds = by_passes(model, parts)
        seconds = round(seconds, 4)
    scores = {"dev": model.evaluate(parts.dev), "test": model.evaluate(parts.test)}
    return {
        "curve": curve,
        "epoch": 1 + curve.index(max(curve)),
        "test": primary(model, scores["test"]),
        "types": {part: counts(each) for part, each in scores.items()},
        "seconds": seconds,
    }


@dataclass(frozen=True)
class Training:
    """One training."""

    key: Key
    setting: Setting
    entry: dict[str, Any]

    @property
    def corpus(self) -> str:
        return self.key.corpus

    def __str__(self) -> str:
        return f"seed {self.key.seed}: {self.key.setting}"

    def run(self, corpus: Corpus) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Train and score."""
        seed = self.key.seed
        yield self.key, train(self.entry, corpus.parts(seed), self.setting, seed)


def tasks(grid: Grid, results: Results) -> list[Training]:
    """What is missing; each choice on a dev set makes more trainings known."""
    return [
        Training(key, setting, grid.corpora[key.corpus])
        for key, setting in grid.wanted(lambda key: results.get(key, dev)).items()
        if key not in results
    ]


def dev(result: Result) -> float:
    """The score on the dev set."""
    return result.dev
