"""L-BFGS finds what is least, by the conditions that a minimum meets."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from log_linear_twin import LogLinearTwin, chain_features, random_sentence
from looped import looped

from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.tasks.segmentation.bmes import bmes
from spacy_structreg.training.lbfgs import PERIOD, minimize

pytest.importorskip("scipy", reason="SciPy is not installed, which L-BFGS needs")

NOISES: list[dict[str, Any]] = [
    {},
    {"noise": "dropout", "noise_level": 0.2},
    {"noise": "multiplicative", "noise_level": 0.5},
    {"noise": "additive", "noise_level": 0.3},
]


def model(*, seed: int = 0, scale: float = 0.0, **options: Any) -> LogLinearTwin:
    graph = bmes().graph
    features = chain_features("u0 | u-1u0 | t-1t0", graph.n_labels)
    sentences = [
        random_sentence(i, features, graph, length, labeled=i < 3, real=True)
        for i, length in enumerate([4, 3, 4, 3])
    ]
    settings = LogLinear(optimizer="lbfgs", **options)
    return LogLinearTwin(features, graph, settings, sentences, seed=seed, scale=scale)


def fit(twin: LogLinearTwin, most: int = 500) -> list[float]:
    """Minimize, and return the objective after each iteration."""
    objectives: list[float] = []

    def go_on() -> bool:
        objectives.append(twin.learner.objective)
        return True

    minimize(twin.trainer, twin.chains, most, go_on)
    return objectives


def total(twin: LogLinearTwin) -> tuple[float, np.ndarray]:
    """The twin's objective with its penalties, and its gradient without L1."""
    options, weights = twin.settings, twin.weights
    value, gradient = twin.objective(weights)
    value += options.l2 * (weights**2).sum() + options.l1 * np.abs(weights).sum()
    return value, gradient + 2 * options.l2 * weights


@looped("noise", NOISES)
@looped("scale", [0.0, 1.0])
def test_the_gradient_vanishes(noise: dict[str, Any], scale: float) -> None:
    twin = model(l2=0.3, tolerance=1e-12, scale=scale, **noise)
    objectives = fit(twin)
    value, gradient = total(twin)
    assert objectives[-1] == pytest.approx(value, rel=1e-9)
    assert np.abs(gradient).max() < 1e-4
    assert twin.learner.converged
    assert all(later <= earlier for earlier, later in pairwise(objectives))


@pytest.mark.parametrize("noise", NOISES[1:])
def test_with_noise_it_begins_at_the_minimum_without(noise: dict[str, Any]) -> None:
    begun = model(l2=0.5, tolerance=1e-12)
    fit(begun)
    twin = model(l2=0.02, tolerance=1e-12, noise_start=0.5, **noise)
    seen: list[np.ndarray] = []

    def once() -> bool:
        seen.append(twin.weights)
        return False

    minimize(twin.trainer, twin.chains, 500, once)
    # The first iteration goes downhill from there, along the gradient.
    twin.learner.set_weights(begun.weights)
    _, gradient = total(twin)
    step = seen[0] - begun.weights
    cosine = -(step @ gradient) / np.linalg.norm(step) / np.linalg.norm(gradient)
    assert cosine == pytest.approx(1.0, abs=1e-3)
    fit(twin)
    assert np.abs(total(twin)[1]).max() < 1e-4


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_l1_makes_weights_zero_that_do_not_pay(l2: float) -> None:
    twin = model(l1=0.4, l2=l2, tolerance=1e-12)
    fit(twin)
    _, gradient = total(twin)
    weights = twin.weights
    is_zero = np.abs(weights) < 1e-6
    assert 0 < is_zero.sum() < len(weights)
    assert (np.abs(gradient[is_zero]) <= 0.4 + 1e-4).all()
    pulled = gradient[~is_zero] + 0.4 * np.sign(weights[~is_zero])
    assert np.abs(pulled).max() < 1e-4
    # What is zero is so to the last bit, and takes no room in a trained model.
    assert (weights == 0).sum() == is_zero.sum()


def test_iterations_end_when_told() -> None:
    seen: list[np.ndarray] = []
    twin = model(l2=0.3)

    def three_times() -> bool:
        seen.append(twin.weights)
        return len(seen) < 3

    minimize(twin.trainer, twin.chains, 500, three_times)
    assert len(seen) == 3
    assert (twin.weights == seen[-1]).all()
    assert not twin.learner.converged
    few = model(l2=0.3)
    assert len(fit(few, most=2)) == 2
    assert (few.weights == seen[1]).all()


def test_the_tolerance_ends_iterations() -> None:
    loose, tight = model(l2=0.3, tolerance=1e-3), model(l2=0.3, tolerance=1e-8)
    first, second = fit(loose), fit(tight)
    assert PERIOD + 1 < len(first) < len(second)
    assert first == second[: len(first)]
    values = np.array(first)
    changes = np.abs(values[PERIOD:] - values[:-PERIOD]) / np.abs(values[PERIOD:]) / PERIOD
    assert (changes[:-1] >= 1e-3).all()
    assert changes[-1] < 1e-3
    assert loose.learner.converged


def test_a_missing_scipy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    twin = model()
    with pytest.raises(ImportError, match="needs SciPy"):
        minimize(twin.trainer, twin.chains, 1, lambda: True)
