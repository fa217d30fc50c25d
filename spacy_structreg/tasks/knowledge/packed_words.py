"""Many words in little memory: their UTF-8 side by side, sorted without making strings of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray

# Words are compared by so many bytes at a time, as numbers.
_BYTES: Final = 8


class PackedWords(Sequence[str]):
    """Words without line breaks, which can be sorted; each takes its UTF-8 and eight bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._lengths: list[NDArray[np.int64]] = []
        self._text = np.empty(0, np.uint8)
        self._starts = np.zeros(1, np.int64)
        # Of the words in their order: numbers of those in the text.
        self._order = np.empty(0, np.int64)

    def extend(self, words: Sequence[str]) -> None:
        """Add words; there must be a `sort` before they are looked at."""
        if not words:
            return
        text = np.frombuffer("\n".join([*words, ""]).encode("utf-8", "surrogatepass"), np.uint8)
        ends = np.flatnonzero(text == ord("\n"))
        if len(ends) != len(words):
            raise ValueError("a word has a line break within")
        self._parts.append(text[text != ord("\n")].tobytes())
        self._lengths.append(np.diff(ends, prepend=-1) - 1)

    def sort(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sort the words that were added by their code points, and keep each once.

        Returns the order of the words as they were added, and where in it the words that stay
        begin: int64 of shapes (n_added,) and (n_words,). Words that are equal keep their order.
        """
        parts, self._parts = self._parts, []
        # Room for the bytes of the last words, beyond which there are zeros.
        self._text = np.frombuffer(b"".join([*parts, bytes(_BYTES)]), np.uint8)
        del parts
        self._starts = np.concatenate([np.zeros(1, np.int64), *self._lengths]).cumsum()
        self._lengths = []
        n = len(self._starts) - 1
        order = np.arange(n)
        # Whether a word differs from the one before it, and the places of those that may not.
        begins = np.ones(n, dtype=bool)
        places = np.arange(n)
        groups = np.zeros(n, np.int64)
        depth = 0
        while len(places):
            words = order[places]
            lengths = (self._starts[words + 1] - self._starts[words] - depth).clip(0, _BYTES)
            codes = self._codes(words, depth)
            # What has ended comes before a zero.
            by_code = np.lexsort((lengths, codes, groups))
            words, codes, lengths = words[by_code], codes[by_code], lengths[by_code]
            groups = groups[by_code]
            order[places] = words
            same = np.zeros(len(places), dtype=bool)
            same[1:] = (
                (groups[1:] == groups[:-1])
                & (codes[1:] == codes[:-1])
                & (lengths[1:] == lengths[:-1])
            )
            begins[places] = ~same
            groups = np.cumsum(~same)
            # Those are done that differ from both neighbours, or have ended.
            alone = ~same
            alone[:-1] &= ~same[1:]
            left = ~alone & (lengths == _BYTES)
            places, groups = places[left], groups[left]
            depth += _BYTES
        starts = np.flatnonzero(begins)
        self._order = order[starts]
        return order, starts

    def _codes(self, words: NDArray[np.int64], depth: int) -> NDArray[np.uint64]:
        """Eight bytes of each word from a depth on, zeros after its end, as one number."""
        codes = np.zeros(len(words), np.uint64)
        begins = self._starts[words] + depth
        left = self._starts[words + 1] - begins
        for i in range(_BYTES):
            codes <<= np.uint64(8)
            codes |= np.where(left > i, self._text[np.minimum(begins + i, len(self._text) - 1)], 0)
        return codes

    def without(self, n: int) -> PackedWords:
        """The same words but for the first `n`."""
        rest = PackedWords()
        rest._text, rest._starts, rest._order = self._text, self._starts, self._order[n:]
        return rest

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return self._decoded(self._order[place])
        return self._decoded(self._order[[place]])[0]

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _PORTION):
            yield from self[first : first + _PORTION]

    def _decoded(self, numbers: NDArray[np.int64]) -> list[str]:
        text = self._text.data
        begins, ends = self._starts[numbers].tolist(), self._starts[numbers + 1].tolist()
        return [
            str(text[begin:end], "utf-8", "surrogatepass")
            for begin, end in zip(begins, ends, strict=True)
        ]


_PORTION: Final = 10_000
