"""Frequencies and tags of words by word lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.word_lists import ListedWord
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.setting_fields import check_strings
from spacy_structreg.tasks.knowledge.lexicon import Lexicon
from spacy_structreg.tasks.knowledge.packed_words import PackedWords

if TYPE_CHECKING:
    from typing_extensions import Self

FREQUENCY_BITS: Final = 4
"""Frequency classes: 0 if it is unknown, n for 2ⁿ⁻¹ times and more, up to 15."""

TAGS_BITS: Final = 16
"""Numbers of sets of tags: 0 for none."""

_MAX_KINDS: Final = (1 << 16) - 1
# Words are brought into the view of a model so many at a time.
_PORTION: Final = 10_000
# Greater frequencies are of the highest class as well.
_MOST: Final = 1 << 14
# Nodes are counted so many at a time.
_SLOTS: Final = 1 << 20
_NONE: Final = np.empty(0, np.uint8)


class KnownWords:
    """A lexicon whose values stand for kinds of words: frequency class and set of tags.

    lexicon: the words as a model sees them.
    frequencies, tags: of each value of the lexicon, its frequency class and the number of its set
        of tags, 0 for none: uint8 and uint16 of shape (n_kinds + 1,); of value 0, both are 0.
    tag_sets: the sets of tags, of which number n is the n-th: sorted tags, parted by commas.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        frequencies: NDArray[np.uint8],
        tags: NDArray[np.uint16],
        tag_sets: tuple[str, ...],
    ) -> None:
        self.lexicon = lexicon
        self.frequencies = frequencies
        self.tags = tags
        self.tag_sets = tag_sets

    @classmethod
    def of(cls, listed: Iterable[ListedWord], seen: Callable[[str], str] = str) -> Self:
        """Build known words from lists; repeated words get all tags and the sum of frequencies.

        seen: what a model sees of a text, of the same length. White space within a word is left
        out, as models do. Takes some 110 bytes a word meanwhile (of four characters).
        Raises ValueError for more than 65,535 kinds of words.
        """
        packed = PackedWords()
        numbers_of_sets: dict[frozenset[str], int] = {frozenset(): 0}
        frequency_parts, set_parts = [], []
        entries = iter(listed)
        while portion := list(islice(entries, _PORTION)):
            views = seen("\n".join(entry.word for entry in portion)).split("\n")
            if len(views) != len(portion):
                raise ValueError("a listed word contains a line break")
            packed.extend(["".join(view.split()) for view in views])
            frequency_parts.append(
                np.fromiter((min(entry.frequency, _MOST) for entry in portion), np.uint16)
            )
            set_parts.append(
                np.fromiter(
                    (
                        numbers_of_sets.setdefault(frozenset(entry.tags), len(numbers_of_sets))
                        for entry in portion
                    ),
                    np.uint32,
                )
            )
        order, starts = packed.sort()
        counts = _merged(np.concatenate([*frequency_parts, _NONE])[order], starts)
        sets = list(numbers_of_sets)
        set_numbers = np.concatenate([*set_parts, _NONE])[order]
        del frequency_parts, set_parts, order
        united = _united(set_numbers, starts, sets)
        names = [",".join(sorted(each)) for each in sets]
        classes = np.frexp(counts.astype(np.float32))[1].clip(max=15).astype(np.uint32)
        del counts
        # The empty word, if there is one, comes first.
        first = int(len(packed) > 0 and packed[0] == "")
        pairs = (united[first:] << FREQUENCY_BITS) + classes[first:]
        named = {
            pair: (names[pair >> FREQUENCY_BITS], pair & (1 << FREQUENCY_BITS) - 1)
            for pair in np.flatnonzero(np.bincount(pairs)).tolist()
        }
        numbers = {kind: number for number, kind in enumerate(sorted(set(named.values())), 1)}
        if len(numbers) > _MAX_KINDS:
            raise ValueError(
                f"the listed words have {len(numbers):,} different sets of tags, with their "
                f"frequencies; at most {_MAX_KINDS:,} are allowed: list fewer tags"
            )
        number_of_pair = np.zeros(max(named, default=0) + 1, np.uint16)
        for pair, kind in named.items():
            number_of_pair[pair] = numbers[kind]
        values = number_of_pair[pairs]
        del pairs
        tag_sets = sorted({tags for tags, _ in numbers} - {""})
        number_of = {tags: number for number, tags in enumerate(["", *tag_sets])}
        return cls(
            Lexicon(packed.without(first), values),
            np.array([0, *(frequency for _, frequency in numbers)], np.uint8),
            np.array([0, *(number_of[tags] for tags, _ in numbers)], np.uint16),
            tuple(tag_sets),
        )

    def __len__(self) -> int:
        return len(self.lexicon)

    def number_of(self, tag: str | None) -> int:
        """The number of the set of one tag; 0 for None, and if no word has just this one."""
        return 1 + self.tag_sets.index(tag) if tag in self.tag_sets else 0

    def usual_frequency(self) -> int:
        """The frequency class that most words have."""
        counts = np.zeros(1 << FREQUENCY_BITS, dtype=np.int64)
        for first in range(0, len(self.lexicon.nodes), _SLOTS):
            values = self.lexicon.nodes[first : first + _SLOTS] >> np.uint64(48)
            counts += np.bincount(self.frequencies[values[values > 0]], minlength=len(counts))
        return int(counts.argmax())

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """Entries of the header of a model file, and arrays."""
        entries, arrays = self.lexicon.contents()
        kinds = np.stack([self.frequencies.astype(np.uint16), self.tags])
        return {**entries, "tag_sets": list(self.tag_sets)}, {**arrays, "kinds": kinds}

    @classmethod
    def from_contents(cls, entries: Mapping[str, Any], arrays: Arrays) -> Self:
        """Make known words from stored contents; raise ValueError for invalid ones."""
        kinds = arrays.get("kinds")
        tag_sets = check_strings("tag_sets", field(entries, "tag_sets", list))
        if (
            not isinstance(kinds, np.ndarray)
            or kinds.dtype != np.uint16
            or kinds.ndim != 2
            or len(kinds) != 2
            or not 1 <= kinds.shape[1] <= _MAX_KINDS + 1
            or kinds[:, 0].any()
            or kinds[0].max() >= 1 << FREQUENCY_BITS
            or kinds[1].max() > len(tag_sets)
        ):
            raise ValueError("the frequencies and tag sets of the listed words do not match")
        lexicon = Lexicon.from_contents(entries, arrays, kinds.shape[1] - 1)
        frequencies = np.ascontiguousarray(kinds[0], dtype=np.uint8)
        return cls(lexicon, frequencies, np.ascontiguousarray(kinds[1]), tag_sets)


def _merged(counts: NDArray[np.uint16], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of each run of counts."""
    return np.add.reduceat(counts, starts, dtype=np.int64) if len(starts) else starts


def _united(
    numbers: NDArray[np.uint32], starts: NDArray[np.int64], sets: list[frozenset[str]]
) -> NDArray[np.uint32]:
    """The number of the union of each run of sets. sets: by their numbers; new ones are added."""
    if not len(starts):
        return numbers
    united = np.minimum.reduceat(numbers, starts)
    known = {each: number for number, each in enumerate(sets)}
    ends = np.append(starts[1:], len(numbers))
    for run in np.flatnonzero(united != np.maximum.reduceat(numbers, starts)).tolist():
        union = frozenset().union(*(sets[i] for i in numbers[starts[run] : ends[run]].tolist()))
        if union not in known:
            known[union] = len(sets)
            sets.append(union)
        united[run] = known[union]
    return united
