"""Trained rows: look-ups, and the refusal of arrays that are not weight rows."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from colliding_keys import colliding
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.learn.rows import TrainedRows, TrainingRows

INFINITY = float("inf")


def dense_arrays() -> dict[str, Any]:
    return {
        "keys": np.array([3, 5, 2**64 - 1], dtype=np.uint64),
        "values": np.arange(12, dtype=np.float32).reshape(3, 4),
    }


def adaptive_arrays() -> dict[str, Any]:
    return {
        "keys": np.array([3, 5, 9], dtype=np.uint64),
        "starts": np.array([0, 2, 3, 5], dtype=np.int64),
        "columns": np.array([0, 3, 1, 2, 3], dtype=np.uint16),
        "values": np.array([1, 2, 3, 4, 5], dtype=np.float32),
    }


def test_look_ups() -> None:
    rows = TrainedRows(4, dense_arrays())
    assert not rows.adaptive
    assert rows.weights(5).tolist() == [4, 5, 6, 7]
    assert rows.weights(2**64 - 1).tolist() == [8, 9, 10, 11]
    rows = TrainedRows(4, adaptive_arrays())
    assert rows.adaptive
    assert rows.weights(3).tolist() == [1, 0, 0, 2]
    assert rows.weights(5).tolist() == [0, 3, 0, 0]
    assert rows.weights(9).tolist() == [0, 0, 4, 5]
    assert len(rows) == rows.n_rows == 3


@given(
    st.sets(st.integers(0, 2**64 - 1), max_size=40), st.lists(st.integers(0, 2**64 - 1), max_size=9)
)
def test_absent_keys_give_zeros(keys: set[int], others: list[int]) -> None:
    ordered = np.array(sorted(keys), dtype=np.uint64)
    values = np.arange(1, len(keys) + 1, dtype=np.float32)[:, None]
    rows = TrainedRows(1, {"keys": ordered, "values": values})
    for number, key in enumerate(sorted(keys), 1):
        assert rows.weights(key).tolist() == [number]
    for key in {0, *others, *(key ^ 1 for key in keys)} - keys:
        assert rows.weights(key).tolist() == [0]


def test_tables_without_rows() -> None:
    for adaptive in (False, True):
        rows = TrainingRows(4, adaptive=adaptive).average(10)
        assert len(rows) == 0
        assert rows.weights(0).tolist() == [0, 0, 0, 0]
        assert pickle.loads(pickle.dumps(rows)).adaptive == adaptive


@pytest.mark.parametrize("arrays", [dense_arrays(), adaptive_arrays()])
def test_pickling(arrays: dict[str, Any]) -> None:
    rows = pickle.loads(pickle.dumps(TrainedRows(4, arrays)))
    assert rows.n_columns == 4
    assert rows.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (rows.arrays[name] == array).all()


def test_arrays_are_used_where_they_lie() -> None:
    arrays = adaptive_arrays()
    rows = TrainedRows(4, arrays)
    for name, array in arrays.items():
        assert np.shares_memory(rows.arrays[name], array)


DENSE_FAULTS = {
    "keys of another type": {"keys": np.array([3, 5, 7])},
    "keys of another byte order": {"keys": np.array([3, 5, 7], dtype=">u8")},
    "keys in two dimensions": {"keys": np.array([[3, 5, 7]], dtype=np.uint64)},
    "keys too few": {"keys": np.array([3, 5], dtype=np.uint64)},
    "keys that fall": {"keys": np.array([5, 3, 7], dtype=np.uint64)},
    "keys repeated": {"keys": np.array([3, 5, 5], dtype=np.uint64)},
    "values in double precision": {"values": np.zeros((3, 4))},
    "values of half precision": {"values": np.zeros((3, 4), dtype=np.float16)},
    "values too narrow": {"values": np.zeros((3, 3), dtype=np.float32)},
    "values too wide": {"values": np.zeros((3, 5), dtype=np.float32)},
    "values flat": {"values": np.zeros(12, dtype=np.float32)},
    "not a number": {"values": np.full((3, 4), np.nan, dtype=np.float32)},
    "infinite": {"values": np.full((3, 4), -INFINITY, dtype=np.float32)},
    "text": {"values": np.array([["a"] * 4] * 3)},
    "objects": {"values": np.array([[None] * 4] * 3)},
}

ADAPTIVE_FAULTS = {
    "keys that fall": {"keys": np.array([3, 9, 5], dtype=np.uint64)},
    "keys repeated": {"keys": np.array([3, 3, 5], dtype=np.uint64)},
    "starts of another type": {"starts": np.array([0, 2, 3, 5], dtype=np.int32)},
    "starts too few": {"starts": np.array([0, 2, 5])},
    "starts in two dimensions": {"starts": np.array([[0, 2, 3, 5]])},
    "starts that fall": {"starts": np.array([0, 3, 2, 5])},
    "a row without cells": {"starts": np.array([0, 2, 2, 5])},
    "starts below zero": {"starts": np.array([0, -1, 2, 5])},
    "starts not at zero": {"starts": np.array([1, 2, 3, 5])},
    "starts that end early": {"starts": np.array([0, 2, 3, 4])},
    "starts that end late": {"starts": np.array([0, 2, 3, 6])},
    "a start beyond the end": {"starts": np.array([0, 6, 6, 5])},
    "a start far beyond": {"starts": np.array([0, 2**62, 2**62, 5])},
    "differences that wrap around": {"starts": np.array([0, 2**63 - 1, -(2**63), 5])},
    "columns of another type": {"columns": np.array([0, 3, 1, 2, 3], dtype=np.int16)},
    "columns too few": {"columns": np.array([0, 3, 1, 2], dtype=np.uint16)},
    "a column out of range": {"columns": np.array([0, 4, 1, 2, 3], dtype=np.uint16)},
    "a column far beyond": {"columns": np.array([0, 65535, 1, 2, 3], dtype=np.uint16)},
    "a column twice": {"columns": np.array([3, 3, 1, 2, 3], dtype=np.uint16)},
    "values too few": {"values": np.zeros(4, dtype=np.float32)},
    "values in two dimensions": {"values": np.zeros((5, 1), dtype=np.float32)},
    "values in double precision": {"values": np.zeros(5)},
    "not a number": {"values": np.array([1, 2, np.nan, 4, 5], dtype=np.float32)},
    "infinite": {"values": np.array([1, 2, INFINITY, 4, 5], dtype=np.float32)},
}


@looped("fault", DENSE_FAULTS.values(), ids=DENSE_FAULTS)
def test_malformed_dense_rows(fault: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"weight|key"):
        TrainedRows(4, {**dense_arrays(), **fault})


@looped("fault", ADAPTIVE_FAULTS.values(), ids=ADAPTIVE_FAULTS)
def test_malformed_adaptive_rows(fault: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"weight|key"):
        TrainedRows(4, {**adaptive_arrays(), **fault})


@pytest.mark.parametrize("n_columns", [0, -3, 70_000])
def test_widths_out_of_range(n_columns: int) -> None:
    with pytest.raises(ValueError, match="columns"):
        TrainedRows(n_columns, dense_arrays())


STATE_FAULTS = {
    "sums missing": {"sums": None},
    "sums in single precision": {"sums": np.zeros(5, dtype=np.float32)},
    "sums too few": {"sums": np.zeros(4)},
    "an infinite sum": {"sums": np.array([0, 0, 0, 0, INFINITY])},
    "stamps too few": {"stamps": np.zeros(2, dtype=np.int64)},
    "a negative time": {"stamps": np.array([0, -1, 0])},
    "keys repeated": {"keys": np.array([3, 9, 3], dtype=np.uint64)},
    "starts that fall": {"starts": np.array([0, 3, 2, 5])},
    "a column out of range": {"columns": np.array([0, 4, 1, 2, 3], dtype=np.uint16)},
    "values in single precision": {"values": np.zeros(5, dtype=np.float32)},
    "not a number": {"values": np.array([1, 2, np.nan, 4, 5])},
}


@looped("fault", STATE_FAULTS.values(), ids=STATE_FAULTS)
def test_malformed_states_of_a_training(fault: dict[str, Any]) -> None:
    rows = TrainingRows(4, adaptive=True)
    for key, column in ((3, 0), (3, 3), (5, 1), (9, 2), (9, 3)):
        rows.add([(rows.row(key), column, 1.0)], 1)
    with pytest.raises(ValueError, match=r"weight|key"):
        TrainingRows.from_state(4, {**rows.state(), **fault})


def test_keys_that_collide_on_purpose_are_refused() -> None:
    keys = colliding(6_000)
    assert len(np.unique(keys)) == len(keys)
    with pytest.raises(ValueError, match="collide"):
        TrainedRows(1, {"keys": keys, "values": np.ones((len(keys), 1), dtype=np.float32)})


def test_a_few_collisions_are_nothing() -> None:
    keys = colliding(500)
    values = np.arange(1, 501, dtype=np.float32)[:, None]
    rows = TrainedRows(1, {"keys": keys, "values": values})
    assert [rows.weights(key)[0] for key in keys.tolist()] == values[:, 0].tolist()
    training = TrainingRows(1)
    assert [training.row(key) for key in keys.tolist()] == list(range(500))
    assert [training.row(key) for key in keys.tolist()] == list(range(500))


@pytest.mark.parametrize("n", [1, 7, 500])
def test_rows_of_small_keys(n: int) -> None:
    """They are found by the key itself as by hashing, and nothing where there is no row."""
    keys = np.sort(np.random.default_rng(n).choice(900 + 15 * n, n, replace=False))
    for shift in (0, 40):
        stored = keys.astype(np.uint64) << np.uint64(shift)
        values = np.arange(1, 3 * n + 1, dtype=np.float32).reshape(n, 3)
        table = TrainedRows(3, {"keys": stored, "values": values})
        rows = dict(zip(stored.tolist(), values.tolist(), strict=True))
        for key in (*range(1024 + 16 * n + 2), *rows, 1 << 40, (1 << 64) - 1):
            assert table.weights(key).tolist() == rows.get(key, [0.0] * 3)
