"""Averages of models that were trained apart: shuffle-and-average (Zhang, Su & Zhou 2014, 3.2).

And weights of fewer bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.learn.learning_settings import FULL_PRECISION, Mean
from spacy_structreg.learn.rows import TrainedRows

MEANS: Final = ("nonzero", "plain")


# How many rows of the longest table are averaged at a time: all that is counted, added up and
# sorted meanwhile lies in memory several times.
_ROWS_AT_A_TIME: Final = 1 << 15

_Arrays: TypeAlias = dict[str, NDArray[Any]]


def average_rows(
    tables: Sequence[TrainedRows], mean: Mean = "nonzero", prune: float = 0.0
) -> TrainedRows:
    """Average weight tables over the union of their features.

    mean: ``"plain"`` divides each sum of weights by the number of tables (equation 7);
        ``"nonzero"`` by the number of those in which the weight is not zero (equation 8).
    prune: means of this absolute value or less are left out.
    A row occurred as often as in that model where it did so most, if all models say.
    Raises ValueError if there is no table, their rows differ in width or layout, or there is no
    such mean.
    """
    if mean not in MEANS:
        raise ValueError(f"mean must be one of {', '.join(MEANS)}, got {mean!r}")
    if not tables:
        raise ValueError("no weight rows to average")
    if len({(table.n_columns, table.adaptive) for table in tables}) != 1:
        raise ValueError("the weight rows to average differ in width or layout")
    if len(tables) == 1 and prune == 0:
        return tables[0]
    n_columns = tables[0].n_columns
    average = _average_cells if tables[0].adaptive else _average_dense
    arrays = [table.arrays for table in tables]
    parts = []
    for part in _parts(arrays):
        keys, columns, totals, counts = average(part)
        divisors = np.maximum(counts, 1) if mean == "nonzero" else len(tables)
        means = (totals / divisors).astype(np.float32)
        means[np.abs(means) <= np.float32(prune)] = 0
        parts.append(_without_zeros(keys, columns, means))
    joined = {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}
    if "counts" in joined:
        joined["starts"] = np.concatenate(([0], np.cumsum(joined.pop("counts"))))
    if all("occurrences" in each for each in arrays):
        # As a rule they are those of one corpus.
        most = joined["occurrences"] = np.zeros(len(joined["keys"]), dtype=np.uint8)
        for each in arrays:
            kept = np.isin(each["keys"], joined["keys"], assume_unique=True)
            rows = np.searchsorted(joined["keys"], each["keys"][kept])
            most[rows] = np.maximum(most[rows], each["occurrences"][kept])
    return TrainedRows(n_columns, joined)


def rounded_rows(table: TrainedRows, precision: int) -> TrainedRows:
    """The rows with weights of so many significant bits, 1 to 24, rounded half to even."""
    if precision == FULL_PRECISION:
        return table
    arrays = table.arrays
    mantissas, exponents = np.frexp(arrays["values"])
    values = np.ldexp(np.rint(np.ldexp(mantissas, precision)), exponents - precision)
    return TrainedRows(table.n_columns, arrays | {"values": values})


def _parts(tables: Sequence[_Arrays]) -> Iterator[list[_Arrays]]:
    """Split tables at the same keys into parts, in ascending order of keys.

    In adaptive tables ``"starts"`` gives way to ``"counts"``, the number of cells of each row.
    """
    longest: NDArray[np.uint64] = max((table["keys"] for table in tables), key=len)
    cuts = longest[_ROWS_AT_A_TIME::_ROWS_AT_A_TIME]
    edges = [[0, *np.searchsorted(table["keys"], cuts), len(table["keys"])] for table in tables]
    for number in range(len(cuts) + 1):
        part = []
        for table, edge in zip(tables, edges, strict=True):
            first, last = edge[number], edge[number + 1]
            cut = {"keys": table["keys"][first:last]}
            if "starts" in table:
                starts = table["starts"][first : last + 1]
                cut["counts"] = np.diff(starts)
                first, last = starts[0], starts[-1]
                cut["columns"] = table["columns"][first:last]
            cut["values"] = table["values"][first:last]
            part.append(cut)
        yield part


def _average_dense(
    tables: Sequence[_Arrays],
) -> tuple[NDArray[np.uint64], None, NDArray[np.float64], NDArray[Any]]:
    """Keys, and for each row the sums of its weights and how many are not zero."""
    keys: NDArray[np.uint64] = np.unique(np.concatenate([table["keys"] for table in tables]))
    totals = np.zeros((len(keys), tables[0]["values"].shape[1]))
    counts = np.zeros(totals.shape, dtype=np.int32)
    for table in tables:
        rows = np.searchsorted(keys, table["keys"])
        totals[rows] += table["values"]
        counts[rows] += table["values"] != 0
    return keys, None, totals, counts


def _average_cells(
    tables: Sequence[_Arrays],
) -> tuple[NDArray[np.uint64], NDArray[np.uint16], NDArray[np.float64], NDArray[Any]]:
    """Keys and columns of cells, the sums of their weights, and how many are not zero."""
    keys = np.concatenate([np.repeat(table["keys"], table["counts"]) for table in tables])
    columns = np.concatenate([table["columns"] for table in tables])
    values = np.concatenate([table["values"] for table in tables]).astype(np.float64)
    # Cells of one weight come to stand side by side, in the order of the tables.
    order = np.lexsort((columns, keys))
    keys, columns, values = keys[order], columns[order], values[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]) | (columns[1:] != columns[:-1])
    starts = np.flatnonzero(first)
    totals = np.add.reduceat(values, starts) if len(starts) else values
    counts = np.add.reduceat((values != 0).astype(np.int32), starts) if len(starts) else starts
    return keys[starts], columns[starts], totals, counts


def _without_zeros(
    keys: NDArray[np.uint64], columns: NDArray[np.uint16] | None, means: NDArray[np.float32]
) -> _Arrays:
    """Arrays of a part as of `_parts`, of those rows or cells that are not zero."""
    if columns is None:
        kept = means.any(axis=1)
        return {"keys": keys[kept], "values": means[kept]}
    live = means != 0
    row_keys, counts = np.unique(keys[live], return_counts=True)
    return {"keys": row_keys, "counts": counts, "columns": columns[live], "values": means[live]}
