"""Frozen weight rows (`learn.frozen_rows`) made of trained ones: pruned, quantized, laid out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.learn.frozen_rows import (
    MAX_BYTES,
    MAX_KEYS,
    N_PADDING,
    NO_ROW,
    FrozenRows,
    displacements_of,
    hashes_of,
)
from spacy_structreg.learn.rows import TrainedRows

Bits: TypeAlias = Literal[8, 16, 32]

BITS: Final = (8, 16, 32)

_KEYS_PER_BLOCK: Final = 6
_KEYS_PER_BUCKET: Final = 4
# Keys below this, and so many more for each row, are small: the directory knows their rows.
_SMALL_KEYS: Final = 1024
_SMALL_SHARE: Final = 8
# How often a salt is drawn by which no two keys of a block have the same check.
_ATTEMPTS: Final = 64
# How many cells are laid out at a time.
_AT_A_TIME: Final = 1 << 20
# Dense rows are added faster: they stay so up to so many columns, and are kept up to so many times
# the bytes of adaptive ones.
_DENSE_COLUMNS: Final = 16
_DENSE_SHARE: Final = 2
_ROUNDS: Final = 30

_Arrays: TypeAlias = dict[str, NDArray[Any]]


def check_freezing(bits: int, prune: float) -> None:
    """Raise ValueError for bits and limits of pruning that `frozen_rows` cannot take."""
    if not isinstance(bits, int) or bits not in BITS:
        raise ValueError(f"bits must be 8, 16 or 32, got {bits!r}")
    if not isinstance(prune, int | float) or not 0 <= prune < np.inf:
        raise ValueError(f"prune must be a number of at least 0, got {prune!r}")


def frozen_rows(table: TrainedRows, bits: Bits = 8, prune: float = 0.0) -> FrozenRows:
    """The rows of a table for prediction only.

    bits: of a weight. With 32 they stay what they are. With fewer, weights of dense rows become
        whole numbers, scaled so that none is clipped, and so do all of 16 bits; those of adaptive
        rows are rounded to the nearest of 256 levels, placed where the weights are (Lloyd 1982).
    prune: weights of this absolute value or less are left out.
    Raises ValueError if there can be no such rows, or they need more than 2 GB.
    """
    check_freezing(bits, prune)
    arrays = table.arrays
    n_columns, weight_size = table.n_columns, bits // 8
    column_size = 1 if n_columns <= 256 else 2
    prune = float(np.float32(prune))
    keys, counts, columns, values = _cells(arrays, prune)
    dense_bytes = len(keys) * n_columns * weight_size
    adaptive_bytes = len(keys) * column_size + len(values) * (column_size + weight_size)
    # Narrow rows are added fastest, and those of small keys are few.
    is_dense = not table.adaptive and (
        n_columns <= _DENSE_COLUMNS
        or _are_small(keys)
        or dense_bytes <= _DENSE_SHARE * adaptive_bytes
    )
    if is_dense and bits != 32:
        # What would be rounded to zero.
        keys, counts, columns, values = _cells(arrays, max(prune, _scale(values, bits) / 2))
    n_rows = len(keys)
    codes, levels = _quantized(values, bits, is_dense)
    row_size = n_columns * weight_size
    if is_dense:
        sizes = np.full(n_rows, row_size)
    else:
        sizes = column_size + counts * (column_size + weight_size)
    if int(sizes.sum()) + n_rows * 5 > MAX_BYTES:
        raise ValueError("the weights of a table need more than 2 GB; prune more of them")
    if _are_small(keys):
        index = _by_key(keys, sizes)
    elif is_dense:
        index = _by_slot(keys, row_size)
    else:
        index = _by_block(keys, sizes, 4 if bits == 32 else 3)
    padding = max(N_PADDING, row_size) if is_dense else N_PADDING
    cells = np.concatenate((index.cells, np.zeros(padding, dtype=np.uint8)))
    _lay_out(
        cells,
        index.places,
        counts,
        columns,
        codes,
        n_columns=n_columns if is_dense else 0,
        column_size=column_size,
    )
    layout = [n_rows, bits, index.check_size, 0 if is_dense else column_size, index.salt]
    return FrozenRows(
        n_columns,
        {
            "layout": np.array(layout, dtype=np.uint64),
            "directory": index.directory,
            "cells": cells,
            "levels": levels,
        },
    )


class _Index(NamedTuple):
    """An index of rows, as `FrozenRows` has it.

    cells: with everything but the rows. places: where in them each row begins, by keys.
    """

    check_size: int
    salt: int
    directory: NDArray[np.uint32]
    cells: NDArray[np.uint8]
    places: NDArray[np.int64]


def _by_key(keys: NDArray[np.uint64], sizes: NDArray[np.int64]) -> _Index:
    """Lay out rows with small integer keys, found by a directory."""
    begins = np.concatenate(([0], np.cumsum(sizes)))
    directory = np.full(int(keys[-1]) + 1, NO_ROW, dtype=np.uint32)
    directory[keys] = begins[:-1]
    return _Index(0, 0, directory, np.zeros(begins[-1], dtype=np.uint8), begins[:-1])


def _by_slot(keys: NDArray[np.uint64], row_size: int) -> _Index:
    """Lay out rows of one size, found by a perfect hash."""
    salt, directory, slots = _slots_of(keys)
    n_slots = _n_slots(len(keys))
    cells = np.zeros(n_slots * (4 + row_size), dtype=np.uint8)
    checks = hashes_of(keys, salt) >> np.uint64(8) & np.uint64(0xFFFFFFFF)
    _write(cells, 4 * slots, checks, 4)
    return _Index(4, salt, directory, cells, 4 * n_slots + slots * row_size)


def _by_block(keys: NDArray[np.uint64], sizes: NDArray[np.int64], check_size: int) -> _Index:
    """Lay out rows of any size in blocks."""
    check_size, salt, blocks, checks = _placed(keys, check_size)
    n_blocks = _n_blocks(len(keys))
    # Who walks to a row passes over few bytes.
    order = np.lexsort((checks, sizes, blocks))
    blocks, checks = blocks[order], checks[order]
    n_keys = np.bincount(blocks, minlength=n_blocks)
    heads = np.where(n_keys > 0, 1 + check_size * n_keys, 0)
    of_rows = np.concatenate(([0], np.cumsum(sizes[order])))
    last_row = np.concatenate(([0], np.cumsum(n_keys)))
    begins = np.concatenate(([0], np.cumsum(heads))) + of_rows[last_row]
    cells = np.zeros(int(begins[-1]), dtype=np.uint8)
    filled = n_keys > 0
    cells[begins[:-1][filled]] = n_keys[filled]
    rank = np.arange(len(keys)) - last_row[blocks]
    _write(cells, begins[blocks] + 1 + check_size * rank, checks, check_size)
    places = np.empty(len(keys), dtype=np.int64)
    places[order] = of_rows[:-1] + np.cumsum(heads)[blocks]
    return _Index(check_size, salt, begins.astype(np.uint32), cells, places)


def _are_small(keys: NDArray[np.uint64]) -> bool:
    return len(keys) > 0 and int(keys[-1]) < _SMALL_KEYS + _SMALL_SHARE * len(keys)


def _cells(
    arrays: _Arrays, prune: float
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint16], NDArray[np.float32]]:
    """Keys, the number of cells of each, and the columns and values of these, none zero."""
    values = arrays["values"]
    kept = np.abs(values) > np.float64(prune)
    if "columns" in arrays:
        starts = np.concatenate(([0], np.cumsum(kept)))
        counts = np.diff(starts[arrays["starts"]])
        columns, values = arrays["columns"][kept], values[kept]
    else:
        counts = np.count_nonzero(kept, axis=1)
        columns = np.nonzero(kept)[1].astype(np.uint16)
        values = values[kept]
    filled = counts > 0
    return arrays["keys"][filled], counts[filled], columns, values


def _quantized(
    values: NDArray[np.float32], bits: Bits, is_dense: bool
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The weights as they are stored, and their levels."""
    if bits == 32:
        return values, np.empty(0)
    if bits == 8 and not is_dense:
        return _by_levels(values)
    scale = _scale(values, bits)
    codes = np.rint(values.astype(np.float64) / (scale or 1.0)).astype(
        np.int8 if bits == 8 else np.int16
    )
    return codes, np.array([scale])


