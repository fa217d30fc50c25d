"""The decoders of label chains against brute force."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from looped import looped
from twins import legal_paths, path_score, viterbi_twin

from spacy_structreg.search.viterbi import (
    LabelGraph,
    NBestViterbi,
    Viterbi,
    viterbi,
    viterbi_nbest,
)
from spacy_structreg.tasks.segmentation.bmes import bmes, six_labels, with_tags

FEW = st.integers(-2, 2)  # so few values that most sequences have ties
MANY = st.integers(-1000, 1000)


def array(draw: st.DrawFn, shape: tuple[int, ...], cell: st.SearchStrategy) -> np.ndarray:
    size = int(np.prod(shape))
    return np.array(draw(st.lists(cell, min_size=size, max_size=size))).reshape(shape)


MOSTLY = st.sampled_from([True, True, True, False])


@st.composite
def graphs(draw: st.DrawFn) -> LabelGraph:
    """Random graphs, and those of words with tags, whose labels form blocks."""
    if draw(st.booleans()):
        scheme = draw(st.sampled_from([bmes(), six_labels()]))
        if draw(st.booleans()):
            scheme = with_tags(scheme, "ab")
        return LabelGraph(
            scheme.graph.legal, scheme.graph.starts, scheme.graph.ends, draw(st.booleans())
        )
    n_labels = draw(st.integers(1, 6))
    # Few different columns, so that labels share their predecessors.
    columns = draw(st.lists(st.lists(MOSTLY, min_size=6, max_size=6), min_size=1, max_size=3))
    legal = np.array([draw(st.sampled_from(columns))[:n_labels] for _ in range(n_labels)]).T
    ends = [array(draw, (n_labels,), MOSTLY) for _ in range(2)]
    return LabelGraph(legal, *ends, draw(st.booleans()))


@st.composite
def problems(draw: st.DrawFn, max_n: int = 5, scores: st.SearchStrategy | None = None):
    """A graph, emissions, transitions and a mask or None."""
    graph = draw(graphs())
    n_labels = graph.n_labels
    n = draw(st.integers(0, max_n if n_labels <= 4 else min(max_n, 3)))
    cell = draw(st.sampled_from([FEW, MANY])) if scores is None else scores
    emissions = array(draw, (n, n_labels), cell).astype(float)
    transitions = array(draw, (n_labels, n_labels), cell).astype(float)
    mask = array(draw, (n, n_labels), MOSTLY) if draw(st.booleans()) else None
    return graph, emissions, transitions, mask


@given(problems())
def test_the_best_path_equals_brute_force(problem) -> None:
    graph, emissions, transitions, mask = problem
    scored = [
        (path_score(path, emissions, transitions), path)
        for path in legal_paths(graph, len(emissions), mask)
    ]
    if not scored:
        with pytest.raises(ValueError, match="no sequence of labels is legal"):
            viterbi(graph, emissions, transitions, mask)
        return
    best = max(score for score, _ in scored)
    # Ties: the lowest last label, then the lowest one before it, and so on to the front.
    first = min((path for score, path in scored if score == best), key=lambda path: path[::-1])
    score, path = viterbi(graph, emissions, transitions, mask)
    assert score == best
    assert tuple(path.tolist()) == first
    assert path.dtype == np.uint16


@given(problems(), st.integers(1, 40))
def test_the_n_best_paths_equal_brute_force(problem, k: int) -> None:
    graph, emissions, transitions, mask = problem
    legal = set(legal_paths(graph, len(emissions), mask))
    best = sorted((path_score(path, emissions, transitions) for path in legal), reverse=True)[:k]
    found = viterbi_nbest(graph, emissions, transitions, k, mask)
    assert [score for score, _ in found] == best
    paths = [tuple(path.tolist()) for _, path in found]
    assert len(set(paths)) == len(paths)
    assert set(paths) <= legal
    for (score, _), path in zip(found, paths, strict=True):
        assert score == path_score(path, emissions, transitions)


@given(problems(), st.booleans(), st.booleans(), st.integers(1, 40))
def test_open_ends_equal_graphs_that_begin_and_end_anywhere(
    problem, open_start: bool, open_end: bool, k: int
) -> None:
    graph, *scores, mask = problem
    anywhere = np.ones(graph.n_labels)
    free = LabelGraph(
        graph.legal,
        anywhere if open_start else graph.starts,
        anywhere if open_end else graph.ends,
        graph.by_blocks,
    )
    expected = viterbi_nbest(free, *scores, k, mask)
    found = viterbi_nbest(graph, *scores, k, mask, open_start=open_start, open_end=open_end)
    assert [(score, path.tolist()) for score, path in found] == [
        (score, path.tolist()) for score, path in expected
    ]
    if expected:
        score, path = viterbi(graph, *scores, mask, open_start=open_start, open_end=open_end)
        assert (score, path.tolist()) == (expected[0][0], expected[0][1].tolist())


@given(problems(max_n=12), st.integers(1, 40))
def test_of_equal_paths_those_of_lower_labels_come_first(problem, k: int) -> None:
    graph, emissions, transitions, mask = problem
    found = viterbi_nbest(graph, emissions, transitions, k, mask)
    ranks = [(-score, path.tolist()[::-1]) for score, path in found]
    assert ranks == sorted(ranks)


REALS = st.floats(-1e6, 1e6)


@given(problems(max_n=12, scores=REALS), st.integers(1, 30))
def test_blocks_of_labels_change_nothing(problem, k: int) -> None:
    graph, *scores, mask = problem
    one, other = (
        viterbi_nbest(LabelGraph(graph.legal, graph.starts, graph.ends, by), *scores, k, mask)
        for by in (False, True)
    )
    assert [(score, path.tolist()) for score, path in one] == [
        (score, path.tolist()) for score, path in other
    ]


@given(problems(max_n=12, scores=REALS), st.integers(1, 5))
def test_the_first_of_the_n_best_is_the_best_bit_for_bit(problem, k: int) -> None:
    graph, emissions, transitions, mask = problem
    found = viterbi_nbest(graph, emissions, transitions, k, mask)
    assume(found)
    score, path = viterbi(graph, emissions, transitions, mask)
    assert found[0][0] == score
    assert found[0][1].tolist() == path.tolist()


@given(problems(max_n=12, scores=REALS), st.integers(1, 13))
def test_blocks_of_any_size_equal_one_block(problem, block: int) -> None:
    graph, emissions, transitions, mask = problem
    assume(viterbi_nbest(graph, emissions, transitions, 1, mask))
    whole = viterbi(graph, emissions, transitions, mask)
    parts = viterbi(graph, emissions, transitions, mask, block=block)
    assert parts[0] == whole[0]
    assert parts[1].tolist() == whole[1].tolist()


def dense_graph(n_labels: int) -> LabelGraph:
    """Most labels follow each other; label 0 itself, so that some path is legal."""
    legal = np.random.default_rng(n_labels).random((n_labels, n_labels)) < 0.7
    legal[0, 0] = True
    return LabelGraph(legal, np.ones(n_labels), np.ones(n_labels))


@looped("graph", [dense_graph(4), dense_graph(60), with_tags(bmes(), map(str, range(20))).graph])
@looped("weight", [0.0, 0.1, 3.0])
def test_a_long_sequence_equals_the_twin(graph: LabelGraph, weight: float) -> None:
    random = np.random.default_rng(7)
    n, n_labels = 1200 // graph.n_labels + 50, graph.n_labels
    emissions = random.normal(size=(n, n_labels)).round(1)
    transitions = weight * random.normal(size=(n_labels, n_labels))
    mask = random.random((n, n_labels)) < 0.8
    mask[:, 0] = True
    for some in [mask, None] if graph.legal[0, 0] else [None]:
        expected = viterbi_twin(emissions.tolist(), transitions.tolist(), graph, some)
        for block in (0, 7, 16):
            score, path = viterbi(graph, emissions, transitions, some, block)
            assert (score, path.tolist()) == expected


def test_paths_that_never_meet_take_linear_time() -> None:
    # Two labels that never follow each other: nothing can be settled before the end.
    graph = LabelGraph(np.eye(2), np.ones(2), np.ones(2))
    n = 40_000
    score, path = viterbi(graph, np.tile([0.0, 0.25], (n, 1)), ZEROS, block=1)
    assert score == n / 4
    assert path.all()


FREE = LabelGraph(np.ones((2, 2)), np.ones(2), np.ones(2))
ZEROS = np.zeros((2, 2))


@looped(
    ("emissions", "transitions", "mask", "complaint"),
    [
        (np.zeros((3, 3)), ZEROS, None, r"\(n, 2\), got \(3, 3\)"),
        (np.zeros(2), ZEROS, None, r"\(n, 2\), got \(2,\)"),
        (np.zeros((1, 3, 2)), ZEROS, None, r"\(n, 2\)"),
        (np.zeros((3, 2)), np.zeros((2, 3)), None, r"\(2, 2\), got \(2, 3\)"),
        (np.zeros((3, 2)), ZEROS, np.ones((2, 2)), r"\(3, 2\), got \(2, 2\)"),
        (np.zeros((3, 2)), ZEROS, np.ones(3), r"\(3, 2\), got \(3,\)"),
        ([[0, np.nan]], ZEROS, None, "must be finite"),
        ([[0, -np.inf]], ZEROS, None, "must be finite"),
        (ZEROS, [[0, 0], [np.nan, 0]], None, "must be finite"),
        (ZEROS, [[0, 0], [np.inf, 0]], None, "must be finite"),
    ],
)
def test_scores_that_cannot_be(emissions, transitions, mask, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        viterbi(FREE, emissions, transitions, mask)
    with pytest.raises(ValueError, match=complaint):
        viterbi_nbest(FREE, emissions, transitions, 2, mask)


@looped(
    ("legal", "starts", "ends"),
    [
        (np.ones((2, 3)), np.ones(2), np.ones(2)),
        (np.ones((3, 3)), np.ones(2), np.ones(2)),
        (np.ones((2, 2)), np.ones(2), np.ones(3)),
        (np.ones((0, 0)), np.ones(0), np.ones(0)),
    ],
)
def test_graphs_that_are_not_graphs(legal, starts, ends) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        LabelGraph(legal, starts, ends)


@given(problems())
def test_pickling(problem) -> None:
    graph = problem[0]
    copies = [pickle.loads(pickle.dumps(thing)) for thing in (Viterbi(graph), NBestViterbi(graph))]
    for copy in (pickle.loads(pickle.dumps(graph)), *(decoder.graph for decoder in copies)):
        assert copy.n_labels == graph.n_labels
        for name in ("legal", "starts", "ends"):
            assert (getattr(copy, name) == getattr(graph, name)).all()
            with pytest.raises(ValueError, match="read-only"):
                getattr(copy, name)[...] = True


Column = tuple[int, list[tuple[int, float]], float]


@st.composite
def lattices(draw: st.DrawFn):
    """Columns of up to four positions, up to three at each, and a mask with a row for each.

    Steps and ends have scores of their own.
    """
    graph, emissions, transitions, _ = draw(problems(max_n=4))
    assume(len(emissions))
    columns: list[Column] = []
    before: list[int] = []
    scores = st.just(0.0) | st.integers(-3, 3).map(float)
    for position in range(len(emissions)):
        here = []
        for _ in range(draw(st.integers(1, 3))):
            here.append(len(columns))
            chosen = st.lists(st.sampled_from(before), min_size=1, unique=True) if before else None
            steps = [] if chosen is None else [(b, draw(scores)) for b in draw(chosen)]
            columns.append((position, steps, draw(scores | st.just(-np.inf))))
        before = here
    mask = array(draw, (len(columns), graph.n_labels), MOSTLY)
    return graph, emissions, transitions, mask, columns


def ways_through(columns: list[Column], n: int) -> list[tuple[float, tuple[int, ...]]]:
    """All ways from a column of position 0 to one of position n - 1, and the lattice's scores."""
    ways = [
        (last, (c,))
        for c, (position, _, last) in enumerate(columns)
        if position == n - 1 and last > -np.inf
    ]
    for _ in range(n - 1):
        ways = [(s + more, (b, *way)) for s, way in ways for b, more in columns[way[0]][1]]
    return ways


