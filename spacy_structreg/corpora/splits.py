"""Folds of corpora."""

from __future__ import annotations

from itertools import pairwise


def fold_bounds(n_sentences: int, n_folds: int = 10) -> list[tuple[int, int]]:
    """Begin and end of each fold: runs of sentences that cover all, none empty.

    Neighbors stay together, so that a text lies in two folds only where one ends in it. Fold k
    goes from n·k // n_folds on. Raises ValueError for fewer sentences than folds, and for fewer
    than two folds.
    """
    if n_folds < 2:
        raise ValueError(f"{n_folds} folds; take two or more")
    if n_sentences < n_folds:
        raise ValueError(f"{n_sentences} sentences are too few for {n_folds} folds")
    ends = [n_sentences * fold // n_folds for fold in range(n_folds + 1)]
    return list(pairwise(ends))
