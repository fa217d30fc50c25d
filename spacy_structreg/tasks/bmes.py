"""Label schemes of character-based segmentation: where in its word a character stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.search.viterbi import LabelGraph


@dataclass(frozen=True)
class SegmentationScheme:
    """Labels of characters from which words can be read.

    labels: sorted. begins: bool of shape (n_labels,), whether a word begins at a character so
    labelled. graph: which sequences of labels are words.
    """

    labels: tuple[str, ...]
    begins: NDArray[np.bool_]
    graph: LabelGraph

    def encode(self, lengths: Iterable[int]) -> NDArray[np.uint16]:
        """The labels of words of the given lengths in characters, all at least 1."""
        number = {label: i for i, label in enumerate(self.labels)}
        inner = [number[label] for label in ("B2", "B3") if label in number]
        labels: list[int] = []
        for length in lengths:
            if length == 1:
                labels.append(number["S"])
            else:
                middle = [*inner, *([number["M"]] * (length - 2 - len(inner)))]
                labels += [number["B"], *middle[: length - 2], number["E"]]
        return np.array(labels, dtype=np.uint16)


def _scheme(successors: dict[str, str]) -> SegmentationScheme:
    """A scheme from what may follow each label, written as labels parted by spaces."""
    labels = tuple(sorted(successors))
    begins = np.array([label in ("B", "S") for label in labels])
    ends = np.array([label in ("E", "S") for label in labels])
    legal = [[after in successors[label].split() for after in labels] for label in labels]
    return SegmentationScheme(labels, begins, LabelGraph(legal, begins, ends))


def bmes() -> SegmentationScheme:
    """The four labels B, E, M and S (Ng & Low 2004; Zhang, Su & Zhou 2014, section 6.1.1)."""
    return _scheme({"B": "M E", "M": "M E", "E": "B S", "S": "B S"})


def six_labels() -> SegmentationScheme:
    """The six labels B, B2, B3, E, M and S (Gao, Qiu & Huang 2010, section 4.1).

    The second and the third character of a word, unless they end it, have labels of their own.
    """
    return _scheme({"B": "B2 E", "B2": "B3 E", "B3": "M E", "M": "M E", "E": "B S", "S": "B S"})


SCHEMES: Final = {"bmes": bmes, "six": six_labels}
"""The label schemes by name."""
