"""Features of windows, labelers that are trained on them, and their figures beside the best ones.

`python scripts/recognize.py train CORPUS MODEL VARIANTS`: train each labeler of `systems` on
both kinds of features, write their figures on the development set to VARIANTS (JSON), and save the
model that is right most often there.

`python scripts/recognize.py evaluate CORPUS MODEL VARIANTS REPORT --seed N`: score that model on
the test set, beside the decoders that know the world of seed N.

`label_acc` is the share of windows that get the right activity.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sensors import (
    ACTIVITIES,
    AXES,
    SENSORS,
    Recording,
    World,
    drawn_world,
    posteriors,
    window_posteriors,
)

from spacy_structreg.corpora.files import replace_text
from spacy_structreg.learn.learning_settings import AnyLearning, Learning, LogLinear
from spacy_structreg.models.labeling.labelers import FeatureLabeler

Labeled: TypeAlias = list[tuple[dict[str, float], str]]
Floats: TypeAlias = NDArray[np.float64]

EPOCHS: Final = 20
PAIRS: Final = tuple(combinations(range(len(AXES)), 2))
PAIRS_AND_SQUARES: Final = tuple(combinations_with_replacement(range(len(AXES)), 2))


def statistics(signals: NDArray[Any]) -> dict[str, Floats]:
    """What papers take of the windows of a sequence (T, n, S, d): by name, one number a window.

    Mean, standard deviation and energy (mean square) of each axis, and the correlation of each pair
    of axes of a sensor (Bao & Intille 2004; Sun et al. 2009).
    """
    samples = signals.astype(np.float64)
    means, deviations = samples.mean(axis=1), samples.std(axis=1)
    energies = (samples**2).mean(axis=1)
    covariances = _covariances(samples)
    features = {}
    for s, sensor in enumerate(SENSORS):
        for i, axis in enumerate(AXES):
            features[f"mean:{sensor}.{axis}"] = means[:, s, i]
            features[f"deviation:{sensor}.{axis}"] = deviations[:, s, i]
            features[f"energy:{sensor}.{axis}"] = energies[:, s, i]
        for i, j in PAIRS:
            scale = np.maximum(deviations[:, s, i] * deviations[:, s, j], 1e-12)
            name = f"correlation:{sensor}.{AXES[i]}{AXES[j]}"
            features[name] = covariances[:, s, i, j] / scale
    return features


def moments(signals: NDArray[Any]) -> dict[str, Floats]:
    """Sufficient statistics of the windows of a sequence, in the form of `statistics`.

    Means, products of two means and covariances: the logarithm of the probability of an activity is
    a weighted sum of them, so that with enough examples a CRF becomes the best decoder there is.
    """
    samples = signals.astype(np.float64)
    means = samples.mean(axis=1)
    covariances = _covariances(samples)
    features = {}
    for s, sensor in enumerate(SENSORS):
        for i, axis in enumerate(AXES):
            features[f"mean:{sensor}.{axis}"] = means[:, s, i]
        for i, j in PAIRS_AND_SQUARES:
            pair = f"{sensor}.{AXES[i]}{AXES[j]}"
            features[f"product:{pair}"] = means[:, s, i] * means[:, s, j]
            features[f"covariance:{pair}"] = covariances[:, s, i, j]
    return features


def _covariances(samples: Floats) -> Floats:
    deviations = samples - samples.mean(axis=1, keepdims=True)
    covariances: Floats = np.einsum("tnsi,tnsj->tsij", deviations, deviations) / samples.shape[1]
    return covariances


class Features:
    """Features of windows with mean 0 and deviation 1 in the training set, and one that is 1."""

    def __init__(self, extract: Callable[[NDArray[Any]], dict[str, Floats]], train: Recording):
        self._extract = extract
        drawn = [self._matrix(signals) for signals in train.signals]
        windows = np.concatenate(drawn)
        self._means = windows.mean(axis=0)
        self._deviations = np.maximum(windows.std(axis=0), 1e-12)
        self._names = ["always", *extract(train.signals[0])]

    def sequences(self, recording: Recording) -> list[Labeled]:
        """The sequences of a recording, as labelers take them."""
        return [
            [
                (dict(zip(self._names, [1.0, *row], strict=True)), ACTIVITIES[activity])
                for row, activity in zip(
                    ((self._matrix(signals) - self._means) / self._deviations).tolist(),
                    activities.tolist(),
                    strict=True,
                )
            ]
            for signals, activities in zip(recording.signals, recording.activities, strict=True)
        ]

    def _matrix(self, signals: NDArray[Any]) -> Floats:
        return np.stack([*self._extract(signals).values()], axis=1)


FEATURES: Final = {"statistics": statistics, "moments": moments}


def systems() -> dict[str, AnyLearning]:
    """The ways to train that are compared."""
    return {
        "crf": LogLinear(l2=3.0),
        "crf, mini-samples": LogLinear(l2=3.0, mini_sample=5.5),
        "perceptron": Learning(),
        "perceptron, mini-samples": Learning(mini_sample=5.5),
    }


def train(corpus: Path, model: Path, variants: Path) -> None:
    """Train all systems on both kinds of features, and keep the one that is best on dev."""
    recordings = {part: Recording.load(corpus / f"{part}.npz") for part in ("train", "dev")}
    figures: dict[str, Any] = {}
    best: tuple[float, str, FeatureLabeler] | None = None
    for kind, extract in FEATURES.items():
        features = Features(extract, recordings["train"])
        examples, dev = (features.sequences(recordings[part]) for part in ("train", "dev"))
        for name, learning in systems().items():
            labeler = FeatureLabeler(learning=learning, epochs=EPOCHS)
            began = time.process_time()
            labeler.fit(examples)
            seconds = time.process_time() - began
            accuracy = labeler.evaluate(dev).as_dict()["label_acc"]
            assert accuracy is not None
            figures[f"{kind}, {name}"] = {"label_acc": accuracy, "cpu_seconds": round(seconds, 1)}
            print(f"{kind}, {name}: {100 * accuracy:.2f}", flush=True)
            if best is None or accuracy > best[0]:
                best = accuracy, f"{kind}, {name}", labeler
    assert best is not None
    model.parent.mkdir(parents=True, exist_ok=True)
    best[2].save(model)
    write_json(variants, {"chosen": best[1], "variants": figures})


def evaluate(corpus: Path, model: Path, variants: Path, report: Path, seed: int) -> None:
    """Score the model that was chosen, and what can be known of the world, on the test set."""
    chosen = json.loads(variants.read_text("utf-8"))["chosen"]
    features = Features(FEATURES[chosen.partition(",")[0]], Recording.load(corpus / "train.npz"))
    test = Recording.load(corpus / "test.npz")
    world, _ = drawn_world(seed)
    labeler = FeatureLabeler.load(model)
    figures = {
        **labeler.evaluate(features.sequences(test)).as_dict(),
        "best_acc": known_accuracy(world, test, posteriors),
        "best_acc_of_single_windows": known_accuracy(world, test, window_posteriors),
        "variant": chosen,
        "windows": test.activities.size,
    }
    write_json(report, figures)
    for name, figure in figures.items():
        print(f"{name}: {figure}")


def known_accuracy(
    world: World, recording: Recording, decode: Callable[[World, NDArray[Any]], Floats]
) -> float:
    """The share of windows that get the right activity from a decoder that knows the world."""
    right = sum(
        int((decode(world, signals).argmax(axis=1) == activities).sum())
        for signals, activities in zip(recording.signals, recording.activities, strict=True)
    )
    return right / recording.activities.size


def write_json(path: Path, figures: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_text(path) as stream:
        stream.write(json.dumps(figures, indent=2) + "\n")


def main(arguments: list[str] | None = None) -> int:
    """0 if all went well, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    trained = commands.add_parser("train")
    evaluated = commands.add_parser("evaluate")
    for command in (trained, evaluated):
        command.add_argument("corpus", type=Path)
        command.add_argument("model", type=Path)
        command.add_argument("variants", type=Path)
    evaluated.add_argument("report", type=Path)
    evaluated.add_argument("--seed", type=int, default=0, help="that the world was drawn by")
    given = parser.parse_args(arguments)
    try:
        if given.command == "train":
            train(given.corpus, given.model, given.variants)
        else:
            evaluate(given.corpus, given.model, given.variants, given.report, given.seed)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
