"""Tables of weights with some rows replaced, at once and anew, against a dictionary of rows."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.learn.freezing import frozen_rows
from spacy_structreg.learn.row_arrays import replaced_rows
from spacy_structreg.learn.rows import PatchedRows, TrainedRows, TrainingRows

N_COLUMNS = 6

row = st.lists(st.sampled_from([0.0, 0.0, 1.5, -2.0, 0.25]), min_size=N_COLUMNS, max_size=N_COLUMNS)
rows = st.dictionaries(st.integers(0, 40).map(lambda key: key * 2**58), row, max_size=12)


def trained(weights: dict[int, list[float]], *, adaptive: bool) -> TrainedRows:
    """A table of these weights, whose row of key k occurred k / 2⁵⁸ times."""
    table = TrainingRows(N_COLUMNS, adaptive)
    for key, values in weights.items():
        number = table.row(key)
        table.add([(number, column, value) for column, value in enumerate(values)], 1)
    table.note([key >> 58 for key in weights])
    return table.average(1)


def arrays_of(weights: dict[int, list[float]]) -> tuple[Any, Any]:
    keys = np.array(list(weights), dtype=np.uint64)
    return keys, np.array(list(weights.values()), dtype=np.float32).reshape(-1, N_COLUMNS)


@quick_examples(60)
@given(old=rows, changes=st.lists(rows, min_size=1, max_size=3), adaptive=st.booleans())
def test_rows_are_replaced_taken_out_and_added(*, old, changes, adaptive) -> None:
    table = trained(old, adaptive=adaptive)
    before = {name: array.tobytes() for name, array in table.arrays.items()}
    occurred = {key: (key >> 58).bit_length() for key, values in old.items() if any(values)}
    patched, expected = table, old
    for new in changes:
        older, seen = patched, dict(expected)
        patched = PatchedRows(patched, *arrays_of(new))
        expected = expected | new
        anew = TrainedRows(N_COLUMNS, patched.arrays)
        for made in (patched, anew, pickle.loads(pickle.dumps(patched))):
            assert made.adaptive == adaptive
            assert made.n_rows == anew.n_rows
            for key, values in expected.items():
                assert made.weights(key).tolist() == values
        stored = anew.arrays
        assert set(stored["keys"].tolist()) <= set(expected)
        assert {key for key, values in expected.items() if any(values)} <= set(
            stored["keys"].tolist()
        )
        for key, bits in zip(stored["keys"].tolist(), stored["occurrences"], strict=True):
            assert bits == occurred.get(key, 0) or not any(seen.get(key, [0]))
        # The tables before it stay, as others may predict by them.
        for key, values in seen.items():
            assert older.weights(key).tolist() == values
    assert {name: array.tobytes() for name, array in table.arrays.items()} == before


@pytest.mark.parametrize("adaptive", [False, True])
def test_what_has_no_weights_gets_no_row(adaptive: bool) -> None:
    table = trained({7: [1.0] * N_COLUMNS}, adaptive=adaptive)
    nothing = arrays_of({9: [0.0] * N_COLUMNS})
    assert replaced_rows(table.arrays, *nothing)["keys"].tolist() == [7]
    assert PatchedRows(table, *nothing).n_rows == 1


def test_frozen_rows_are_neither_patched_nor_trained() -> None:
    table = trained({1 << 58: [1.5] * N_COLUMNS}, adaptive=False)
    change = arrays_of({1 << 58: [2.0] * N_COLUMNS})
    PatchedRows(table, *change)
    with pytest.raises(ValueError, match="frozen rows cannot be changed"):
        PatchedRows(frozen_rows(table), *change)
    with pytest.raises(ValueError, match="frozen rows cannot be changed"):
        TrainingRows.from_trained(frozen_rows(table))
