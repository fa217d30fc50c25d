"""Label schemes of character-based segmentation: where in its word a character stands.

A joint scheme says which tag the word has as well (Ng & Low 2004, section 3): ``B-NN``, ``E-NN``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.sentence import LabeledSpan
from spacy_structreg.search.viterbi import LabelGraph


@dataclass(frozen=True)
class SegmentationScheme:
    """A label scheme: labels of characters that encode words.

    labels: sorted. begins: bool of shape (n_labels,), whether a word begins at a character so
    labeled. graph: which sequences of labels are words.
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

    def allowed(
        self, boundaries: Sequence[bool | None], tags: Sequence[LabeledSpan] = ()
    ) -> NDArray[np.bool_]:
        """Return the mask of labels consistent with partially known words.

        boundaries: of each place between two characters, whether a word ends there; None where
        that is not known. tags: play no part. Returns bool of shape (n, n_labels), for n - 1
        places; a label is True if it is on a path of all that is known.
        """
        return self.graph.prune(_allowed(boundaries, self.begins))


def _scheme(successors: dict[str, str]) -> SegmentationScheme:
    """A scheme from what may follow each label, written as labels parted by spaces."""
    labels = tuple(sorted(successors))
    begins = np.array([label in ("B", "S") for label in labels])
    ends = np.array([label in ("E", "S") for label in labels])
    legal = [[after in successors[label].split() for after in labels] for label in labels]
    return SegmentationScheme(labels, begins, LabelGraph(legal, begins, ends))


@dataclass(frozen=True)
class JointScheme:
    """A label scheme: labels of characters that encode words and their tags.

    segmentation: the scheme of the words. tags: sorted. labels: ``B-NN``, …, sorted: every label
    of the segmentation with every tag, so that any word can have any tag. begins: bool of shape
    (n_labels,), whether a word begins at a character so labeled. tag_of: int32 of shape
    (n_labels,), the number of the tag. graph: which sequences of labels are words that keep their
    tags.
    """

    segmentation: SegmentationScheme
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    begins: NDArray[np.bool_]
    tag_of: NDArray[np.int32]
    graph: LabelGraph

    def encode(self, lengths: Iterable[int], tags: Iterable[str]) -> NDArray[np.uint16]:
        """The labels of words of the given lengths in characters, all at least 1, and tags.

        Raises ValueError if there are not as many tags as words, or one is not of the scheme.
        """
        number = {tag: i for i, tag in enumerate(self.tags)}
        listed = list(lengths)
        try:
            numbers = [number[tag] for tag in tags]
        except KeyError as error:
            raise ValueError(f"unknown tag {error.args[0]!r}") from error
        if len(numbers) != len(listed):
            raise ValueError(f"expected a tag for each of {len(listed)} words, got {len(numbers)}")
        places = self.segmentation.encode(listed).astype(np.int64)
        labels = places * len(self.tags) + np.repeat(np.array(numbers, dtype=np.int64), listed)
        return labels.astype(np.uint16)

    def allowed(
        self, boundaries: Sequence[bool | None], tags: Sequence[LabeledSpan] = ()
    ) -> NDArray[np.bool_]:
        """As of a `SegmentationScheme`. tags: first character, first character after, and tag.

        Raises ValueError if a tag is not of the scheme.
        """
        mask = _allowed(boundaries, self.begins)
        for begin, end, tag in tags:
            if tag not in self.tags:
                raise ValueError(f"unknown tag {tag!r}")
            mask[begin:end] &= self.tag_of == self.tags.index(tag)
        return self.graph.prune(mask)


def _allowed(boundaries: Sequence[bool | None], begins: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the mask of labels consistent with known boundaries."""
    mask = np.ones((len(boundaries) + 1, len(begins)), dtype=bool)
    for i, known in enumerate([True, *boundaries]):
        if known is not None:
            mask[i] = begins == known
    return mask


def with_tags(scheme: SegmentationScheme, tags: Iterable[str]) -> JointScheme:
    """Combine a segmentation scheme with tags.

    Raises ValueError if there is no tag, or there would be more than 1,024 labels.
    """
    known = tuple(sorted(set(tags)))
    n_tags = len(known)
    if not n_tags:
        raise ValueError("no tags to label words with")
    if n_tags * len(scheme.labels) > MOST_LABELS:
        raise ValueError(
            f"too many tags for one label chain: {n_tags:,}; "
            f"{MOST_LABELS // len(scheme.labels):,} is the limit: choose coarser tags, or fewer "
            "labels for places in words"
        )
    ends_word = scheme.graph.ends
    changes = np.ones((n_tags, n_tags), dtype=bool)
    keeps = np.eye(n_tags, dtype=bool)
    legal = np.block(
        [
            [(changes if ends_word[x] else keeps) & follows for follows in scheme.graph.legal[x]]
            for x in range(len(scheme.labels))
        ]
    )
    begins = np.repeat(scheme.begins, n_tags)
    return JointScheme(
        scheme,
        known,
        tuple(f"{place}-{tag}" for place in scheme.labels for tag in known),
        begins,
        np.tile(np.arange(n_tags, dtype=np.int32), len(scheme.labels)),
        LabelGraph(legal, begins, np.repeat(ends_word, n_tags)),
    )


def bmes() -> SegmentationScheme:
    """The four labels B, E, M and S (Ng & Low 2004; Zhang, Su & Zhou 2014, section 6.1.1)."""
    return _scheme({"B": "M E", "M": "M E", "E": "B S", "S": "B S"})


def six_labels() -> SegmentationScheme:
    """The six labels B, B2, B3, E, M and S (Gao, Qiu & Huang 2010, section 4.1).

    The second and the third character of a word, unless they end it, have labels of their own.
    """
    return _scheme({"B": "B2 E", "B2": "B3 E", "B3": "M E", "M": "M E", "E": "B S", "S": "B S"})


MOST_LABELS: Final = 1024
"""Most labels of a chain: its pairs of labels lie in one row of weights."""

SCHEMES: Final = {"bmes": bmes, "six": six_labels}
"""The label schemes by name."""
