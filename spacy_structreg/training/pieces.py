"""Pieces of training sequences: which part of which sequence a trainer visits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.training.chain import cut


def checked_pieces(pieces: Any, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pieces as int64 of shape (n, 3): the sequence, its first position, how many.

    pieces: so, or the numbers of sequences, for the whole of them. lengths: of the sequences.
    Raises ValueError for other shapes or types, IndexError for pieces that do not exist.
    """
    pieces = np.asarray(pieces)
    if pieces.size and pieces.dtype.kind not in "iu":
        raise ValueError(f"pieces are named by whole numbers, not by {pieces.dtype}")
    pieces = pieces.astype(np.int64)
    if pieces.ndim == 1:
        if pieces.size and not (0 <= pieces.min() and pieces.max() < len(lengths)):
            raise IndexError(f"there is no such sequence among {len(lengths):,}")
        pieces = np.stack((pieces, np.zeros_like(pieces), lengths[pieces]), axis=1)
    if pieces.ndim != 2 or pieces.shape[1] != 3:
        raise ValueError(f"pieces have the shape (n, 3), not {pieces.shape}")
    if pieces.size:
        chain, begin, count = pieces.T
        if not (0 <= chain.min() and chain.max() < len(lengths)):
            raise IndexError(f"there is no such sequence among {len(lengths):,}")
        if begin.min() < 0 or count.min() < 0 or (begin > lengths[chain] - count).any():
            raise IndexError("a piece lies outside its sequence")
    return np.ascontiguousarray(pieces)


def cut_units(
    units: Sequence[NDArray[np.int64]], mini_sample: float | None, seed: int
) -> NDArray[np.int64]:
    """Cut sequences into pieces of whole units, as structure regularisation does (Sun 2014).

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
