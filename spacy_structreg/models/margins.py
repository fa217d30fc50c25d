"""Margins of decisions: by how much the best analysis that agrees beats the best that does not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


def agreement_margins(
    analyses: Iterable[tuple[float, Sequence[Hashable]]], decided: Sequence[Hashable]
) -> NDArray[np.float64]:
    """The margins of the decisions about a sentence: float64 of shape (n,).

    For each the score of the best analysis that decides so, less that of the best that decides
    otherwise: inf where all decide so, or there are no analyses; -inf where none does.

    analyses: pairs of a score and decisions, such as tags or heads, one a word. decided: those that
    were taken.
    """
    listed = list(analyses)
    if not listed:
        return np.full(len(decided), np.inf)
    best = np.full((2, len(decided)), -np.inf)
    at = np.arange(len(decided))
    for score, decisions in listed:
        agrees = np.array(
            [one == other for one, other in zip(decisions, decided, strict=True)], dtype=np.intp
        )
        best[agrees, at] = np.maximum(best[agrees, at], score)
    return np.asarray(best[1] - best[0])


def tag_margins(
    scores: NDArray[np.float64], places: Sequence[int], tags: Sequence[int]
) -> NDArray[np.float64]:
    """The margins of the tags of words: that of the first character of each.

    scores: of tags at each character, as `predict_tag_scores` gives them, shape (n, n_tags).
    places: of the first characters of words. tags: their numbers.
    """
    rows = scores[list(places)]
    at = np.arange(len(rows))
    chosen = rows[at, list(tags)]
    rows[at, list(tags)] = -np.inf
    others = rows.max(axis=1, initial=-np.inf)
    margins = np.full(len(rows), np.inf)
    known = np.isfinite(chosen) | np.isfinite(others)
    margins[known] = chosen[known] - others[known]
    return margins


def word_margins(
    margins: NDArray[np.float64], bounds: Iterable[tuple[int, int]]
) -> NDArray[np.float64]:
    """The margins of words: the least of those of their ends and of the places inside them.

    margins: of the places between the n characters of a text, above 0 where a word ends rather than
        not: shape (n - 1,), as `predict_margins` gives them.
    bounds: of each word. Those at the ends of the text are not decided.
    """
    edges = np.concatenate([[np.inf], margins, [np.inf]])
    return np.array(
        [
            min(edges[start], edges[end], (-edges[start + 1 : end]).min(initial=np.inf))
            for start, end in bounds
        ]
    )
