"""The twins of conditional random fields and of feature noising, against each other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from crf_twins import (
    Crf,
    Enumeration,
    Noise,
    finite_differences,
    forward_backward,
    multinomial_noising,
    new_crf,
    new_values,
    noised_log_partition,
)
from looped import looped

from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.segmentation.bmes import bmes

NOISES = [
    Noise("dropout", 0.3),
    Noise("multiplicative", 0.5),
    Noise("additive", 0.4),
]
RANDOM = np.random.default_rng


def free_graph(n_labels: int) -> LabelGraph:
    """All labels may follow each other."""
    anywhere = np.ones(n_labels)
    return LabelGraph(np.ones((n_labels, n_labels)), anywhere, anywhere)


def random_crf(
    seed: int, length: int = 4, *, graph: LabelGraph | None = None, **ends: bool
) -> tuple[Crf, np.ndarray]:
    """A chain of node features, edge features and label bigrams, some in the same places."""
    random = RANDOM(seed)
    graph = graph or free_graph(3)
    n_labels = graph.n_labels
    n_nodes, n_edges = 6, 3
    values = new_values(length, n_labels, (n_nodes + n_edges) + n_labels**2)
    places = random.integers(0, length, n_nodes + n_edges)
    labels = random.integers(0, n_labels, (n_nodes + n_edges, 2))
    for j in range(n_nodes):
        values[places[j], :, labels[j, 1], j] = random.choice([1.0, 1.0, 0.5, -2.0])
    # The same label and place, in another proportion; and one feature at two places.
    values[places[0], :, labels[0, 1], 1] = 3.0
    values[(places[2] + 1) % length, :, labels[2, 1], 2] = 1.0
    for j in range(n_nodes, n_nodes + n_edges):
        values[places[j], labels[j, 0], labels[j, 1], j] = 1.0
    for a in range(n_labels):
        for b in range(n_labels):
            values[1:, a, b, n_nodes + n_edges + a * n_labels + b] = 1.0
    return new_crf(graph, values, **ends), random.normal(size=values.shape[-1])


CASES = [
    random_crf(0),
    random_crf(1, length=5, graph=bmes().graph),
    random_crf(2, graph=bmes().graph, open_start=True),
    random_crf(3, graph=bmes().graph, open_start=True, open_end=True),
    random_crf(4, length=1),
    random_crf(5, length=3, graph=LabelGraph([[1, 0], [1, 1]], [0, 1], [1, 1])),
]


def test_a_chain_of_two_labels_by_hand() -> None:
    # Two positions, labels 0 and 1. The first feature gives label 1 a score of log 2 at the first
    # position, the second gives the pair (1, 1) one of log 3. 1 may not be followed by 0.
    values = new_values(2, 2, 2)
    values[0, :, 1, 0] = 1.0
    values[1, 1, 1, 1] = 1.0
    graph = LabelGraph([[1, 1], [0, 1]], [1, 1], [1, 1])
    paths = Enumeration(new_crf(graph, values), np.log([2.0, 3.0]))
    assert paths.paths == [(0, 0), (0, 1), (1, 1)]
    assert paths.log_partition == pytest.approx(math.log(1 + 1 + 6))
    np.testing.assert_allclose(paths.nodes, [[2 / 8, 6 / 8], [1 / 8, 7 / 8]])
    np.testing.assert_allclose(paths.edges[0], [[0, 0], [0, 0], [2 / 8, 6 / 8]])
    np.testing.assert_allclose(paths.edges[1], [[1 / 8, 1 / 8], [0, 6 / 8], [0, 0]])
    assert paths.log_likelihood((1, 1)) == pytest.approx(math.log(6 / 8))
    assert paths.log_likelihood((1, 0)) == -np.inf
    np.testing.assert_allclose(paths.expectation, [6 / 8, 6 / 8])
    np.testing.assert_allclose(paths.log_likelihood_gradient((0, 1)), [-6 / 8, -6 / 8])
    # Given the pair (1, 1) both features fire, given (0, 1) none.
    np.testing.assert_allclose(paths.edge_gradient(1, 1, 1), [2 / 8, 2 / 8])
    np.testing.assert_allclose(paths.edge_gradient(1, 0, 1), [-6 / 8, -6 / 8])
    np.testing.assert_allclose(paths.edge_gradient(0, 2, 1), [2 / 8, 2 / 8])
    np.testing.assert_allclose(paths.edge_gradient(0, 2, 1, window=0), [2 / 8, 0])
    # Equation 14: one edge of each position has noise, both with a probability of 3/4.
    value, _ = paths.noising(Noise("dropout", 0.2))
    assert value == pytest.approx(0.5 * 0.75 * 0.25 * 0.25 * (math.log(2) ** 2 + math.log(3) ** 2))
    # Additive noise needs no values, only presence.
    doubled = Enumeration(new_crf(graph, 2 * values), np.log([2.0, 3.0]) / 2)
    np.testing.assert_allclose(doubled.edges, paths.edges)
    assert doubled.noising(Noise("multiplicative", 0.25))[0] == pytest.approx(value)
    assert doubled.noising(Noise("additive", 0.25))[0] == pytest.approx(value / 4)


@pytest.mark.parametrize(("crf", "weights"), CASES)
def test_recurrences_equal_enumeration(crf: Crf, weights: np.ndarray) -> None:
    paths = Enumeration(crf, weights)
    path = paths.paths[0]
    log_partition, edges = forward_backward(crf, weights)
    assert log_partition == pytest.approx(paths.log_partition)
    np.testing.assert_allclose(edges, paths.edges, atol=1e-12)
    numeric = finite_differences(lambda w: Enumeration(crf, w).log_likelihood(path), weights)
    np.testing.assert_allclose(paths.log_likelihood_gradient(path), numeric, atol=1e-8)


@looped(("crf", "weights"), CASES)
@looped("noise", NOISES)
def test_the_gradient_of_noising(crf: Crf, weights: np.ndarray, noise: Noise) -> None:
    value, gradient = Enumeration(crf, weights).noising(noise)
    assert value > 0
    numeric = finite_differences(lambda w: Enumeration(crf, w).noising(noise)[0], weights)
    np.testing.assert_allclose(gradient, numeric, atol=1e-8)
    # Nothing is further away than T - 1 positions.
    _, found = Enumeration(crf, weights).noising(replace(noise, window=crf.length - 1))
    np.testing.assert_allclose(found, gradient, atol=1e-12)


@pytest.mark.parametrize("noise", NOISES)
def test_one_position_is_multinomial_logistic_regression(noise: Noise) -> None:
    random = RANDOM(0)
    n_labels, n_inputs = 4, 3
    inputs, weights = random.normal(size=n_inputs), random.normal(size=(n_labels, n_inputs))
    values = new_values(1, n_labels, n_labels * n_inputs)
    for y in range(n_labels):
        values[0, :, y, y * n_inputs : (y + 1) * n_inputs] = inputs
    crf = new_crf(free_graph(n_labels), values)
    value, gradient = Enumeration(crf, weights.ravel()).noising(noise)
    expected, expected_gradient = multinomial_noising(inputs, weights, noise)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(gradient, expected_gradient.ravel(), atol=1e-12)


def tiny_crf() -> tuple[Crf, np.ndarray]:
    """Two positions, two labels, and features in eight places (t, a, b)."""
    values = new_values(2, 2, 3)
    values[0, 2, 1, 0] = 1.0
    values[0, 2, 0, 1] = 2.0
    values[1, :2, 1, 0] = 1.0
    values[1, 0, :, 2] = 1.0
    values[1, 1, :, 1] = 1.0
    return new_crf(free_graph(2), values), np.array([0.9, -0.6, 0.7])


def quadratic_and_true(
    crf: Crf, weights: np.ndarray, noise: Noise, outcomes: list[tuple[float, float]]
) -> tuple[float, float]:
    """R^q, and what it approximates: E[A(s̃)] - A(s)."""
    log_partition, _ = forward_backward(crf, weights)
    true = noised_log_partition(crf, weights, outcomes) - log_partition
    return Enumeration(crf, weights).noising(noise)[0], true


def test_noising_is_the_second_order_of_dropout() -> None:
    # A dropped feature is gone however small δ is, so that the order counts in the weights: R^q is
    # quadratic in them, and what it leaves out is cubic.
    crf, weights = tiny_crf()
    delta = 0.1
    outcomes = [(0.0, delta), (1 / (1 - delta), 1 - delta)]
    errors = []
    for scale in (0.1, 0.05, 0.025):
        quadratic, true = quadratic_and_true(
            crf, scale * weights, Noise("dropout", delta), outcomes
        )
        assert true > 0
        errors.append(abs(true - quadratic) / true)
    assert errors[0] < 0.1
    assert errors[1] / errors[0] == pytest.approx(0.5, abs=0.1)
    assert errors[2] / errors[1] == pytest.approx(0.5, abs=0.1)


def test_noising_is_the_second_order_of_small_multiplicative_noise() -> None:
    # Two outcomes with the mean and the variance of Gaussian noise, and no third moment.
    crf, weights = tiny_crf()
    errors = []
    for variance in (0.04, 0.01):
        sigma = math.sqrt(variance)
        quadratic, true = quadratic_and_true(
            crf, weights, Noise("multiplicative", variance), [(1 - sigma, 0.5), (1 + sigma, 0.5)]
        )
        errors.append(abs(true - quadratic))
        assert errors[-1] < 0.05 * true
    # The variance is a quarter, and its square a sixteenth.
    assert errors[1] / errors[0] == pytest.approx(1 / 16, rel=0.05)


def test_nothing_legal_is_an_error() -> None:
    crf = new_crf(LabelGraph([[0]], [1], [1]), new_values(2, 1, 1))
    with pytest.raises(ValueError, match="no sequence of labels is legal"):
        Enumeration(crf, np.zeros(1))
