"""Many words in little memory: their UTF-8 side by side, sorted without making strings of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

# Words are compared by so many bytes at a time, as numbers.
_BYTES: Final = 8
# And handled so many at a time.
_PORTION: Final = 1 << 16


class PackedWords(Sequence[str]):
    """Words without line breaks, which can be sorted; each takes its UTF-8 and eight bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._lengths: list[NDArray[np.int64]] = []
        self._text = np.empty(0, np.uint8)
        self._starts = np.zeros(1, np.int64)
        # Of the words in their order: numbers of those in the text.
        self._order: NDArray[np.signedinteger[Any]] = np.empty(0, np.int64)

    def extend(self, words: Sequence[str]) -> None:
        """Add words; there must be a `sort` before they are looked at."""
        if not words:
            return
        text = np.frombuffer("\n".join([*words, ""]).encode("utf-8", "surrogatepass"), np.uint8)
        ends = np.flatnonzero(text == ord("\n"))
        if len(ends) != len(words):
            raise ValueError("a word contains a line break")
        self._parts.append(text[text != ord("\n")].tobytes())
        self._lengths.append(np.diff(ends, prepend=-1) - 1)

    def sort(self) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.int64]]:
        """Sort the words that were added by their code points, and keep each once.

        Returns the order of the words as they were added, and where in it the words that stay
        begin: integers of shapes (n_added,) and (n_words,). Words that are equal keep their order.
        """
        parts, self._parts = self._parts, []
        # One byte at least, to be read in place of what lies behind the end of a word.
        self._text = np.frombuffer(b"".join([*parts, b"\0"]), np.uint8)
        del parts
        self._starts = np.concatenate([np.zeros(1, np.int64), *self._lengths]).cumsum()
        self._lengths = []
        n = len(self._starts) - 1
        # Numbers of words take most of the memory.
        small = np.int32 if n < 1 << 31 else np.int64
        order = np.arange(n, dtype=small)
        # Whether a word differs from the one before it, and the places of those that may not.
        begins = np.ones(n, dtype=bool)
        places = order.copy()
        groups = np.zeros(n, small)
        depth = 0
        while len(places):
            words = order[places]
            lengths, codes = self._codes(words, depth)
            # What has ended comes before a zero.
            by_code = np.lexsort((lengths, codes, groups))
            words = words[by_code]
            codes, lengths, groups = codes[by_code], lengths[by_code], groups[by_code]
            del by_code
            order[places] = words
            same = np.zeros(len(places), dtype=bool)
            same[1:] = (
                (groups[1:] == groups[:-1])
                & (codes[1:] == codes[:-1])
                & (lengths[1:] == lengths[:-1])
            )
            begins[places] = ~same
            groups = np.cumsum(~same, dtype=small)
            # Those are done that differ from both neighbors, or have ended.
            alone = ~same
            alone[:-1] &= ~same[1:]
            left = ~alone & (lengths == _BYTES)
            places, groups = places[left], groups[left]
            depth += _BYTES
        starts = np.flatnonzero(begins)
        self._order = order[starts]
        return order, starts

    def _codes(
        self, words: NDArray[np.signedinteger[Any]], depth: int
    ) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
        """Of each word, how many of eight bytes there are from a depth on, and these as a number.

        Zeros stand for bytes after the end.
        """
        codes = np.empty(len(words), np.uint64)
        lengths = np.empty(len(words), np.int8)
        for first in range(0, len(words), _PORTION):
            part = words[first : first + _PORTION]
            begins = self._starts[part] + depth
            left = (self._starts[part + 1] - begins).clip(0, _BYTES)
            found = np.zeros(len(part), np.uint64)
            for i in range(_BYTES):
                found <<= np.uint64(8)
                found |= np.where(left > i, self._text[np.where(left > i, begins + i, 0)], 0)
            codes[first : first + _PORTION] = found
            lengths[first : first + _PORTION] = left
        return lengths, codes

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

    def _decoded(self, numbers: NDArray[np.signedinteger[Any]]) -> list[str]:
        text = self._text.data
        begins, ends = self._starts[numbers].tolist(), self._starts[numbers + 1].tolist()
        return [
            str(text[begin:end], "utf-8", "surrogatepass")
            for begin, end in zip(begins, ends, strict=True)
        ]
