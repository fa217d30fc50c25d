"""Frozen rows: they add what trained rows add, and are refused if they are damaged."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from numpy.typing import NDArray

from spacy_structreg.learn.freezing import Bits, frozen_rows
from spacy_structreg.learn.frozen_rows import FrozenRows, displacements_of
from spacy_structreg.learn.rows import TrainedRows

WIDTHS = (1, 3, 4, 16, 20, 76, 256, 257, 300)


def table(n_rows: int, n_columns: int, *, adaptive: bool, small: bool, seed: int) -> TrainedRows:
    """A table of random weights, among them zeros if rows are dense."""
    rng = np.random.default_rng(seed)
    limit = 4 * n_rows + 1 if small else 1 << 63
    keys = np.unique(rng.integers(0, limit, n_rows, dtype=np.uint64))
    weights = rng.normal(0, 1, (len(keys), n_columns)).astype(np.float32) ** 3
    weights[rng.random(weights.shape) < (0.8 if adaptive or n_columns > 16 else 0.3)] = 0
    if not adaptive:
        return TrainedRows(n_columns, {"keys": keys, "values": weights})
    weights[:, 0] = 1
    rows, columns = np.nonzero(weights)
    starts = np.searchsorted(rows, np.arange(len(keys) + 1))
    arrays = {"keys": keys, "starts": starts, "columns": columns.astype(np.uint16)}
    return TrainedRows(n_columns, {**arrays, "values": weights[rows, columns]})


def weights_of(rows: TrainedRows, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    return np.array([rows.weights(key) for key in keys.tolist()]).reshape(-1, rows.n_columns)


tables = st.builds(
    table,
    st.integers(0, 60),
    st.sampled_from(WIDTHS),
    adaptive=st.booleans(),
    small=st.booleans(),
    seed=st.integers(0, 1000),
)


@given(tables, st.sampled_from([0.0, 0.05, 1.0]), st.lists(st.integers(0, 2**64 - 1), max_size=9))
def test_unquantized_rows_are_the_same(rows: TrainedRows, prune: float, others: list[int]) -> None:
    keys = rows.arrays["keys"]
    frozen = frozen_rows(rows, 32, prune)
    expected = weights_of(rows, keys)
    expected[np.abs(expected) <= np.float32(prune)] = 0
    assert (weights_of(frozen, keys) == expected).all()
    assert len(frozen) == np.count_nonzero(expected.any(axis=1))
    strangers = {0, *others, *(key ^ 1 for key in keys.tolist())} - set(keys.tolist())
    assert not weights_of(frozen, np.array(sorted(strangers), dtype=np.uint64)).any()


@given(tables, st.sampled_from([8, 16]))
def test_quantized_rows(rows: TrainedRows, bits: Bits) -> None:
    """They are multiples of the largest weight, or the nearest of 256 levels."""
    keys = rows.arrays["keys"]
    frozen = frozen_rows(rows, bits)
    expected = weights_of(rows, keys)
    found = weights_of(frozen, keys)
    levels = frozen.arrays["levels"]
    if len(levels) == 256:
        nearest = np.abs(expected[..., None] - levels).min(axis=-1) if expected.size else expected
        filled = expected != 0
        assert np.abs(np.abs(found - expected) - nearest)[filled].max(initial=0) < 1e-9
        assert not found[~filled].any()
    else:
        scale = np.abs(expected).max(initial=0) / ((1 << (bits - 1)) - 1)
        assert (found == scale * np.rint(expected / (scale or 1))).all()


def test_few_values_are_kept_by_levels() -> None:
    rng = np.random.default_rng(1)
    keys = np.arange(500, dtype=np.uint64) << np.uint64(40)
    columns = rng.integers(0, 70, 500).astype(np.uint16)
    values = rng.choice([-70.0, -1.5, -1.0, 0.75, 1.0, 12.0], 500).astype(np.float32)
    rows = TrainedRows(
        70, {"keys": keys, "starts": np.arange(501), "columns": columns, "values": values}
    )
    found = weights_of(frozen_rows(rows, 8), keys)
    assert np.abs(found - weights_of(rows, keys)).max() < 1e-9


@looped("n_columns", [4, 300])
def test_a_large_table(n_columns: int) -> None:
    """It has many blocks, checks of which meet, and is laid out in several parts."""
    n_rows = 20_000 if n_columns == 300 else 300_000
    rows = table(n_rows, n_columns, adaptive=n_columns > 4, small=False, seed=5)
    keys = rows.arrays["keys"][:: len(rows) // 500]
    most_bytes = sum(array.nbytes for array in rows.arrays.values())
    for bits, tolerance in ((8, 2), (16, 0.01), (32, 0)):
        frozen = frozen_rows(rows, bits)
        assert frozen.adaptive == (n_columns > 4)
        difference = weights_of(frozen, keys) - weights_of(rows, keys)
        assert np.abs(difference).max() <= tolerance
        assert not weights_of(frozen, keys + np.uint64(1)).any()
        again = pickle.loads(pickle.dumps(frozen))
        assert (weights_of(again, keys) == weights_of(frozen, keys)).all()
        assert sum(array.nbytes for array in frozen.arrays.values()) < most_bytes


def test_arrays_are_used_where_they_lie() -> None:
    arrays = frozen_rows(table(50, 4, adaptive=False, small=False, seed=1)).arrays
    rows = FrozenRows(4, arrays)
    for name in ("directory", "cells"):
        assert np.shares_memory(rows.arrays[name], arrays[name])


@looped(
    ("bits", "prune"), [(7, 0.0), (8.0, 0.0), (8, -1.0), (8, float("nan")), (8, "1"), (8, None)]
)
def test_impossible_settings(bits: Any, prune: Any) -> None:
    with pytest.raises(ValueError, match=r"bits must be|prune must be"):
        frozen_rows(table(5, 4, adaptive=False, small=False, seed=1), bits, prune)


@given(
    tables, st.sampled_from([8, 32]), st.sampled_from(["layout", "directory", "cells"]), st.data()
)
def test_damage_is_found_or_harmless(
    rows: TrainedRows, bits: Bits, name: str, data: st.DataObject
) -> None:
    """Whatever is changed: either there is an error, or rows that can be read."""
    arrays = frozen_rows(rows, bits).arrays
    damaged = arrays[name].copy()
    limit = int(np.iinfo(damaged.dtype).max)
    for _ in range(data.draw(st.integers(0, 3)) if len(damaged) else 0):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place] = data.draw(st.integers(0, limit) | st.integers(0, 5))
    damaged = damaged[: len(damaged) - data.draw(st.integers(0, 2))]
    try:
        found = FrozenRows(rows.n_columns, {**arrays, name: damaged})
    except ValueError:
        return
    keys = np.concatenate((rows.arrays["keys"], np.arange(20, dtype=np.uint64)))
    assert np.isfinite(weights_of(found, keys)).all()


def floats(value: float) -> NDArray[np.uint8]:
    return np.array([value], dtype=np.float32).view(np.uint8)


def repeat_check(arrays: dict[str, Any]) -> None:
    directory, cells = arrays["directory"], arrays["cells"]
    first = int(directory[:-1][np.diff(directory) > 50][0])
    cells[first + 5 : first + 9] = cells[first + 1 : first + 5]


Fault = Callable[[dict[str, Any]], object]
"""Changes arrays in place."""

FAULTS: dict[str, Fault] = {
    "unknown layout": lambda arrays: arrays.pop("layout"),
    "another type": lambda arrays: arrays.update(directory=arrays["directory"].astype(np.int32)),
    "two dimensions": lambda arrays: arrays.update(cells=arrays["cells"][None]),
    "other bits": lambda arrays: arrays["layout"].put(1, 4),
    "other checks": lambda arrays: arrays["layout"].put(2, 5),
    "other columns": lambda arrays: arrays["layout"].put(3, 2),
    "no directory": lambda arrays: arrays.update(directory=arrays["directory"][:0]),
    "no zeros at the end": lambda arrays: arrays["cells"].put(-1, 1),
    "too short": lambda arrays: arrays.update(cells=arrays["cells"][:-12]),
    "levels of nothing": lambda arrays: arrays.update(levels=np.ones(1)),
}
# Of blocks alone, and of slots; the last weights of each stand before 8 zeros, or 16.
FAULTS_OF_BLOCKS: dict[str, Fault] = {
    "one row less": lambda arrays: arrays["layout"].put(0, arrays["layout"][0] - 1),
    "no blocks": lambda arrays: arrays.update(directory=arrays["directory"][:1]),
    "blocks that overlap": lambda arrays: arrays["directory"].put(2, 1),
    "blocks beyond the end": lambda arrays: arrays["directory"].put(-1, 2**31),
    "checks that do not rise": repeat_check,
    "too many keys": lambda arrays: arrays["cells"].put(0, 255),
    "no keys": lambda arrays: arrays["cells"].put(0, 0),
    "not a number": lambda arrays: arrays["cells"].put(range(-12, -8), floats(np.nan)),
    "infinite": lambda arrays: arrays["cells"].put(range(-12, -8), floats(-np.inf)),
}
FAULTS_OF_SLOTS: dict[str, Fault] = {
    "more rows than slots": lambda arrays: arrays["layout"].put(0, 50),
    "not a number": lambda arrays: arrays["cells"].put(range(-20, -16), floats(np.nan)),
    "infinite": lambda arrays: arrays["cells"].put(range(-20, -16), floats(-np.inf)),
}


def test_rows_of_no_keys() -> None:
    arrays = dict(frozen_rows(table(40, 4, adaptive=False, small=True, seed=2), 8).arrays)
    arrays["layout"] = np.array([0, 8, 0, 0, 0], dtype=np.uint64)
    arrays["cells"] = np.zeros(8, dtype=np.uint8)
    with pytest.raises(ValueError, match="directory"):
        FrozenRows(4, {**arrays, "directory": np.empty(0, dtype=np.uint32)})


@looped("fault", [*FAULTS, *FAULTS_OF_BLOCKS])
def test_malformed_blocks(fault: str) -> None:
    refuse(table(40, 4, adaptive=True, small=False, seed=2), {**FAULTS, **FAULTS_OF_BLOCKS}[fault])


@looped("fault", [*FAULTS, *FAULTS_OF_SLOTS])
def test_malformed_slots(fault: str) -> None:
    refuse(table(40, 4, adaptive=False, small=False, seed=2), {**FAULTS, **FAULTS_OF_SLOTS}[fault])


def refuse(rows: TrainedRows, fault: Fault) -> None:
    arrays = {name: array.copy() for name, array in frozen_rows(rows, 32).arrays.items()}
    FrozenRows(4, arrays)
    fault(arrays)
    with pytest.raises(ValueError, match=r"frozen|collide|check|block"):
        FrozenRows(4, arrays)


def test_keys_that_cannot_be_told_apart() -> None:
    """Keys whose low halves are the same go to the same slot, however they are displaced."""
    assert displacements_of(np.array([5, 5], dtype=np.uint64), 1, 4) is None


def test_the_shortest_row_of_a_block_comes_first() -> None:
    arrays = frozen_rows(table(6, 76, adaptive=True, small=False, seed=3), 8).arrays
    cells, n = arrays["cells"].copy(), 6
    rows: list[NDArray[np.uint8]] = []
    assert cells[0] == n
    place = 1 + 3 * n
    for _ in range(n):
        end = place + 1 + 2 * (1 + int(cells[place]))
        rows.append(cells[place:end].copy())
        place = end
    lengths = [len(row) for row in rows]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]
    cells[1 + 3 * n : place] = np.concatenate(rows[::-1])
    with pytest.raises(ValueError, match="order"):
        FrozenRows(76, {**arrays, "cells": cells})


@pytest.mark.parametrize("level", [float("nan"), float("inf"), 1e40])
def test_levels_that_are_no_weights(level: float) -> None:
    for adaptive in (False, True):
        arrays = frozen_rows(table(40, 20, adaptive=adaptive, small=False, seed=3), 8).arrays
        levels = arrays["levels"].copy()
        levels[-1] = level
        with pytest.raises(ValueError, match="level"):
            FrozenRows(20, {**arrays, "levels": levels})


def test_adaptive_rows_with_wrong_columns() -> None:
    arrays = frozen_rows(table(40, 20, adaptive=True, small=True, seed=3), 32).arrays
    cells = arrays["cells"].copy()
    cells[1] = 20  # the first column of the first row
    with pytest.raises(ValueError, match="column"):
        FrozenRows(20, {**arrays, "cells": cells})
    cells[0] = 0
    cells[1] = 3
    with pytest.raises(ValueError, match="frozen"):
        FrozenRows(20, {**arrays, "cells": cells})
