"""Averages of models that were trained apart: shuffle-and-average (Zhang, Su & Zhou 2014, 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.learn.rows import TrainedRows

Mean: TypeAlias = Literal["nonzero", "plain"]

MEANS: Final = ("nonzero", "plain")


def average_rows(tables: Sequence[TrainedRows], mean: Mean = "nonzero") -> TrainedRows:
    """The mean of tables of weight rows, weight by weight; their features are united.

    mean: ``"plain"`` divides each sum of weights by the number of tables (equation 7);
        ``"nonzero"`` by the number of those in which the weight is not zero (equation 8).
    Raises ValueError if there is no table, their rows differ in width or layout, or there is no
    such mean.
    """
    if mean not in MEANS:
        raise ValueError(f"there is no mean {mean!r}; choose from {', '.join(MEANS)}")
    if not tables:
        raise ValueError("there is nothing to average")
    if len({(table.n_columns, table.adaptive) for table in tables}) != 1:
        raise ValueError("the weight rows to average differ in width or layout")
    if len(tables) == 1:
        return tables[0]
    arrays = [table.arrays for table in tables]
    if tables[0].adaptive:
        return _average_cells(tables[0].n_columns, arrays, mean)
    keys: NDArray[np.uint64] = np.unique(np.concatenate([table["keys"] for table in arrays]))
    totals = np.zeros((len(keys), tables[0].n_columns))
    counts = np.zeros(totals.shape, dtype=np.int32)
    for table in arrays:
        rows = np.searchsorted(keys, table["keys"])
        totals[rows] += table["values"]
        counts[rows] += table["values"] != 0
    means = _divide(totals, counts, len(tables), mean)
    kept = means.any(axis=1)
    return TrainedRows(tables[0].n_columns, {"keys": keys[kept], "values": means[kept]})


def _average_cells(
    n_columns: int, arrays: Sequence[dict[str, NDArray[Any]]], mean: Mean
) -> TrainedRows:
    keys = np.concatenate([np.repeat(table["keys"], np.diff(table["starts"])) for table in arrays])
    columns = np.concatenate([table["columns"] for table in arrays])
    values = np.concatenate([table["values"] for table in arrays]).astype(np.float64)
    # Cells of one weight come to stand side by side, in the order of the tables.
    order = np.lexsort((columns, keys))
    keys, columns, values = keys[order], columns[order], values[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]) | (columns[1:] != columns[:-1])
    starts = np.flatnonzero(first)
    totals = np.add.reduceat(values, starts) if len(starts) else values
    counts = np.add.reduceat((values != 0).astype(np.int32), starts) if len(starts) else starts
    means = _divide(totals, counts, len(arrays), mean)
    live = means != 0
    row_keys, row_counts = np.unique(keys[starts][live], return_counts=True)
    return TrainedRows(
        n_columns,
        {
            "keys": row_keys,
            "starts": np.concatenate(([0], np.cumsum(row_counts))).astype(np.int64),
            "columns": columns[starts][live],
            "values": means[live],
        },
    )


def _divide(
    totals: NDArray[np.float64], counts: NDArray[Any], n_tables: int, mean: Mean
) -> NDArray[np.float32]:
    divisors = np.maximum(counts, 1) if mean == "nonzero" else n_tables
    return (totals / divisors).astype(np.float32)
