"""Train and score what a grid asks for, as far as it has not been done: one JSON line a run.

    python scripts/run.py GRID RESULTS

The corpora are looked for in the folder that the environment variable STRUCTREG_DATA names. Stop
it whenever you like: the next call goes on.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from corpora import Corpus, Parts
from grid import Grid, Setting, estimator
from results import Result, Results

from spacy_structreg.about import __version__
from spacy_structreg.cli.studies import data_folder, run_command
from spacy_structreg.metrics.spans import SpanScores


def primary(model: Any, scores: Any) -> float:
    """The figure by which the model is judged, 0 where it is undefined."""
    return round(scores.as_dict()[model.PRIMARY] or 0.0, 6)


def counts(scores: Any) -> dict[str, list[int]]:
    """Gold, predicted and correct spans of each label, if there are spans."""
    if not isinstance(scores, SpanScores):
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
    """Train on labelled sentences alone, pass by pass.

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
    if "unlabelled" in setting:
        # Passes and scoring are one call here, so that the passes are not timed.
        further = inputs(entry["kind"], getattr(parts, setting["unlabelled"]))
        model.fit(parts.train, parts.dev, unlabelled=further)
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


def run(grid: Grid, results: Results) -> None:
    """Run what is missing, with progress on standard error.

    Raises ValueError if there are no corpora, or if they are not those that the results so far
    were made on.
    """
    folder: Path | None = None
    corpora: dict[str, Corpus] = {}
    began = time.monotonic()
    # Each choice on a dev set makes more runs known.
    while missing := {
        key: setting
        for key, setting in grid.wanted(lambda key: results.get(key, dev)).items()
        if key not in results
    }:
        folder = folder or data_folder()
        for number, (key, setting) in enumerate(missing.items(), 1):
            entry = grid.corpora[key.corpus]
            if key.corpus not in corpora:
                corpora[key.corpus] = Corpus(key.corpus, entry, folder)
            corpus = corpora[key.corpus]
            results.check(key.corpus, corpus.checksum)
            figures = train(entry, corpus.parts(key.seed), setting, key.seed)
            results.add(key, Result(**figures, checksum=corpus.checksum, version=__version__))
            print(
                f"[{number}/{len(missing)}] {key.corpus}, seed {key.seed}: {key.setting} "
                f"({time.monotonic() - began:.0f} s so far)",
                file=sys.stderr,
            )
    print(f"all {len(results):,} results are there", file=sys.stderr)


def dev(result: Result) -> float:
    """The score on the dev set."""
    return result.dev


if __name__ == "__main__":
    run_command(__doc__, Grid, Results, run)
