"""Visits of a trainer: numbers, begins and lengths of parts of training sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def checked_pieces(pieces: Any, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pieces as int64 of shape (n, 3): the sequence, its first position, how many.

    pieces: so, or the numbers of sequences, for the whole of them. lengths: of the sequences.
    Raises ValueError for other shapes or types, IndexError for pieces that do not exist.
    """
    pieces = np.asarray(pieces)
    if pieces.size and pieces.dtype.kind not in "iu":
        raise ValueError(f"pieces must be integers, got {pieces.dtype}")
    pieces = pieces.astype(np.int64)
    if pieces.ndim == 1:
        if pieces.size and (pieces.min() < 0 or pieces.max() >= len(lengths)):
            raise IndexError(f"sequence index out of range: there are {len(lengths):,}")
        pieces = np.stack((pieces, np.zeros_like(pieces), lengths[pieces]), axis=1)
    if pieces.ndim != 2 or pieces.shape[1] != 3:
        raise ValueError(f"pieces must have the shape (n, 3), got {pieces.shape}")
    if pieces.size:
        chain, begin, count = pieces.T
        if chain.min() < 0 or chain.max() >= len(lengths):
            raise IndexError(f"sequence index out of range: there are {len(lengths):,}")
        if begin.min() < 0 or count.min() < 0 or (begin > lengths[chain] - count).any():
            raise IndexError("a piece lies outside its sequence")
    return np.ascontiguousarray(pieces)
