"""Rows under training: lazy averaging against dense averaging, growth, and going on."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learning_twins import DenseWeights
from looped import looped
from twins import rows_by_key

from spacy_structreg.learn.model_average import rounded_rows
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows, TrainingRows

Update = tuple[int, int, float]
"""Key, column, delta."""

KEYS = (0, 1, 2, 7, 2**63, 2**64 - 1)


def recorded(n_columns: int, deltas: st.SearchStrategy[float]) -> st.SearchStrategy:
    """Lists of steps; a step is a list of updates, often none (a gap), often several."""
    update = st.tuples(st.sampled_from(KEYS), st.integers(0, n_columns - 1), deltas)
    return st.lists(st.lists(update, max_size=4), min_size=1, max_size=25)


@st.composite
def recordings(draw: st.DrawFn) -> tuple[int, list[list[Update]]]:
    n_columns = draw(st.sampled_from([1, 2, 3, 4, 5, 8, 9, 12, 70]))
    integers = st.integers(-3, 3).map(float)
    reals = st.floats(-100, 100, allow_subnormal=False)
    return n_columns, draw(recorded(n_columns, draw(st.sampled_from([integers, reals]))))


def replay(rows: TrainingRows, steps: list[list[Update]], first: int = 1) -> None:
    for time, updates in enumerate(steps, first):
        for key, column, delta in updates:
            rows.add([(rows.row(key), column, delta)], time)


def dense(n_columns: int, steps: list[list[Update]]) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Weights and their averages by key, all of which every step visits."""
    keys = sorted({key for updates in steps for key, _, _ in updates})
    twin = DenseWeights(np.zeros((len(keys), n_columns)))
    for updates in steps:
        twin.step([((keys.index(key), column), delta) for key, column, delta in updates])
    means = twin.totals / twin.clock
    return {key: (twin.weights[i], means[i]) for i, key in enumerate(keys)}


def assert_same(first: TrainedRows, second: TrainedRows) -> None:
    assert first.arrays.keys() == second.arrays.keys()
    for name, array in first.arrays.items():
        assert array.tobytes() == second.arrays[name].tobytes(), name


def check_against_twin(rows: TrainingRows, n_columns: int, steps: list[list[Update]]) -> None:
    expected = dense(n_columns, steps)
    values = rows_by_key(rows)
    trained = rows.average(len(steps))
    assert values.keys() == expected.keys()
    for key, (weights, means) in expected.items():
        np.testing.assert_allclose(values[key], weights, rtol=1e-9, atol=1e-9)
        # The sums hold the history; the averaged weights lose precision only at the very end.
        np.testing.assert_allclose(trained.weights(key), means, rtol=2**-22, atol=1e-9)
    live = [key for key in values if trained.weights(key).any()]
    assert trained.arrays["keys"].tolist() == sorted(live)


@given(recordings(), st.booleans())
def test_lazy_equals_dense(recording, adaptive: bool) -> None:
    n_columns, steps = recording
    rows = TrainingRows(n_columns, adaptive=adaptive)
    replay(rows, steps)
    check_against_twin(rows, n_columns, steps)


def long_recording(n_columns: int) -> list[list[Update]]:
    """Rows meet their columns one at a time, in turns, so that cells are freed and used again."""
    random = np.random.default_rng(7)
    return [
        [
            (int(random.integers(60)) << 40, int(random.integers(n_columns)), delta)
            for delta in random.integers(-4, 5, size=random.integers(4)).tolist()
        ]
        for _ in range(3_000)
    ]


@looped("n_columns", [12, 100])
@looped("adaptive", [False, True])
def test_a_long_run(n_columns: int, adaptive: bool) -> None:
    steps = long_recording(n_columns)
    rows = TrainingRows(n_columns, adaptive=adaptive)
    replay(rows, steps)
    check_against_twin(rows, n_columns, steps)
    trained = rows.average(len(steps))
    for key, (_, means) in dense(n_columns, steps).items():  # integers: but for the last rounding
        assert (trained.weights(key) == means.astype(np.float32)).all()


@looped("n_columns", [*range(1, 11), 16, 17, 300])
def test_growth_through_all_capacities(n_columns: int) -> None:
    rows = TrainingRows(n_columns, adaptive=True)
    n_rows = 20
    expected = np.zeros((n_rows, n_columns))
    for turn in range(n_columns):
        for i in range(n_rows):  # all rows grow in step: what one frees, the next one takes
            column = (turn * 7 + i) % n_columns if n_columns % 7 else turn
            rows.add([(rows.row(i), column, i + turn + 1)], turn + 1)
            expected[i, column] += i + turn + 1
            assert (rows.weights(i) == expected[i]).all()
    assert [(rows.weights(i) == expected[i]).all() for i in range(n_rows)] == [True] * n_rows


