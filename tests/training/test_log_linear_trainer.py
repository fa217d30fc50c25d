"""The objective of log-linear models, its gradient, and gradient descent, against brute force."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from crf_twins import finite_differences
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from log_linear_twin import LogLinearTwin, Sentence, chain_features, random_sentence, with_mask
from looped import looped

from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.learn.log_linear import LogLinearLearner
from spacy_structreg.learn.rows import TrainingRows
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.segmentation.bmes import bmes
from spacy_structreg.training.chain import cut
from spacy_structreg.training.log_linear import LogLinearTrainer

TEMPLATES = [
    "t-1t0",
    "u0",
    "u-1 | u0 | u+1 | t-1t0",
    "u-2u-1 | u-1u0 | u0u+1 | v0 | v-1v+1 | t-1t0",
    "u0 | t-1t0u0 | t-1t0u-1v0 | t-1t0u+2",
    "",
]
LISTS = [(), ("label",), ("edge",), ("label", "edge")]
NOISES = [
    {},
    {"noise": "dropout", "noise_level": 0.3},
    {"noise": "multiplicative", "noise_level": 0.7},
    {"noise": "additive", "noise_level": 0.6},
]
FREE = LabelGraph(np.ones((3, 3)), np.ones(3), np.ones(3))
# Label 0 comes first and may come last; 1 is not followed by 0; 2 never follows itself.
HELD = LabelGraph([[1, 1, 1], [0, 1, 1], [1, 1, 0]], [1, 0, 0], [1, 1, 0])
GRAPHS = [FREE, HELD, bmes().graph]


def model(
    *,
    templates: str = TEMPLATES[2],
    lists: tuple[str, ...] = LISTS[3],
    graph: LabelGraph = HELD,
    lengths: tuple[int, ...] = (4, 3),
    unlabeled: tuple[int, ...] = (),
    real: bool = True,
    partial: bool = False,
    seed: int = 0,
    scale: float = 1.0,
    **options: Any,
) -> LogLinearTwin:
    """A model of random sentences and weights. options: of `LogLinear`.

    Edge features that are n-grams come in place of those of a list. partial: of labels, only masks
    are known.
    """
    lists = tuple(name for name in lists if name == "label" or "t-1t0u" not in templates)
    features = chain_features(templates, graph.n_labels, lists)
    sentences = [
        random_sentence(seed + i, features, graph, length, labeled=i < len(lengths), real=real)
        for i, length in enumerate([*lengths, *unlabeled])
    ]
    if partial:
        known = [
            with_mask(each, graph, seed + i) for i, each in enumerate(sentences[: len(lengths)])
        ]
        sentences[: len(lengths)] = known
    return LogLinearTwin(features, graph, LogLinear(**options), sentences, seed=seed, scale=scale)


def check(twin: LogLinearTwin, tolerance: float = 1e-9) -> None:
    """Value and gradient of the objective equal those of the twin."""
    value, gradient = twin.found()
    expected, expected_gradient = twin.objective(twin.weights)
    assert value == pytest.approx(expected, rel=tolerance, abs=tolerance)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=tolerance, atol=tolerance)


# The objective ------------------------------------------------------------------------------------


@looped("graph", GRAPHS)
@looped("noise", NOISES)
@looped("window", [None, 0, 1, 2, 9])
def test_all_kinds_of_noise(graph: LabelGraph, noise: dict[str, Any], window: int | None) -> None:
    check(model(graph=graph, **noise, noise_window=window))


@quick_examples(60)
@given(
    templates=st.sampled_from(TEMPLATES),
    lists=st.sampled_from(LISTS),
    graph=st.sampled_from(GRAPHS),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple),
    unlabeled=st.lists(st.integers(0, 4), max_size=2).map(tuple),
    real=st.booleans(),
    partial=st.booleans(),
    noise=st.sampled_from(NOISES),
    noise_window=st.sampled_from([None, 0, 1, 2]),
    unlabeled_weight=st.sampled_from([0.0, 0.3, 1.0, 4.0]),
    seed=st.integers(0, 1000),
    scale=st.sampled_from([0.0, 0.1, 1.0, 5.0]),
)
def test_any_small_corpus(noise: dict[str, Any], **options: Any) -> None:
    check(model(**noise, **options))


@looped(
    ("noise", "scale"),
    [(NOISES[0], 30.0), (NOISES[0], 1e3), (NOISES[0], 1e5), (NOISES[1], 30.0), (NOISES[1], 1e3)],
)
def test_large_weights(noise: dict[str, Any], scale: float) -> None:
    twin = model(templates=TEMPLATES[3], scale=scale, **noise)
    value, gradient = twin.found()
    expected, expected_gradient = twin.objective(twin.weights)
    # Marginals are known as well as scores are, and variances multiply what is not known of them.
    tolerance = 1e-14 * scale**3 if noise else 1e-14 * scale
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=tolerance)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-9, atol=tolerance)


@looped("noise", NOISES)
@looped("partial", [False, True])
def test_gradients_equal_finite_differences_of_the_objective_itself(
    noise: dict[str, Any], partial: bool
) -> None:
    twin = model(unlabeled=(4,), unlabeled_weight=0.5, partial=partial, **noise)
    start = twin.weights
    _, gradient = twin.found()

    def value(weights: np.ndarray) -> float:
        twin.learner.set_weights(weights)
        return twin.found()[0]

    np.testing.assert_allclose(gradient, finite_differences(value, start), atol=1e-5)


def test_more_labels_than_fit_one_row_of_pairs() -> None:
    n_labels = 17
    graph = LabelGraph(np.ones((n_labels, n_labels)), np.ones(n_labels), np.ones(n_labels))
    twin = model(templates="u0 | t-1t0", graph=graph, lengths=(2, 1), **NOISES[1])
    assert twin.features.n_pair_rows == n_labels
    check(twin)


@looped("noise", NOISES)
def test_a_feature_that_a_position_names_twice(noise: dict[str, Any]) -> None:
    features = chain_features("", 3, ["label"])
    symbols = np.zeros((len(features.atoms), 2), dtype=np.uint64)
    labels = np.array([0, 1], dtype=np.uint16)
    starts = np.array([0, 2, 3])
    twice = (starts, np.array([4, 4, 4], dtype=np.uint64), None)
    check(
        LogLinearTwin(features, FREE, LogLinear(**noise), [Sentence(symbols, labels, (twice,), 2)])
    )


# Gradient descent ---------------------------------------------------------------------------------

SMALL = 0.3
PENALTIES = [{"l2": 0.0}, {"l2": 0.7}, {"l1": 0.4, "l2": 0.0}, {"l1": 0.4, "l2": 0.7}]


@looped("penalties", PENALTIES)
@looped("noise", NOISES[:2])
def test_some_epochs(noise: dict[str, Any], penalties: dict[str, float]) -> None:
    options = {"scale": SMALL, "rate": 0.2, **noise, **penalties}
    twin = model(lengths=(4, 3, 0, 2), unlabeled=(3,), **options)
    lengths = [len(chain) for chain in twin.chains]
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1], [1, 1, 0, 4]):
        twin.run([(number, 0, lengths[number]) for number in order])


@quick_examples(60)
@given(
    templates=st.sampled_from(TEMPLATES),
    lists=st.sampled_from(LISTS),
    graph=st.sampled_from(GRAPHS),
    real=st.booleans(),
    partial=st.booleans(),
    noise=st.sampled_from(NOISES),
    noise_window=st.sampled_from([None, 0, 1]),
    penalties=st.sampled_from(PENALTIES),
    rate=st.sampled_from([0.01, 0.5]),
    decay=st.sampled_from([0.0, 2.0]),
    mini_sample=st.sampled_from([1.0, 1.5, 2.5, 10.0]),
    seed=st.integers(0, 1000),
)
def test_pieces(
    noise: dict[str, Any],
    penalties: dict[str, float],
    mini_sample: float,
    seed: int,
    **options: Any,
) -> None:
    options |= {"scale": SMALL, **noise, **penalties}
    twin = model(lengths=(4, 1, 5), unlabeled=(3, 2), seed=seed, **options)
    for epoch in range(2):
        pieces = cut([len(chain) for chain in twin.chains], mini_sample, seed + epoch)
        np.random.default_rng(seed + epoch).shuffle(pieces)
        twin.run(pieces.tolist())


ADF: dict[str, Any] = {"optimizer": "adf", "decay_upper": 0.9, "decay_lower": 0.2}


@looped("decay_windows", [1, 2, 100])
@looped("penalties", PENALTIES)
@looped("noise", NOISES[:2])
@looped("templates", TEMPLATES[3:5])
def test_a_rate_for_each_feature(
    templates: str, noise: dict[str, Any], penalties: dict[str, float], decay_windows: int
) -> None:
    """Of windows of the whole corpus, of some sentences, and of one; pieces end within them."""
    options = {"templates": templates, "scale": SMALL, "rate": 0.3, **noise, **penalties, **ADF}
    twin = model(lengths=(4, 3, 0, 2), unlabeled=(3,), decay_windows=decay_windows, **options)
    lengths = [len(chain) for chain in twin.chains]
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1], [1, 1, 0, 4]):
        twin.run([(number, 0, lengths[number]) for number in order])
    twin.run([(0, 2, 2), (0, 0, 2), (1, 1, 2), (3, 0, 1), (1, 0, 1)])
    first, *_ = (table.rates for table in twin.learner.tables)
    assert (first[:, 0] < 1.0).all()
    if len({*first[:, 0]}) == 1:
        assert len(first) == 1


def test_more_labels_than_fit_one_row_of_pairs_have_a_rate_for_each() -> None:
    graph = LabelGraph(np.ones((40, 40)), np.ones(40), np.ones(40))
    twin = model(graph=graph, lengths=(2,), templates="u0 | t-1t0", lists=(), scale=SMALL, **ADF)
    twin.run([(0, 0, 2)])
    twin.run([(0, 0, 1), (0, 1, 1)])


def test_rates_of_features_go_on_where_they_stood() -> None:
    """Also those of a window that has not ended, in copies, pickled and stored."""
    twin = model(lengths=(4, 3, 5), decay_windows=1, **ADF)
    twin.trainer.epoch(twin.chains, [0, 1, 2, 0])
    learner = twin.learner
    tables = [
        TrainingRows.from_state(table.n_columns, table.state(), learner.settings.penalties)
        for table in learner.tables
    ]
    again = LogLinearLearner(tables, learner.settings, learner.clock)
    again.restore_totals(learner.totals())
    copies = [learner.copy(), learner.resumed(tables, learner.clock)]
    for other in [*copies, pickle.loads(pickle.dumps(learner)), again]:
        assert other.totals() == learner.totals()
        for table, expected in zip(other.tables, learner.tables, strict=True):
            assert table.rates.tobytes() == expected.rates.tobytes()
    twin.trainer.epoch(twin.chains, [1, 0, 2])
    for copy in copies:
        LogLinearTrainer(twin.features, twin.graph, copy).epoch(twin.chains, [1, 0, 2])
        assert twin.flat(copy.weights()).tobytes() == twin.weights.tobytes()


def test_rates_of_features_begin_anew_with_a_training_from_trained_weights() -> None:
    twin = model(lengths=(4, 3), **ADF)
    twin.trainer.epoch(twin.chains, [0, 1])
    learner = LogLinearLearner.from_trained(twin.learner.average(), twin.settings)
    assert all(table.rates is None for table in learner.tables)
    assert learner.totals()["window_visits"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decay_lower": 0.9, "decay_upper": 0.8}, "at most decay_upper"),
        ({"noise": "additive", "noise_level": 0.5}, "choose optimizer = 'sgd'"),
    ],
)
def test_rates_of_features_without_a_meaning(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LogLinear(**{"optimizer": "adf", **options})


@looped("rate", [-0.1, 1.1, np.nan])
def test_rates_out_of_range_are_refused(rate: float) -> None:
    twin = model(lengths=(4,), **ADF)
    twin.trainer.epoch(twin.chains, [0])
    table = twin.learner.tables[0]
    state = table.state()
    state["rates"][0, 0] = rate
    with pytest.raises(ValueError, match="rate of a weight row"):
        TrainingRows.from_state(table.n_columns, state, twin.settings.penalties)
    state["rates"] = np.ones(3)
    with pytest.raises(ValueError, match="rates"):
        TrainingRows.from_state(table.n_columns, state, twin.settings.penalties)


def test_noise_moves_no_score_further_than_its_likelihood_could() -> None:
    """One position, one feature: equation 8 and its gradient, whose part in μ is held to ±1."""
    twin = model(
        templates="u0",
        lists=(),
        graph=FREE,
        lengths=(1,),
        unlabeled=(1,),
        l2=0.0,
        decay=0.0,
        rate=1.0,
        noise_clip=1.0,
        noise="dropout",
        noise_level=0.5,
    )
    weights = np.array([200.0, 200.5, 199.5])
    twin.learner.set_weights(np.tile(weights, len(twin.weights) // 3))
    share = 0.5  # of one labeled and one unlabeled position
    means = np.exp(weights - 200.0) / np.exp(weights - 200.0).sum()
    doubts = 0.5 * (1 - 2 * means) * weights**2
    moves = share * means * (doubts - means @ doubts)
    assert np.abs(moves).max() > 1e3
    expected = weights - np.clip(moves, -1, 1) - share * means * (1 - means) * weights
    twin.trainer.epoch(twin.chains, [1])
    visited = twin.weights.reshape(-1, 3)
    assert any(np.allclose(row, expected, rtol=1e-12) for row in visited)


def test_a_clip_is_a_setting() -> None:
    """Without one, a step is that of the twin for weights of any size; with one, it is not."""
    options: dict[str, Any] = {"lengths": (4,), "rate": 0.01, "scale": 4.0, **NOISES[1]}
    model(noise_clip=None, **options).run([(0, 0, 4)])
    clipped = model(noise_clip=0.01, **options)
    expected = clipped.descend([(0, 0, 4)])[0]
    clipped.trainer.epoch(clipped.chains, [0])
    assert not np.allclose(clipped.weights, expected, rtol=1e-3)


def weights_after(twin: LogLinearTwin, pieces: Any) -> bytes:
    twin.trainer.epoch(twin.chains, pieces)
    return twin.weights.tobytes()


@pytest.mark.parametrize("noise", NOISES[:2])
def test_mini_samples_that_no_sequence_exceeds_are_plain_training(noise: dict[str, Any]) -> None:
    lengths = (4, 1, 5)
    plain = weights_after(model(lengths=lengths, **noise), [0, 1, 2])
    cut_up = cut(lengths, 5.0, seed=3)
    assert weights_after(model(lengths=lengths, mini_sample=5.0, **noise), cut_up) == plain
    shorter = cut(lengths, 2.0, seed=3)
    assert weights_after(model(lengths=lengths, mini_sample=2.0, **noise), shorter) != plain


def test_unlabeled_chains_without_weight_change_nothing() -> None:
    options: dict[str, Any] = {"noise": "dropout", "noise_level": 0.3, "unlabeled_weight": 0.0}
    with_others = model(unlabeled=(4, 2), **options)
    value, gradient = with_others.found()
    labeled, labeled_gradients = with_others.trainer.objective(with_others.chains[:2])
    assert value == labeled
    assert (gradient == with_others.flat(labeled_gradients)).all()
    before = with_others.weights
    with_others.trainer.epoch(with_others.chains, [2, 3, 2])
    assert (with_others.weights == before).all()
    # So are those of a model without noise.
    no_noise = model(unlabeled=(4,))
    before = no_noise.weights
    no_noise.trainer.epoch(no_noise.chains, [2])
    assert (no_noise.weights == before).all()


def test_nothing_labeled_leaves_nothing_to_learn() -> None:
    twin = model(lengths=(), unlabeled=(3,), noise="dropout", noise_level=0.3)
    check(twin)
    assert twin.found()[0] == 0
    twin.run([(0, 0, 3)])


def test_the_objective_leaves_no_trace() -> None:
    options: dict[str, Any] = {"noise": "dropout", "noise_level": 0.3, "l2": 0.5}
    twin, other = model(**options), model(**options)
    first = twin.found()
    second = twin.found()
    assert first[0] == second[0]
    assert (first[1] == second[1]).all()
    assert weights_after(twin, [0, 1]) == weights_after(other, [0, 1])
    # And neither does an epoch: the objective is that of the weights alone.
    check(twin)


def test_many_epochs_do_not_lose_digits() -> None:
    """L2 shrinks all weights by one factor, which must be taken in before it vanishes."""
    twin = model(lengths=(2,), rate=2.0, decay=0.0, l2=5.0, l1=0.01)
    for _ in range(12):
        twin.run([(0, 0, 2)] * 3)


def test_convergence_is_told() -> None:
    twin = model(rate=2.0, decay=0.1, l2=1.0, tolerance=1e-3)
    assert np.isnan(twin.learner.objective)
    told = []
    objectives = [np.nan]
    for _ in range(60):
        twin.trainer.epoch(twin.chains, [0, 1])
        objectives.append(twin.learner.objective)
        told.append(twin.learner.converged)
        change = abs(objectives[-1] - objectives[-2])
        assert told[-1] == (change < 1e-3 * abs(objectives[-1]))
    assert not told[0]
    assert told[-1]


# What is refused ----------------------------------------------------------------------------------


def test_chains_of_another_learner_are_refused() -> None:
    twin, other = model(), model()
    for train in (
        lambda: twin.trainer.objective(other.chains),
        lambda: twin.trainer.epoch(other.chains, [0]),
    ):
        with pytest.raises(ValueError, match="compiled for another learner"):
            train()
    with pytest.raises(IndexError, match="sequence index out of range"):
        twin.trainer.epoch(twin.chains, [2])
    with pytest.raises(IndexError, match="outside its sequence"):
        twin.trainer.epoch(twin.chains, [(0, 2, 3)])


def test_features_and_graph_must_fit() -> None:
    twin = model()
    with pytest.raises(ValueError, match="label graph was made for other features"):
        LogLinearTrainer(twin.features, bmes().graph, twin.learner)
    other = chain_features("u0", 3)
    with pytest.raises(ValueError, match="learner was made for other features"):
        LogLinearTrainer(other, HELD, twin.learner)


# The learner --------------------------------------------------------------------------------------


def trained(**options: Any) -> LogLinearTwin:
    """A model after an epoch, whose L2 leaves weights in units of their own."""
    twin = model(l2=0.5, noise="dropout", noise_level=0.2, **options)
    twin.trainer.epoch(twin.chains, [0, 1])
    return twin


def test_copies_learn_the_same_apart() -> None:
    twin = trained()
    copy = twin.learner.copy()
    before = twin.weights.tobytes()
    LogLinearTrainer(twin.features, twin.graph, copy).epoch(twin.chains, [0, 1])
    assert twin.weights.tobytes() == before
    assert weights_after(twin, [0, 1]) == twin.flat(copy.weights()).tobytes()


def test_trained_weights_are_those_of_the_last_step() -> None:
    twin = trained()
    for weights, table, rows in zip(
        twin.learner.weights(), twin.learner.tables, twin.learner.average(), strict=True
    ):
        keys = table.state()["keys"].tolist()
        assert len(keys) == len(weights)
        for key, expected in zip(keys, weights, strict=True):
            np.testing.assert_array_equal(rows.weights(key), expected.astype(np.float32))


def test_training_goes_on_from_trained_weights() -> None:
    twin = trained(templates="u0 | t-1t0")
    twin.take(LogLinearLearner.from_trained(twin.learner.average(), twin.settings))
    assert twin.learner.clock == 0
    check(twin)
    # What is zero is not among trained weights, not even the row of the pairs of labels.
    nothing = [TrainingRows(table.n_columns).average(1) for table in twin.learner.tables]
    twin.take(LogLinearLearner.from_trained(nothing, twin.settings))
    assert not twin.weights.any()
    check(twin)
    twin.run([(0, 0, 4), (1, 0, 3)])


def test_weights_that_are_set_are_those_that_are_read() -> None:
    twin = trained()
    weights = np.random.default_rng(0).normal(size=len(twin.weights))
    twin.learner.set_weights(weights)
    assert (twin.weights == weights).all()
    check(twin)
    for wrong in (weights[1:], np.append(weights, 0.0), np.append(weights[1:], np.nan)):
        with pytest.raises(ValueError, match="finite weights"):
            twin.learner.set_weights(wrong)
    assert (twin.weights == weights).all()


def test_adaptive_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="dense rows"):
        LogLinearLearner([TrainingRows(3, True)])
