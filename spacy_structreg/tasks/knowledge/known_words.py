"""Frequencies and tags of words by word lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.setting_fields import check_strings
from spacy_structreg.tasks.knowledge.lexicon import Lexicon

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.corpora.word_lists import ListedWord

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
_Kind: TypeAlias = tuple[tuple[str, ...], int]


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
        out, as models do. Takes some 160 bytes a word meanwhile (of four characters).
        Raises ValueError for more than 65,535 kinds of words.
        """
        kinds: dict[str, _Kind] = {}
        # One object for all words of a kind.
        shared: dict[_Kind, _Kind] = {}
        entries = iter(listed)
        while portion := list(islice(entries, _PORTION)):
            views = seen("\n".join(entry.word for entry in portion)).split("\n")
            if len(views) != len(portion):
                raise ValueError("a listed word contains a line break")
            for view, entry in zip(views, portion, strict=True):
                word = "".join(view.split())
                tags, frequency = entry.tags, entry.frequency
                if (before := kinds.get(word)) is not None:
                    tags = tuple(sorted({*before[0], *tags}))
                    frequency += before[1]
                kind = tags, min(frequency, _MOST)
                kinds[word] = shared.setdefault(kind, kind)
        kinds.pop("", None)
        words = sorted(kinds)
        classes = {
            (tags, frequency): (",".join(sorted(set(tags))), frequency.bit_length())
            for tags, frequency in set(kinds.values())
        }
        numbers = {each: number for number, each in enumerate(sorted(set(classes.values())), 1)}
        if len(numbers) > _MAX_KINDS:
            raise ValueError(
                f"the listed words have {len(numbers):,} different sets of tags, with their "
                f"frequencies; at most {_MAX_KINDS:,} are allowed: list fewer tags"
            )
        values = np.fromiter((numbers[classes[kinds[word]]] for word in words), np.uint16)
        tag_sets = sorted({tags for tags, _ in numbers} - {""})
        number_of = {tags: number for number, tags in enumerate(["", *tag_sets])}
        return cls(
            Lexicon(words, values),
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
