"""Calibration of probabilities: reliability table and expected calibration error."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

N_BINS: Final = 10
"""Number of bins of equal width that probabilities are sorted into, by default."""


class ReliabilityBin(NamedTuple):
    """A bin of a reliability table.

    low, high: its bounds. n: the number of probabilities in it. probability: their mean. share: of
    these, how many came true, as a fraction of 1.
    """

    low: float
    high: float
    n: int
    probability: float
    share: float


def reliability(
    probabilities: ArrayLike, came_true: ArrayLike, n_bins: int = N_BINS
) -> list[ReliabilityBin]:
    """The reliability table of probabilities, without empty bins.

    came_true: for each probability, whether what it is of came true. Bins are of equal width; a
    bound belongs to the bin above it, 1 to the last one.
    Raises ValueError for probabilities that are none, and for arrays of different lengths.
    """
    said, true = _checked(probabilities, came_true)
    places = np.minimum((said * n_bins).astype(np.intp), n_bins - 1)
    n = np.bincount(places, minlength=n_bins)
    sums = np.bincount(places, weights=said, minlength=n_bins)
    hits = np.bincount(places, weights=true, minlength=n_bins)
    return [
        ReliabilityBin(
            i / n_bins,
            (i + 1) / n_bins,
            int(n[i]),
            float(sums[i] / n[i]),
            float(hits[i] / n[i]),
        )
        for i in np.flatnonzero(n).tolist()
    ]


def calibration_error(
    probabilities: ArrayLike, came_true: ArrayLike, n_bins: int = N_BINS
) -> float | None:
    """The expected calibration error, a fraction of 1 (Guo et al. 2017, equation 3).

    The mean, over all probabilities, of the distance between the mean probability of a bin and the
    share that came true. None if there are no probabilities. Raises ValueError as `reliability`.
    """
    bins = reliability(probabilities, came_true, n_bins)
    whole = sum(each.n for each in bins)
    if not whole:
        return None
    return sum(each.n * abs(each.probability - each.share) for each in bins) / whole


def _checked(
    probabilities: ArrayLike, came_true: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    said = np.asarray(probabilities, dtype=np.float64)
    true = np.asarray(came_true, dtype=np.float64)
    if said.shape != true.shape or said.ndim != 1:
        raise ValueError(f"{said.shape} probabilities are of {true.shape} decisions")
    if not ((said >= 0) & (said <= 1)).all():
        raise ValueError("probabilities must lie between 0 and 1")
    return said, true
