"""Tables of weights with some rows replaced, against a dictionary of rows."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.learn.model_average import replace_rows
from spacy_structreg.learn.rows import TrainedRows, TrainingRows

N_COLUMNS = 6

row = st.lists(st.sampled_from([0.0, 0.0, 1.5, -2.0, 0.25]), min_size=N_COLUMNS, max_size=N_COLUMNS)
rows = st.dictionaries(st.integers(0, 40).map(lambda key: key * 2**58), row, max_size=12)


def trained(weights: dict[int, list[float]], *, adaptive: bool) -> TrainedRows:
    table = TrainingRows(N_COLUMNS, adaptive)
    for key, values in weights.items():
        number = table.row(key)
        table.add([(number, column, value) for column, value in enumerate(values)], 1)
    return table.average(1)


@quick_examples(60)
@given(old=rows, new=rows, adaptive=st.booleans())
def test_rows_are_replaced_taken_out_and_added(*, old, new, adaptive) -> None:
    table = trained(old, adaptive=adaptive)
    before = {name: array.tobytes() for name, array in table.arrays.items()}
    keys = np.array(list(new), dtype=np.uint64)
    weights = np.array(list(new.values()), dtype=np.float32).reshape(len(new), N_COLUMNS)
    replaced = replace_rows(table, keys, weights)
    expected = old | new
    assert replaced.adaptive == adaptive
    assert set(replaced.arrays["keys"].tolist()) <= set(expected)
    for key, values in expected.items():
        assert replaced.weights(key).tolist() == values
    # The table itself stays, as others may predict by it.
    assert {name: array.tobytes() for name, array in table.arrays.items()} == before


@pytest.mark.parametrize("adaptive", [False, True])
def test_what_has_no_weights_gets_no_row(adaptive: bool) -> None:
    table = trained({7: [1.0] * N_COLUMNS}, adaptive=adaptive)
    same = replace_rows(table, np.array([9], np.uint64), np.zeros((1, N_COLUMNS), np.float32))
    assert same.arrays["keys"].tolist() == [7]