@given(lattices(), st.integers(1, 40))
def test_paths_through_a_lattice_equal_brute_force(problem, k: int) -> None:
    graph, emissions, transitions, mask, columns = problem
    legal = [
        (path_score(path, emissions, transitions) + more, path)
        for more, way in ways_through(columns, len(emissions))
        for path in legal_paths(graph, len(emissions), mask[list(way)])
    ]
    found = viterbi_nbest(graph, emissions, transitions, k, mask, lattice=columns)
    assert [score for score, _ in found] == sorted((score for score, _ in legal), reverse=True)[:k]
    # The same labels come once for each way that allows them.
    counts = Counter((score, tuple(path.tolist())) for score, path in found)
    assert counts <= Counter(legal)
    if not legal:
        with pytest.raises(ValueError, match="no sequence of labels is legal"):
            viterbi(graph, emissions, transitions, mask, lattice=columns)
        return
    score, path = viterbi(graph, emissions, transitions, mask, lattice=columns)
    assert (score, path.tolist()) == (found[0][0], found[0][1].tolist())


@looped("columns", [[(0, []), (1, [])], [(0, [0])], [(0, []), (0, []), (2, [0])], [(1, [])], []])
def test_lattices_that_do_not_fit(columns: list[tuple[int, list[int]]]) -> None:
    graph = LabelGraph([[1]], [1], [1])
    with pytest.raises(ValueError, match="lattice"):
        viterbi(graph, np.zeros((2, 1)), [[0.0]], lattice=columns)


