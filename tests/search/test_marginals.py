"""Sums over label sequences against brute force."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from crf_twins import Crf, Enumeration, finite_differences, forward_backward, new_crf, new_values
from example_counts import quick_examples
from hypothesis import example, given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.search.marginals import SumProduct, marginals
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.segmentation.bmes import bmes, with_tags

USUAL = st.floats(-5, 5)
# What one position makes up for may have been lost at several others.
EXTREME = st.sampled_from([0.0, 1.0, -1.0, 150.0, -300.0, 400.0, -800.0, 1e4, -1e4])
ROUNDING = {"rtol": 1e-11, "atol": 1e-11}

Problem = tuple[LabelGraph, np.ndarray, np.ndarray, np.ndarray | None]


@st.composite
def problems(draw: st.DrawFn, cells: st.SearchStrategy[float]) -> Problem:
    """A graph, emissions, transitions, and edges or None."""
    n_labels = draw(st.integers(1, 4))
    n = draw(st.integers(1, 5))
    mostly = st.sampled_from([True, True, True, False])

    def array(*shape: int, cell: st.SearchStrategy = cells) -> np.ndarray:
        size = int(np.prod(shape))
        return np.array(draw(st.lists(cell, min_size=size, max_size=size))).reshape(shape)

    graph = LabelGraph(
        array(n_labels, n_labels, cell=mostly),
        array(n_labels, cell=mostly),
        array(n_labels, cell=mostly),
    )
    edges = array(n - 1, n_labels, n_labels) if draw(st.booleans()) else None
    return graph, array(n, n_labels), array(n_labels, n_labels), edges


def as_crf(problem: Problem, **ends: bool) -> Crf:
    """Scores as the values of one feature, whose weight is 1."""
    graph, emissions, transitions, edges = problem
    n, n_labels = emissions.shape
    values = new_values(n, n_labels, 1)
    values[:, :, :, 0] = emissions[:, None, :]
    values[1:, :-1, :, 0] += transitions
    if edges is not None:
        values[1:, :-1, :, 0] += edges
    return new_crf(graph, values, **ends)


def check(problem: Problem, **ends: bool) -> None:
    """Log-partition and marginals equal brute force, and nothing illegal is likely."""
    try:
        expected = Enumeration(as_crf(problem, **ends), np.ones(1))
    except ValueError:
        with pytest.raises(ValueError, match="no sequence of labels is legal"):
            marginals(*problem, **ends)
        return
    log_partition, nodes, pairs = marginals(*problem, **ends)
    np.testing.assert_allclose(log_partition, expected.log_partition, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(nodes, expected.nodes, **ROUNDING)
    np.testing.assert_allclose(pairs, expected.edges[1:, :-1], **ROUNDING)
    assert (pairs[:, ~problem[0].legal] == 0).all()


@given(problems(USUAL), st.booleans(), st.booleans())
def test_marginals_equal_brute_force(problem: Problem, open_start: bool, open_end: bool) -> None:
    check(problem, open_start=open_start, open_end=open_end)


# Labels that are never left. The second begins far behind, and catches up by steps.
NEVER_LEFT = LabelGraph(np.eye(2), [1, 1], [1, 1])
CATCHES_UP = np.array([[0, -800], [0, 300], [0, 300], [0, 300.0]])
# At the second position the first label is too unlikely for a number, and so is all else.
ANY = LabelGraph(np.ones((2, 2)), [1, 1], [1, 1])
LOST = np.array([[1, 1], [-745, 1], [400, 1.0]])
STAYS = np.array([[400, 1], [1, 1.0]])
# What a transition takes away, an edge gives back.
TAKEN = np.array([[0, -800], [0, 0.0]])
GIVEN = np.array([[[0, 800], [0, 0.0]]])


@quick_examples(100)
@example((NEVER_LEFT, CATCHES_UP, np.zeros((2, 2)), None), False, False)
@example((NEVER_LEFT, CATCHES_UP[::-1].copy(), np.zeros((2, 2)), None), False, False)
@example((ANY, LOST, STAYS, None), False, False)
@example((ANY, LOST[::-1].copy(), STAYS.T.copy(), None), False, False)
@example((ANY, np.zeros((2, 2)), TAKEN, GIVEN), False, False)
@given(problems(EXTREME), st.booleans(), st.booleans())
def test_extreme_scores_equal_brute_force(
    problem: Problem, open_start: bool, open_end: bool
) -> None:
    check(problem, open_start=open_start, open_end=open_end)


def test_many_chains_of_few_extreme_scores_equal_sums_of_logarithms() -> None:
    random = np.random.default_rng(4)
    extreme = [0, 1, -1, 100, -150, 300, -300, 400, -709.5, -720, 740, -745, -800, 2000, -1e4]
    for _ in range(600):
        n, n_labels = random.integers(1, 9), random.integers(1, 4)
        few = random.choice(extreme, size=4)
        legal = (random.random((n_labels, n_labels)) < 0.8) | np.eye(n_labels, dtype=bool)
        graph = LabelGraph(legal, np.ones(n_labels), np.ones(n_labels))
        edges = random.choice(few, (n - 1, n_labels, n_labels)) if random.random() < 0.5 else None
        problem = (
            graph,
            random.choice(few, (n, n_labels)),
            random.choice(few, (n_labels, n_labels)),
            edges,
        )
        expected, expected_edges = forward_backward(as_crf(problem), np.ones(1))
        log_partition, nodes, pairs = marginals(*problem)
        assert log_partition == pytest.approx(expected, rel=1e-12, abs=1e-9)
        np.testing.assert_allclose(nodes, expected_edges.sum(axis=1), atol=1e-10)
        np.testing.assert_allclose(pairs, expected_edges[1:, :-1], atol=1e-10)


@looped("scale", [1.0, 50.0, 1e3, 1e5])
@looped("with_edges", [False, True])
def test_long_sequences_equal_sums_of_logarithms(scale: float, with_edges: bool) -> None:
    random = np.random.default_rng(0)
    graph = with_tags(bmes(), "ab").graph
    n, n_labels = 60, graph.n_labels
    emissions = scale * random.normal(size=(n, n_labels))
    transitions = scale * random.normal(size=(n_labels, n_labels))
    edges = scale * random.normal(size=(n - 1, n_labels, n_labels)) if with_edges else None
    problem = graph, emissions, transitions, edges
    expected, expected_edges = forward_backward(as_crf(problem), np.ones(1))
    log_partition, nodes, pairs = marginals(*problem)
    np.testing.assert_allclose(log_partition, expected, rtol=1e-12)
    # Differences of scores are known as well as the largest sums of scores are.
    tolerance = 1e-13 * max(1.0, abs(expected))
    np.testing.assert_allclose(nodes, expected_edges.sum(axis=1), rtol=1e-7, atol=tolerance)
    np.testing.assert_allclose(pairs, expected_edges[1:, :-1], rtol=1e-7, atol=tolerance)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_thousands_of_positions_sum_to_one(scale: float) -> None:
    random = np.random.default_rng(1)
    graph = bmes().graph
    emissions = scale * random.normal(size=(5000, 4))
    _, nodes, pairs = marginals(graph, emissions, np.zeros((4, 4)))
    np.testing.assert_allclose(nodes.sum(axis=1), 1, atol=1e-7)
    np.testing.assert_allclose(pairs.sum(axis=2), nodes[:-1], atol=1e-7)
    np.testing.assert_allclose(pairs.sum(axis=1), nodes[1:], atol=1e-7)


def test_marginals_are_the_derivatives_of_the_log_partition() -> None:
    random = np.random.default_rng(2)
    graph = bmes().graph
    emissions, transitions = random.normal(size=(4, 4)), random.normal(size=(4, 4))
    edges = random.normal(size=(3, 4, 4))
    _, nodes, pairs = marginals(graph, emissions, transitions, edges)

    def by_emissions(scores: np.ndarray) -> float:
        return marginals(graph, scores.reshape(4, 4), transitions, edges)[0]

    def by_edges(scores: np.ndarray) -> float:
        return marginals(graph, emissions, transitions, scores.reshape(3, 4, 4))[0]

    np.testing.assert_allclose(
        finite_differences(by_emissions, emissions.ravel()), nodes.ravel(), atol=1e-8
    )
    np.testing.assert_allclose(
        finite_differences(by_edges, edges.ravel()), pairs.ravel(), atol=1e-8
    )


def test_two_positions_by_hand() -> None:
    # The paths 00, 01 and 11 have the weights 1, 2 · 5 = 10 and 3 · 5 = 15; 1 is not followed by 0.
    graph = LabelGraph([[1, 1], [0, 1]], [1, 1], [1, 1])
    log_partition, nodes, pairs = marginals(
        graph, np.log([[1, 3], [1, 5]]), np.log([[1, 2], [1, 1]])
    )
    assert log_partition == pytest.approx(np.log(26))
    np.testing.assert_allclose(nodes, [[11 / 26, 15 / 26], [1 / 26, 25 / 26]])
    np.testing.assert_allclose(pairs, [[[1 / 26, 10 / 26], [0, 15 / 26]]])


def test_no_position_has_one_labeling() -> None:
    log_partition, nodes, pairs = marginals(bmes().graph, np.zeros((0, 4)), np.zeros((4, 4)))
    assert log_partition == 0.0
    assert nodes.shape == (0, 4)
    assert pairs.shape == (0, 4, 4)


@looped(
    ("emissions", "transitions", "edges", "message"),
    [
        (np.zeros((2, 3)), np.zeros((4, 4)), None, "emissions must have the shape"),
        (np.zeros(4), np.zeros((4, 4)), None, "emissions must have the shape"),
        (np.zeros((2, 4)), np.zeros((4, 3)), None, "transitions must have the shape"),
        (np.zeros((2, 4)), np.zeros((4, 4)), np.zeros((2, 4, 4)), "edges must have the shape"),
        (np.zeros((2, 4)), np.zeros((4, 4)), np.zeros((1, 4)), "edges must have the shape"),
        (np.zeros((2, 4)), np.zeros((4, 4)), np.zeros((0, 4, 4)), "edges must have the shape"),
        (np.full((2, 4), np.nan), np.zeros((4, 4)), None, "must be finite"),
        (np.zeros((2, 4)), np.full((4, 4), -np.inf), None, "must be finite"),
        (np.zeros((2, 4)), np.zeros((4, 4)), np.full((1, 4, 4), np.inf), "must be finite"),
    ],
)
def test_wrong_arguments_are_refused(
    emissions: np.ndarray, transitions: np.ndarray, edges: np.ndarray | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        marginals(bmes().graph, emissions, transitions, edges)


def test_sums_can_be_pickled() -> None:
    graph = bmes().graph
    again = pickle.loads(pickle.dumps(SumProduct(graph)))
    assert (again.graph.legal == graph.legal).all()
