"""Slow twins of linear-chain conditional random fields and of feature noising.

What stands in Wang et al. 2013, *Feature Noising for Log-linear Structured Prediction*, by its
definitions: sums over all sequences of labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from spacy_structreg.search.viterbi import LabelGraph

Noising = Literal["dropout", "multiplicative", "additive"]


@dataclass(frozen=True)
class Noise:
    """A noising scheme (section 2).

    strength: δ of dropout, the variance σ² of the others.
    window: how many positions away the gradient looks (section 4.2); None for all.
    """

    kind: Noising = "dropout"
    strength: float = 0.0
    window: int | None = None

    def factors(self, values: np.ndarray, on_edge: np.ndarray | None = None) -> np.ndarray:
        """What the squared weight of a feature counts in the variance of a score.

        on_edge: which features belong to a score, those of value 0 too; None for all others.
        """
        if self.kind == "dropout":
            return self.strength / (1 - self.strength) * values**2
        if self.kind == "multiplicative":
            return self.strength * values**2
        return self.strength * (values != 0 if on_edge is None else on_edge)


@dataclass(frozen=True)
class Crf:
    """A chain with all its features written out.

    values: g_t(a, b), float64 of shape (T, K + 1, K, q): the values of q features at position t,
        whose label is b, after the label a. Before the first position stands the start symbol K,
        and nowhere else.
    legal: bool of shape (T, K + 1, K): which labels may follow each other.
    ends: bool of shape (K,): which labels may be the last.
    on_edge: bool of the shape of values: which features have the labels of a pair, so that additive
        noise falls on them even where their value is 0; None for those of another value.
    """

    values: np.ndarray
    legal: np.ndarray
    ends: np.ndarray
    on_edge: np.ndarray | None = None

    @property
    def length(self) -> int:
        return len(self.values)

    @property
    def n_labels(self) -> int:
        return self.values.shape[2]

    @property
    def n_features(self) -> int:
        return self.values.shape[3]

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """s_{a,b,t}, of shape (T, K + 1, K); minus infinity where illegal."""
        last = np.zeros((self.length, self.n_labels))
        last[-1, ~self.ends] = -np.inf
        return np.where(self.legal, self.values @ weights, -np.inf) + last[:, None, :]


def new_crf(
    graph: LabelGraph,
    values: np.ndarray,
    *,
    open_start: bool = False,
    open_end: bool = False,
) -> Crf:
    """A chain over the labels of a graph; an open end may bear any label."""
    n_labels = graph.n_labels
    legal = np.zeros((len(values), n_labels + 1, n_labels), dtype=bool)
    legal[0, n_labels] = True if open_start else graph.starts
    legal[1:, :n_labels] = graph.legal
    values = values.astype(np.float64)
    values[0, :n_labels] = 0.0
    values[1:, n_labels] = 0.0
    return Crf(values, legal, np.ones(n_labels, dtype=bool) if open_end else graph.ends)


def new_values(length: int, n_labels: int, n_features: int) -> np.ndarray:
    """Features of a chain that never fire."""
    return np.zeros((length, n_labels + 1, n_labels, n_features))


def log_sum_exp(scores: np.ndarray, axis: int | None = None) -> np.ndarray:
    """The logarithm of a sum of exponentials; minus infinity for none."""
    highest = np.max(scores, axis=axis, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.sum(np.exp(scores - shift), axis=axis, keepdims=True)) + shift
    return np.squeeze(total, axis=axis)


class Enumeration:
    """The distribution over all K^T sequences of labels, one by one."""

    def __init__(self, crf: Crf, weights: np.ndarray) -> None:
        self.crf = crf
        self.weights = weights
        scores = crf.scores(weights)
        start = crf.n_labels
        labels = range(crf.n_labels)
        paths: list[tuple[int, ...]] = [()]
        for t in range(crf.length):
            before = [path[-1] if path else start for path in paths]
            longer = zip(before, paths, strict=True)
            paths = [(*path, b) for a, path in longer for b in labels if crf.legal[t, a, b]]
        self.paths = [path for path in paths if crf.ends[path[-1]]]
        if not self.paths:
            raise ValueError("no sequence of labels is legal")
        self.at = np.array([[start, *path] for path in self.paths])
        """The label before each position, and the last one; of shape (n_paths, T + 1)."""
        steps = np.arange(crf.length)
        self.local = crf.values[steps, self.at[:, :-1], self.at[:, 1:]]
        """The features of each path at each position; of shape (n_paths, T, q)."""
        self.scores = scores[steps, self.at[:, :-1], self.at[:, 1:]].sum(axis=1)
        self.log_partition = float(log_sum_exp(self.scores))
        self.probabilities = np.exp(self.scores - self.log_partition)

    def _places(self, path: Sequence[int]) -> enumerate[tuple[int, int]]:
        return enumerate(itertools.pairwise([self.crf.n_labels, *path]))

    def log_likelihood(self, path: Sequence[int]) -> float:
        """log p(y | x); minus infinity for an illegal path."""
        scores = self.crf.scores(self.weights)
        score = sum(float(scores[t, a, b]) for t, (a, b) in self._places(path))
        return score - self.log_partition

    def counts(self, path: Sequence[int]) -> np.ndarray:
        """f(y, x), equation 12."""
        return np.sum([self.crf.values[t, a, b] for t, (a, b) in self._places(path)], axis=0)

    @cached_property
    def nodes(self) -> np.ndarray:
        """p(y_t = b), of shape (T, K)."""
        return self.edges.sum(axis=1)

    @cached_property
    def edges(self) -> np.ndarray:
        """μ_{a,b,t} = p(y_{t-1} = a, y_t = b), of shape (T, K + 1, K)."""
        edges = np.zeros(self.crf.legal.shape)
        for path, probability in zip(self.paths, self.probabilities, strict=True):
            for t, (a, b) in self._places(path):
                edges[t, a, b] += probability
        return edges

    @cached_property
    def expectation(self) -> np.ndarray:
        """E[f(y, x)]."""
        return self.probabilities @ self.local.sum(axis=1)

    def log_likelihood_gradient(self, path: Sequence[int]) -> np.ndarray:
        """∇ log p(y | x) = f(y, x) - E[f]."""
        return self.counts(path) - self.expectation

    def edge_gradient(self, t: int, a: int, b: int, window: int | None = None) -> np.ndarray:
        """∇ log μ_{a,b,t}, equation 15; with a window, equation 20."""
        first = 0 if window is None else max(0, t - window)
        last = self.crf.length if window is None else t + window + 1
        features = self.local[:, first:last].sum(axis=1)
        here = (self.at[:, t] == a) & (self.at[:, t + 1] == b)
        among = self.probabilities[here]
        return among @ features[here] / among.sum() - self.probabilities @ features

    def noising(self, noise: Noise) -> tuple[float, np.ndarray]:
        """R^q, equation 14, and its gradient by the product rule."""
        factors = noise.factors(self.crf.values, self.crf.on_edge)
        value = 0.0
        gradient = np.zeros(self.crf.n_features)
        for t, a, b in np.argwhere(self.edges > 0).tolist():
            mu = self.edges[t, a, b]
            variance = factors[t, a, b] @ self.weights**2
            value += mu * (1 - mu) * variance / 2
            gradient += (
                (1 - 2 * mu) * mu * self.edge_gradient(t, a, b, noise.window) * variance
                + mu * (1 - mu) * 2 * factors[t, a, b] * self.weights
            ) / 2
        return float(value), gradient


# Recurrences --------------------------------------------------------------------------------------


def forward_backward(crf: Crf, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """The log-partition and μ_{a,b,t}, of shape (T, K + 1, K), for chains of any length."""
    scores = crf.scores(weights)
    start = np.full(crf.n_labels + 1, -np.inf)
    start[-1] = 0.0
    forward = [start]
    for t in range(crf.length):
        total = log_sum_exp(forward[t][:, None] + scores[t], axis=0)
        forward.append(np.append(total, -np.inf))
    backward = [np.zeros(crf.n_labels)]
    for t in reversed(range(1, crf.length)):
        total = log_sum_exp(scores[t] + backward[0][None, :], axis=1)
        backward.insert(0, total[:-1])
    log_partition = float(log_sum_exp(forward[-1]))
    edges = [
        np.exp(forward[t][:, None] + scores[t] + backward[t][None, :] - log_partition)
        for t in range(crf.length)
    ]
    return log_partition, np.array(edges)


def multinomial_noising(
    inputs: np.ndarray, weights: np.ndarray, noise: Noise
) -> tuple[float, np.ndarray]:
    """R^q of multinomial logistic regression, equations 8 to 10, and its gradient.

    inputs: g(x), of shape (q,), on all of which additive noise falls. weights: θ, of shape (K, q).
    The gradient has the weights' shape.
    """
    factors = noise.factors(inputs, np.ones(len(inputs), dtype=bool))
    scores = weights @ inputs
    mu = np.exp(scores - log_sum_exp(scores))
    variances = weights**2 @ factors
    value = float((mu * (1 - mu) * variances).sum() / 2)
    by_mu = (1 - 2 * mu) * variances / 2
    by_score = mu * (by_mu - by_mu @ mu)
    direct = (mu * (1 - mu))[:, None] * factors * weights
    return value, np.outer(by_score, inputs) + direct


def noised_log_partition(
    crf: Crf, weights: np.ndarray, outcomes: Sequence[tuple[float, float]]
) -> float:
    """E[A(s̃)], equation 4, over all ways of noising every feature at every place.

    outcomes: what a feature's value is multiplied by, and with which probability; independently at
        each place (t, a, b).
    """
    places = np.argwhere(crf.values != 0)
    total = 0.0
    for drawn in itertools.product(outcomes, repeat=len(places)):
        values = crf.values.copy()
        probability = 1.0
        for place, (factor, chance) in zip(places, drawn, strict=True):
            values[tuple(place)] *= factor
            probability *= chance
        log_partition, _ = forward_backward(Crf(values, crf.legal, crf.ends), weights)
        total += probability * log_partition
    return total


def finite_differences(
    function: Callable[[np.ndarray], float], weights: np.ndarray, step: float = 1e-5
) -> np.ndarray:
    """The gradient of a function of weights, by central differences."""
    gradient = np.zeros(len(weights))
    for j in range(len(weights)):
        aside = np.zeros(len(weights))
        aside[j] = step
        gradient[j] = (function(weights + aside) - function(weights - aside)) / (2 * step)
    return gradient
