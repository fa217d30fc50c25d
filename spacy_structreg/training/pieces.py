"""Pieces of training sequences, cut at unit boundaries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.training.chain import cut


def cut_units(
    units: Sequence[NDArray[np.int64]], mini_sample: float | None, seed: int
) -> NDArray[np.int64]:
    """Cut sequences into pieces of whole units, as structure regularization does (Sun 2014).

    units: for each sequence the positions at which its units begin, from 0, and its length.
    mini_sample: mean number of units in a piece, ≥ 1; None for whole sequences. seed: of the cuts.
    Returns the number of the sequence, the first position and the number of positions of each
    piece: int64 of shape (n_pieces, 3).
    """
    pieces: NDArray[np.int64] = cut([len(bounds) - 1 for bounds in units], mini_sample, seed)
    offsets = np.concatenate(([0], np.cumsum([len(bounds) for bounds in units]))).astype(np.int64)
    positions = np.concatenate(units) if units else np.zeros(0, dtype=np.int64)
    sequence, first, count = pieces.T
    begin = positions[offsets[sequence] + first]
    end = positions[offsets[sequence] + first + count]
    return np.stack((sequence, begin, end - begin), axis=1)
