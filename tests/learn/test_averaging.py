"""Shuffle-and-average: equations 7 and 8 of Zhang, Su & Zhou 2014."""

from __future__ import annotations

import tracemalloc
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learning_twins import same_rows
from looped import looped

from spacy_structreg.learn import model_average as averaging
from spacy_structreg.learn.model_average import average_rows
from spacy_structreg.learn.rows import TrainedRows, TrainingRows

Weights = dict[int, dict[int, float]]
"""Column and weight, by key."""

layouts = looped("adaptive", [False, True])
means = looped("mean", ["nonzero", "plain"])


def table(weights: Weights, adaptive: bool, n_columns: int = 4) -> TrainedRows:
    rows = TrainingRows(n_columns, adaptive=adaptive)
    for key, cells in weights.items():
        for column, weight in cells.items():
            rows.add([(rows.row(key), column, weight)], 1)
    return rows.average(1)


def read(rows: TrainedRows) -> Weights:
    """The weights that are not zero."""
    found: Weights = {}
    for key in rows.arrays["keys"].tolist():
        weights = rows.weights(key)
        found[key] = {int(c): float(weights[c]) for c in np.flatnonzero(weights)}
    return found


# Features 1 and 2 are shared, 3 and 9 are known to one model each. Column 1 of feature 1 and all
# of feature 4 cancel.
THREE: list[Weights] = [
    {1: {0: 3.0, 1: 1.0}, 2: {0: 1.0}, 3: {2: 6.0}, 4: {0: 2.0}},
    {1: {0: 6.0, 1: -1.0}, 2: {0: -2.5}, 4: {0: -2.0}},
    {1: {3: 3.0}, 9: {0: -1.5, 3: 0.75}},
]


@layouts
def test_equations_7_and_8_by_hand(adaptive: bool) -> None:
    """Sums over three; over the models in which the weight is not zero, which is the default."""
    tables = [table(weights, adaptive) for weights in THREE]
    plain, nonzero = average_rows(tables, "plain"), average_rows(tables)
    assert read(plain) == {1: {0: 3, 3: 1}, 2: {0: -0.5}, 3: {2: 2}, 9: {0: -0.5, 3: 0.25}}
    assert read(nonzero) == {1: {0: 4.5, 3: 3}, 2: {0: -0.75}, 3: {2: 6}, 9: {0: -1.5, 3: 0.75}}
    assert same_rows(nonzero, average_rows(tables, "nonzero"))
    assert plain.adaptive == adaptive


weights = st.dictionaries(
    st.sampled_from([0, 1, 2, 2**63, 2**64 - 1]),
    st.dictionaries(st.integers(0, 11), st.floats(-1e9, 1e9, width=32, allow_subnormal=False)),
)


@layouts
@means
@given(st.lists(weights, min_size=1, max_size=5))
def test_any_tables_equal_the_twin(adaptive: bool, mean, models: list[Weights]) -> None:
    tables = [table(model, adaptive, 12) for model in models]
    cells: dict[tuple[int, int], list[float]] = defaultdict(list)
    for rows in tables:
        for key, row in read(rows).items():
            for column, weight in row.items():
                cells[key, column].append(weight)
    expected: Weights = defaultdict(dict)
    for (key, column), values in cells.items():
        quotient = np.float32(sum(values) / (len(values) if mean == "nonzero" else len(models)))
        if quotient:
            expected[key][column] = float(quotient)
    assert read(average_rows(tables, mean)) == expected


@layouts
@means
@given(weights)
def test_one_table_stays_as_it_is_to_the_byte(adaptive: bool, mean, model: Weights) -> None:
    rows = table(model, adaptive, 12)
    assert same_rows(average_rows([rows], mean), rows)


@layouts
@means
@looped("prune", [0.0, 0.5])
def test_cutting_tables_changes_nothing(
    adaptive: bool, mean, prune: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables of which some end, begin, or have nothing, where others are cut."""
    random = np.random.default_rng(5)
    tables = [
        table(
            {int(key): {int(key) % 4: random.normal()} for key in random.choice(keys, n)}, adaptive
        )
        for keys, n in ((range(100), 60), (range(40, 60), 15), (range(90, 300, 3), 30))
    ]
    tables.append(table({}, adaptive))
    whole = average_rows(tables, mean, prune)
    for rows_at_a_time in (1, 2, 7, 59):
        monkeypatch.setattr(averaging, "_ROWS_AT_A_TIME", rows_at_a_time)
        assert same_rows(average_rows(tables, mean, prune), whole)


@layouts
@means
def test_small_means_are_dropped(adaptive: bool, mean) -> None:
    tables = [table(weights, adaptive) for weights in THREE]
    # Of feature 9, 1.5 itself is dropped, with "nonzero".
    expected = {"plain": {1: {0: 3}, 3: {2: 2}}, "nonzero": {1: {0: 4.5, 3: 3}, 3: {2: 6}}}
    found = average_rows(tables, mean, 1.5)
    assert read(found) == expected[mean]
    assert same_rows(average_rows([found], mean, 1.5), found)


@pytest.mark.slow
@layouts
def test_memory_for_an_average_is_in_proportion_to_the_average(adaptive: bool) -> None:
    random = np.random.default_rng(6)
    n_rows = 300_000
    tables = []
    for _ in range(3):
        arrays = {
            "keys": np.unique(random.integers(1 << 63, size=n_rows).astype(np.uint64)),
            "values": np.ones((n_rows, 2), dtype=np.float32),
        }
        if adaptive:
            arrays["starts"] = np.arange(n_rows + 1) * 2
            arrays["columns"] = np.tile(np.array([3, 50], dtype=np.uint16), n_rows)
            arrays["values"] = arrays["values"].reshape(-1)
        tables.append(TrainedRows(70 if adaptive else 2, arrays))
    tracemalloc.start()
    found = average_rows(tables)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The result, its parts before they are joined, and a part under way.
    assert most < 2.5 * sum(array.nbytes for array in found.arrays.values())


def test_one_table_with_a_negative_zero() -> None:
    """A cell of -0, as a mean that is too small for single precision leaves behind."""
    values = np.array([[1.0, -0.0]], dtype=np.float32)
    rows = TrainedRows(2, {"keys": np.array([4], dtype=np.uint64), "values": values})
    assert same_rows(average_rows([rows]), rows)


def test_tables_that_do_not_go_together() -> None:
    rows = table({1: {0: 1.0}}, adaptive=False)
    with pytest.raises(ValueError, match="no weight rows to average"):
        average_rows([])
    for other in (table({1: {0: 1.0}}, adaptive=False, n_columns=5), table({}, adaptive=True)):
        with pytest.raises(ValueError, match="differ in width or layout"):
            average_rows([rows, other])
    for mean in ("median", None, "Plain"):
        with pytest.raises(ValueError, match="mean must be one of nonzero, plain, got"):
            average_rows([rows], mean)
