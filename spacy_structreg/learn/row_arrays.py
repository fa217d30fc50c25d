"""The arrays of weight rows (`learn.rows.TrainedRows`) with some rows replaced."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def replaced_rows(
    old: dict[str, NDArray[Any]],
    keys: NDArray[np.uint64],
    weights: NDArray[np.float32],
    *,
    keep_empty: bool = False,
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a table with the rows of some keys replaced or added.

    keys: none twice. weights: of shape (n_keys, n_columns). keep_empty: whether new rows may be of
    nothing but zeros, in dense tables; else they are left out.
    """
    order = np.argsort(keys)
    keys, weights = keys[order], weights[order]
    places = np.searchsorted(old["keys"], keys)
    known = places < len(old["keys"])
    known[known] = old["keys"][places[known]] == keys[known]
    filled = weights.any(axis=1)
    if "columns" not in old:
        new = ~known if keep_empty else filled & ~known
        # Runs of old rows with the new ones between them, which is faster than np.insert.
        replaced = {
            "keys": _with_runs(old["keys"], places[new], keys[new]),
            "values": _with_runs(old["values"], places[new], weights[new]),
        }
        replaced["values"][places[known] + np.cumsum(new)[known]] = weights[known]
        if "occurrences" in old:
            never = np.zeros(np.count_nonzero(new), dtype=np.uint8)
            replaced["occurrences"] = _with_runs(old["occurrences"], places[new], never)
        return replaced
    # The cells of old versions are taken out, then those of new ones put in.
    starts = old["starts"]
    gone = np.zeros(len(old["keys"]), dtype=bool)
    gone[places[known]] = True
    counts = np.diff(starts)
    kept = np.repeat(~gone, counts)
    rest, rest_counts = old["keys"][~gone], counts[~gone]
    begins = np.concatenate(([0], np.cumsum(rest_counts)))
    occurred = np.zeros(len(keys), dtype=np.uint8)
    if "occurrences" in old:
        occurred[known] = old["occurrences"][places[known]]
    keys, weights, occurred = keys[filled], weights[filled], occurred[filled]
    places = np.searchsorted(rest, keys)
    rows, columns = np.nonzero(weights)
    at = begins[places][rows]
    merged = np.insert(rest_counts, places, np.count_nonzero(weights, axis=1))
    replaced = {
        "keys": np.insert(rest, places, keys),
        "values": np.insert(old["values"][kept], at, weights[rows, columns]),
        "starts": np.concatenate(([0], np.cumsum(merged))).astype(np.int64),
        "columns": np.insert(old["columns"][kept], at, columns.astype(np.uint16)),
    }
    if "occurrences" in old:
        replaced["occurrences"] = np.insert(old["occurrences"][~gone], places, occurred)
    return replaced


def _with_runs(old: NDArray[Any], places: NDArray[np.int64], new: NDArray[Any]) -> NDArray[Any]:
    """A new array of old items, with new ones before those at some places, which rise."""
    runs: list[NDArray[Any]] = []
    begin = 0
    for number, place in enumerate(places.tolist()):
        runs += [old[begin:place], new[number : number + 1]]
        begin = place
    return np.concatenate([*runs, old[begin:]])
