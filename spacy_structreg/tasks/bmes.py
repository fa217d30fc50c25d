"""The label scheme of character-based segmentation: begin, middle, end, single."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
        begin, end, middle, single = (self.labels.index(label) for label in "BEMS")
        labels: list[int] = []
        for length in lengths:
            if length == 1:
                labels.append(single)
            else:
                labels += [begin, *([middle] * (length - 2)), end]
        return np.array(labels, dtype=np.uint16)


def bmes() -> SegmentationScheme:
    """The four labels B, E, M and S (Ng & Low 2004; Zhang, Su & Zhou 2014, section 6.1.1)."""
    labels = ("B", "E", "M", "S")
    begins = np.array([label in "BS" for label in labels])
    ends = np.array([label in "ES" for label in labels])
    return SegmentationScheme(labels, begins, LabelGraph(ends[:, None] == begins, begins, ends))