@st.composite
def long_problems(draw: st.DrawFn):
    graph = draw(st.sampled_from([bmes().graph, six_labels().graph, draw(graphs())]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 60))
    highest = draw(st.sampled_from([1, 1000]))
    emissions = rng.integers(-highest, highest + 1, (n, graph.n_labels)).astype(float)
    transitions = rng.integers(-highest, highest + 1, (graph.n_labels,) * 2).astype(float)
    mask = rng.random(emissions.shape) < 0.9 if draw(st.booleans()) else None
    return graph, emissions, transitions, mask


@given(long_problems(), st.integers(0, 7), st.booleans(), st.booleans())
def test_back_pointers_lead_where_searching_again_does(problem, block, start, end) -> None:
    """Few labels have back pointers; decoded by blocks, or with edges that say nothing, none do."""
    graph, emissions, transitions, mask = problem
    by_blocks = LabelGraph(graph.legal, graph.starts, graph.ends, True)
    few = LabelGraph(graph.legal, graph.starts, graph.ends, False)
    edges = np.zeros((len(emissions) - 1, graph.n_labels, graph.n_labels))
    ends = {"open_start": start, "open_end": end}
    found = []
    for labels, more in [(few, {}), (by_blocks, {}), (few, {"edges": edges})]:
        try:
            score, path = viterbi(labels, emissions, transitions, mask, block, **ends, **more)
            found.append((score, path.tolist()))
        except ValueError as error:
            found.append(str(error))
    assert found[0] == found[1] == found[2]
