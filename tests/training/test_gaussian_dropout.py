"""Gaussian dropout (Wang & Manning 2013) against all masks of features, and a dense twin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from crf_twins import finite_differences
from log_linear_twin import chain_features
from looped import looped
from scipy.integrate import quad

from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.models.classification import TextClassifier
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger
from spacy_structreg.models.labeling.crf import CRF
from spacy_structreg.models.labeling.labelers import FeatureLabeler, SequenceLabeler
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.training.log_linear import LogLinearTrainer

FREE = LabelGraph(np.ones((2, 2)), np.ones(2), np.ones(2))
RATE = 0.4
VARIANCE = RATE / (1 - RATE)


class Model:
    """Texts of real-valued features, each with one of two labels, or None, and random weights."""

    def __init__(self, inputs: np.ndarray, labels: Sequence[int | None], **options: Any) -> None:
        features = chain_features("", 2, ["label"])
        settings = LogLinear(noise="gaussian_dropout", noise_level=RATE, l2=0.0, **options)
        self.inputs = inputs
        self.labels = labels
        learner = features.new_learner(settings, adaptive=False)
        keys = np.arange(inputs.shape[1], dtype=np.uint64) + 7
        self.chains = [
            features.compile(
                np.zeros((len(features.atoms), 1), dtype=np.uint64),
                1 if label is None else np.array([label], dtype=np.uint16),
                learner,
                [(np.array([0, len(keys)]), keys, values)],
            )
            for values, label in zip(inputs, labels, strict=True)
        ]
        self.learner = learner
        self.trainer = LogLinearTrainer(features, FREE, learner)

    def found(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient. weights: of shape (n_features, 2)."""
        self.learner.set_weights(weights.ravel())
        value, (gradient,) = self.trainer.objective(self.chains)
        return value, gradient

    def shares(self) -> list[float]:
        """How much the noise of each text counts (Wang et al. 2013, equation 11)."""
        n = sum(label is not None for label in self.labels)
        alpha = self.learner.settings.unlabeled_weight
        share = n / (n + alpha * (len(self.labels) - n))
        return [share * (alpha if label is None else 1) for label in self.labels]


def loss(scores: np.ndarray, label: int) -> float:
    return float(np.logaddexp(*scores) - scores[label])


def mean_softplus(mean: float, spread: float) -> float:
    """The mean of log(1 + exp x) where x is normally distributed."""

    def part(z: float) -> float:
        return np.logaddexp(0, mean + spread * z) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)

    bend = float(np.clip(-mean / spread, -9, 9)) if spread else 0.0
    return quad(part, -9, 9, points=[bend], epsabs=1e-12)[0]


def random_model(seed: int, n: int, n_features: int, scale: float) -> tuple[Model, np.ndarray]:
    random = np.random.default_rng(seed)
    inputs = random.choice([1.0, 0.5, -2.0, 3.0], (n, n_features))
    labels = random.integers(0, 2, n).tolist()
    return Model(inputs, labels), scale * random.normal(size=(n_features, 2))


@looped(("scale", "tolerance"), [(0.1, 0.01), (0.4, 0.05)])
@looped("seed", [0, 1, 2])
def test_near_the_mean_over_all_masks(seed: int, scale: float, tolerance: float) -> None:
    """Ten features, each left out at its rate or scaled up: -log p of the label on average."""
    model, weights = random_model(seed, 1, 10, scale)
    (values,), (label,) = model.inputs, model.labels
    expected = 0.0
    for mask in product([0, 1], repeat=len(values)):
        kept = np.array(mask)
        chance = float(np.prod(np.where(kept, 1 - RATE, RATE)))
        expected += chance * loss((values * kept / (1 - RATE)) @ weights, label)
    found, _ = model.found(weights)
    # Against that of no noise at all.
    assert abs(found - expected) < tolerance * abs(loss(values @ weights, label) - expected)


@looped(("scale", "tolerance"), [(0.0, 1e-9), (0.3, 1e-9), (2.0, 1e-5), (1e3, 1e-2)])
def test_the_objective_is_that_of_a_dense_twin(scale: float, tolerance: float) -> None:
    """Of labeled and unlabeled texts. The distribution is integrated, gradients are differences."""
    random = np.random.default_rng(5)
    inputs = random.choice([1.0, 0.5, -2.0], (5, 4))
    model = Model(inputs, [0, 1, None, 1, None], unlabeled_weight=0.3)
    weights = scale * random.normal(size=(4, 2))

    def twin(flat: np.ndarray) -> float:
        table = flat.reshape(4, 2)
        total = 0.0
        for values, label, share in zip(inputs, model.labels, model.shares(), strict=True):
            scores = values @ table
            d = scores[0] - scores[1]
            v = VARIANCE * ((values * (table[:, 0] - table[:, 1])) ** 2).sum()
            total += share * (mean_softplus(d, np.sqrt(v)) - np.logaddexp(0, d))
            if label is not None:
                total += loss(scores, label)
        return float(total)

    value, gradient = model.found(weights)
    assert value == pytest.approx(twin(weights.ravel()), rel=tolerance, abs=1e-9)
    numeric = finite_differences(lambda flat: model.found(flat)[0], weights.ravel())
    np.testing.assert_allclose(gradient.ravel(), numeric, rtol=1e-6, atol=1e-5)
    if scale < 1:
        by_twin = finite_differences(twin, weights.ravel())
        np.testing.assert_allclose(gradient.ravel(), by_twin, atol=1e-5)


def test_a_step_of_gradient_descent_follows_the_gradient() -> None:
    model, weights = random_model(6, 1, 5, 0.5)
    _, gradient = model.found(weights)
    model.learner.set_weights(weights.ravel())
    model.trainer.epoch(model.chains, [0])
    step = model.learner.settings.rate / (model.inputs**2).sum()
    np.testing.assert_allclose(model.learner.weights()[0], weights - step * gradient, atol=1e-12)


NOISY = LogLinear("lbfgs", noise="gaussian_dropout", noise_level=0.5, l2=0.0)


def test_two_categories_alone() -> None:
    texts = [(["sun", "sea"], "a"), (["rain"], "b"), (["sea"], "a"), (["rain", "wind"], "b")]
    model = TextClassifier(learning=NOISY, epochs=200).fit(texts)
    assert [model.predict(words) for words, _ in texts] == [label for _, label in texts]
    with pytest.raises(ValueError, match="two categories; choose 'dropout'"):
        TextClassifier(learning=NOISY).fit([*texts, (["snow"], "c")])


@looped("model", [SequenceLabeler, FeatureLabeler, CRF, CharacterJointTagger])
def test_models_of_sequences_refuse_it(model: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match=r"labels sequences, .* choose 'dropout'"):
        model(learning=NOISY)


def test_a_rate_is_below_one() -> None:
    with pytest.raises(ValueError, match="below 1"):
        LogLinear(noise="gaussian_dropout", noise_level=1.0)
