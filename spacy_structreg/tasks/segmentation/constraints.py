"""Constraints of the words of a text: forced words, words with a bonus, and boundaries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_NO_WORDS = np.zeros((0, 3), dtype=np.int32)


class Constraints(NamedTuple):
    """Constraints of a text, or of a sentence of it, as decoders take them.

    words: the places of words that are forced, int32 of shape (n, 3): start, end, and the number of
    the tag in `tags`, or -1; by start and then end. Of words that overlap, as many as fit become
    tokens. bonus_words, bonuses: the same of words with a bonus, and float64 of shape (n,).
    boundaries: uint8 of each character: 1 if a token begins there, 2 if none does, 0 if either may
    be, and besides 4 times the number of its stand-in, from 1 on, if it looks like another one to
    the model (`tasks.segmentation.given_spans`); None for no boundaries.
    """

    words: NDArray[np.int32] = _NO_WORDS
    bonus_words: NDArray[np.int32] = _NO_WORDS
    bonuses: NDArray[np.float64] = np.zeros(0)
    tags: tuple[str, ...] = ()
    boundaries: NDArray[np.uint8] | None = None

    def part(self, start: int, end: int) -> Constraints:
        """The constraints of a part of the text, beyond which no word goes."""
        shift = np.array([start, start, 0], dtype=np.int32)
        words, bonus_words = (
            slice(*np.searchsorted(places[:, 0], [start, end]).tolist())
            for places in (self.words, self.bonus_words)
        )
        return Constraints(
            self.words[words] - shift,
            self.bonus_words[bonus_words] - shift,
            self.bonuses[bonus_words],
            self.tags,
            None if self.boundaries is None else self.boundaries[start:end],
        )