@looped("adaptive", [False, True])
@looped("prune", [0.3, 1.0, 2.5])
def test_small_means_are_dropped(adaptive: bool, prune: float) -> None:
    steps = long_recording(20)[:300]
    rows = TrainingRows(20, adaptive=adaptive)
    replay(rows, steps)
    whole, pruned = rows.average(300), rows.average(300, prune)
    n_dropped = 0
    for key in whole.arrays["keys"].tolist():
        before, after = whole.weights(key), pruned.weights(key)
        small = np.abs(before) <= np.float32(prune)
        assert (after == np.where(small, 0, before)).all()
        n_dropped += np.count_nonzero(small & (before != 0))
    assert n_dropped > 0
    assert (pruned.arrays["values"] != 0).sum() == (whole.arrays["values"] != 0).sum() - n_dropped
    assert pruned.n_rows == len([key for key in pruned.arrays["keys"] if pruned.weights(key).any()])


@looped("adaptive", [False, True])
@looped("precision", [2, 10, 24])
def test_rounded_weights_are_the_nearest_of_so_many_bits(adaptive: bool, precision: int) -> None:
    rows = TrainingRows(20, adaptive=adaptive)
    replay(rows, long_recording(20)[:300])
    whole = rows.average(300)
    rounded = rounded_rows(whole, precision)
    for key in whole.arrays["keys"].tolist():
        for before, after in zip(whole.weights(key).tolist(), rounded.weights(key), strict=True):
            # The steps between numbers of so many bits and this size.
            step = Fraction(2) ** (math.frexp(before)[1] - precision)
            assert Fraction(float(after)) == round(Fraction(before) / step) * step


def test_a_mean_of_just_the_size_is_dropped() -> None:
    rows = TrainingRows(2)
    row = rows.row(10)
    rows.add([(row, 0, 0.1), (row, 1, -0.2)], 1)
    assert rows.average(1, 0.1).weights(10).tolist() == [0, -np.float32(0.2)]
    assert rows.average(1, 0.2).n_rows == 0


@pytest.mark.parametrize("adaptive", [False, True])
def test_memory_for_an_average_is_in_proportion_to_the_average(adaptive: bool) -> None:
    rows = TrainingRows(70 if adaptive else 2, adaptive=adaptive)
    n_rows = 100_000
    for key in range(n_rows):
        rows.add([(rows.row(key << 30), 1, 1.0)], 1)
    before = rows.average(1)
    tracemalloc.start()
    rows.average(1)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Besides what comes out a row needs a count, its number and its place: unsorted, and sorted.
    assert most < sum(array.nbytes for array in before.arrays.values()) + 32 * n_rows


def test_wide_rows_are_adaptive_unless_told_otherwise() -> None:
    assert [TrainingRows(n).adaptive for n in (1, 64, 65)] == [False, False, True]
    assert TrainingRows(4, adaptive=True).adaptive
    assert not TrainingRows(100, adaptive=False).adaptive


@looped("n_columns", [0, -1, 65_537])
def test_widths_out_of_range(n_columns: int) -> None:
    with pytest.raises(ValueError, match="n_columns must be at least 1"):
        TrainingRows(n_columns)


@pytest.mark.parametrize("adaptive", [False, True])
def test_the_widest_row(adaptive: bool) -> None:
    rows = TrainingRows(65_536, adaptive=adaptive)
    rows.add([(rows.row(5), 65_535, 2.0)], 1)
    assert rows.average(1).weights(5)[65_535] == 2.0
    assert rows.average(1).weights(5).sum() == 2.0


def test_weights_that_do_not_exist() -> None:
    rows = TrainingRows(3)
    rows.row(1)
    for row, column in ((1, 0), (-1, 0), (0, 3), (0, -1)):
        with pytest.raises(IndexError, match="no weight"):
            rows.add([(row, column, 1.0)], 1)
    for row in (-1, 1):
        with pytest.raises(IndexError, match="no row"):
            rows.weights(row)


def test_time_does_not_run_backwards() -> None:
    rows = TrainingRows(3)
    rows.add([(rows.row(1), 0, 1.0)], 5)
    with pytest.raises(ValueError, match="update 4 must come after update 5"):
        rows.add([(0, 0, 1.0)], 4)


def perceptron() -> Perceptron:
    tables = [TrainingRows(4), TrainingRows(100)]
    for time, table in enumerate(tables, 1):
        table.add([(table.row(9), time, 0.5)], time)
    return Perceptron(tables, clock=3)


def test_a_perceptron_averages_up_to_its_clock() -> None:
    learner = perceptron()
    first, second = learner.average()
    assert first.weights(9)[1] == 0.5
    assert second.weights(9)[2] == pytest.approx(0.5 * 2 / 3)
    learner.clock += 1
    assert learner.average()[1].weights(9)[2] == pytest.approx(0.5 * 3 / 4)


def test_a_clock_that_lags_behind_is_refused() -> None:
    with pytest.raises(ValueError, match="later than the clock"):
        Perceptron(perceptron().tables, clock=1)
    with pytest.raises(TypeError):
        Perceptron([object()])


def test_a_perceptron_from_trained_tables() -> None:
    tables = perceptron().average()
    learner = Perceptron.from_trained(tables)
    assert learner.clock == 0
    for table, other in zip(tables, learner.average(), strict=True):
        assert_same(table, other)
