"""The projective tree of the most expected arcs over the words of an analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.models.joint.parsed_analyses import ANY_LABEL

LEFT, RIGHT = 0, 1
NEVER: Final = -np.inf


def expected_tree(
    words: Sequence[str],
    tags: Sequence[str],
    expected: Mapping[tuple[int, int, int], float],
    labels: Sequence[str],
) -> Sentence:
    """The projective tree whose arcs, and their labels, add up to the most.

    expected, labels: what `expected_arcs` returns, and was given. An arc that is not there counts
    0, and has the first label.
    """
    at = {first: i for i, first in enumerate(accumulate(map(len, words[:-1]), initial=0))}
    at[ROOT] = ROOT
    scores = np.zeros((len(words) + 1, len(words)))  # the root is the last row
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for (child, head, label), score in expected.items():
        if child in at and head in at:
            arc = at[head], at[child]
            if label == ANY_LABEL:
                scores[arc] += score
            else:
                best[arc] = max(best.get(arc, (0.0, 0)), (score, label))
    for arc, (score, _) in best.items():
        scores[arc] += score
    heads = projective_heads(scores)
    numbers = [best.get((head, child), (0.0, 0))[1] for child, head in enumerate(heads)]
    return Sentence(
        tuple(words), tuple(tags), tuple(heads), tuple(labels[number] for number in numbers)
    )


def projective_heads(scores: NDArray[Any]) -> list[int]:
    """The heads of the projective tree with one root whose arcs add up to the most (Eisner 1996).

    scores: of shape (n + 1, n), n ≥ 1: of arcs from each head, the root last, to each child.
    """
    n = scores.shape[1]
    # What a span from i to j is worth, by the side of its head: with all children, or with the arc
    # between its ends alone; and where it is best cut.
    whole, linked = (np.full((n, n, 2), NEVER) for _ in range(2))
    cuts_whole, cuts_linked = np.zeros((n, n, 2), int), np.zeros((n, n), int)
    whole[range(n), range(n)] = 0.0
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            halves = whole[i, i:j, RIGHT] + whole[i + 1 : j + 1, j, LEFT]
            cuts_linked[i, j] = i + halves.argmax()
            linked[i, j] = halves.max() + scores[[j, i], [i, j]]
            left = whole[i, i:j, LEFT] + linked[i:j, j, LEFT]
            right = linked[i, i + 1 : j + 1, RIGHT] + whole[i + 1 : j + 1, j, RIGHT]
            whole[i, j] = left.max(), right.max()
            cuts_whole[i, j] = i + left.argmax(), i + 1 + right.argmax()
    root = int((whole[0, :, LEFT] + whole[:, n - 1, RIGHT] + scores[n]).argmax())
    heads = [ROOT] * n
    spans = [(0, root, LEFT, True), (root, n - 1, RIGHT, True)]
    while spans:
        i, j, side, is_whole = spans.pop()
        if i == j:
            continue
        if is_whole:
            cut = int(cuts_whole[i, j, side])
            spans += [(i, cut, side, side == LEFT), (cut, j, side, side == RIGHT)]
        else:
            child, head = (i, j) if side == LEFT else (j, i)
            heads[child] = head
            cut = int(cuts_linked[i, j])
            spans += [(i, cut, RIGHT, True), (cut + 1, j, LEFT, True)]
    return heads