def _scale(values: NDArray[np.float32], bits: Bits) -> float:
    # What is largest decides most: it is never clipped.
    return float(np.abs(values).max(initial=0)) / ((1 << (bits - 1)) - 1)


def _by_levels(values: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """The number of the level of each value, and 256 levels with the least squared error.

    Lloyd's algorithm goes on from levels that lie the closer together the smaller they are.
    """
    if not len(values):
        return np.empty(0, dtype=np.uint8), np.zeros(256)
    ordered = np.sort(values.astype(np.float64))
    sums = np.concatenate(([0.0], np.cumsum(ordered)))
    typical, most = np.median(np.abs(ordered)), np.abs(ordered).max()
    evenly = np.linspace(-1, 1, 256)
    levels = np.sign(evenly) * typical * np.expm1(np.abs(evenly) * np.log1p(most / typical))
    for _ in range(_ROUNDS):
        edges = np.searchsorted(ordered, _between(levels))
        edges = np.concatenate(([0], edges, [len(ordered)]))
        sizes = np.diff(edges)
        levels = np.where(sizes > 0, np.diff(sums[edges]) / np.maximum(sizes, 1), levels)
    return np.searchsorted(_between(levels), values).astype(np.uint8), levels


def _between(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    middles: NDArray[np.float64] = (levels[1:] + levels[:-1]) / 2
    return middles


def _n_blocks(n_rows: int) -> int:
    return max(1, n_rows // _KEYS_PER_BLOCK)


def _n_slots(n_rows: int) -> int:
    # A few more than there are keys, or the last ones would hardly find theirs.
    return n_rows + n_rows // 32 + 1


def _slots_of(
    keys: NDArray[np.uint64],
) -> tuple[int, NDArray[np.uint32], NDArray[np.int64]]:
    """Salt and displacements of a perfect hash, and the slot of each key.

    Raises ValueError if the keys were chosen to collide.
    """
    for salt in _salts():
        mixed = hashes_of(keys, salt)
        found = displacements_of(mixed, len(keys) // _KEYS_PER_BUCKET + 1, _n_slots(len(keys)))
        if found is not None:
            return salt, found[0], found[1].astype(np.int64)
    raise ValueError("keys collide too often to be genuine")


def _salts() -> Iterator[int]:
    """Yield salts that differ in many bits."""
    for attempt in range(_ATTEMPTS):
        yield attempt * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF


def _placed(
    keys: NDArray[np.uint64], check_size: int
) -> tuple[int, int, NDArray[np.int64], NDArray[np.int64]]:
    """Size of checks, salt, and block and check of each key; no two are the same.

    Raises ValueError if the keys were chosen to collide.
    """
    n_blocks = np.uint64(_n_blocks(len(keys)))
    for size in range(check_size, 5):
        mask = np.uint64((1 << 8 * size) - 1)
        for salt in _salts():
            mixed = hashes_of(keys, salt)
            blocks = (mixed >> np.uint64(32)) * n_blocks >> np.uint64(32)
            checks = mixed & mask
            both = np.sort(blocks << np.uint64(32) | checks)
            crowded = np.bincount(blocks.astype(np.int64), minlength=1).max() > MAX_KEYS
            if not crowded and not (both[1:] == both[:-1]).any():
                return size, salt, blocks.astype(np.int64), checks.astype(np.int64)
    raise ValueError("keys collide too often to be genuine")


def _lay_out(
    cells: NDArray[np.uint8],
    places: NDArray[np.int64],
    counts: NDArray[np.int64],
    columns: NDArray[np.uint16],
    codes: NDArray[Any],
    *,
    n_columns: int,
    column_size: int,
) -> None:
    """Write rows to their places. n_columns: of dense ones; 0 for adaptive ones."""
    if not len(codes):
        return
    weight_size = codes.dtype.itemsize
    starts = np.concatenate(([0], np.cumsum(counts)))
    cuts = np.searchsorted(starts, np.arange(0, starts[-1], _AT_A_TIME), side="left")
    for first, last in zip(cuts, [*cuts[1:], len(counts)], strict=True):
        begin, end = starts[first], starts[last]
        count, place = counts[first:last], places[first:last]
        of_row = np.repeat(place, count)
        rank = np.arange(begin, end) - np.repeat(starts[first:last], count)
        if n_columns:
            at = of_row + weight_size * columns[begin:end].astype(np.int64)
        else:
            _write(cells, place, count - 1, column_size)
            _write(cells, of_row + column_size * (1 + rank), columns[begin:end], column_size)
            at = of_row + column_size * (1 + np.repeat(count, count)) + weight_size * rank
        _write(cells, at, codes[begin:end].view(f"u{weight_size}"), weight_size)


def _write(
    cells: NDArray[np.uint8], places: NDArray[np.int64], numbers: NDArray[Any], size: int
) -> None:
    """Write whole numbers from 0 of so many bytes, the lowest first."""
    for byte in range(size):
        cells[places + byte] = numbers >> 8 * byte & 0xFF
