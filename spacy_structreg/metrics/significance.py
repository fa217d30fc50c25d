"""Test of the significance of a difference between two systems on the same sentences.

Source: Yeh 2000, "More accurate tests for the statistical significance of result differences",
section 3 (approximate randomization, after Noreen 1989).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

# scipy.stats.permutation_test does the same for statistics of plain numbers; for counts of several
# kinds it takes 50 times as long, and other p values where SciPy is not installed help nobody. The
# tests compare the two.

# Exchanges are drawn, or counted out, so many at a time.
BLOCK: Final = 64
ROUNDING: Final = 1e-12


class Counted(Protocol):
    """Counts of a sentence, such as `figures.Counts`."""

    @property
    def gold(self) -> int: ...
    @property
    def predicted(self) -> int: ...
    @property
    def correct(self) -> int: ...


def randomization_test(
    first: Iterable[Counted],
    second: Iterable[Counted],
    *,
    repetitions: int = 10_000,
    seed: int = 0,
) -> float:
    """The probability, from 0 to 1, that F differs as much as it does or more by chance alone.

    first, second: the counts of each sentence by two systems. F is 2 · correct / (gold + predicted)
    over all sentences; where gold and predicted count the same tokens, that is accuracy.

    If the systems did not differ, each sentence's results could as well be those of the other one.
    So they are exchanged, sentence by sentence at random, and differences without regard to sign
    are compared with the true one: of all exchanges, if they are no more than the repetitions; and
    else of so many, drawn with the seed, and of the true one as a further one.

    Raises ValueError when there are no sentences, one system has more of them, or their gold counts
    differ, and for fewer repetitions than 1.
    """
    if repetitions < 1:
        raise ValueError(f"repetitions must be at least 1, got {repetitions}")
    systems = list(first), list(second)
    n_sentences = len(systems[0])
    if len(systems[1]) != n_sentences:
        raise ValueError(
            f"the systems have {n_sentences} and {len(systems[1])} sentences; compare them on the "
            "same ones"
        )
    if not n_sentences:
        raise ValueError("there is no sentence to compare two systems on")
    for index, (a, b) in enumerate(zip(*systems, strict=True)):
        if a.gold != b.gold:
            raise ValueError(
                f"sentence {index}: the gold counts of the two systems differ; compare them on the "
                "same sentences"
            )
    ours, theirs = (
        np.array([(each.gold + each.predicted, each.correct) for each in system], dtype=np.float64)
        for system in systems
    )
    # What an exchange of a sentence takes from the first and gives to the second.
    change = theirs - ours
    totals, others = ours.sum(axis=0), theirs.sum(axis=0)
    is_exact = n_sentences < repetitions.bit_length()
    n_exchanges = 1 << n_sentences if is_exact else repetitions
    least = _differences(totals, others) - ROUNDING
    generator = np.random.default_rng(seed)
    as_large = 0
    for start in range(0, n_exchanges, BLOCK):
        size = min(BLOCK, n_exchanges - start)
        if is_exact:
            numbers = np.arange(start, start + size)[:, None]
            exchanged = (numbers >> np.arange(n_sentences)) & 1
        else:
            exchanged = generator.integers(0, 2, size=(size, n_sentences))
        moved = exchanged @ change
        as_large += int((_differences(totals + moved, others - moved) >= least).sum())
    return as_large / n_exchanges if is_exact else (as_large + 1) / (n_exchanges + 1)


def _differences(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Absolute differences in F of totals; last axis: gold + predicted, correct."""
    scores = [2 * each[..., 1] / np.maximum(each[..., 0], 1) for each in (first, second)]
    return np.abs(scores[0] - scores[1])
