"""Words that a user lists, and which of their places in a text can be tokens together.

A listed word is one token wherever it occurs, inside runs of Latin letters or digits too; what is
matched are the characters as they stand, without folding case or width. Where listed words overlap
one another, not all of them can be tokens: then the possible choices are the *maximal* sets of
occurrences, that is, sets in which no two overlap and to which no other occurrence could be added.
A decoder finds the best words of all that hold such a set (`tasks.segmentation.text`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgpack
import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath
from spacy_structreg.corpora.files import read_lines
from spacy_structreg.tasks.segmentation.word_trie import WordTrie

__all__ = [
    "LONGEST_WORD",
    "CompiledWords",
    "Occurrence",
    "UserWords",
    "read_user_words",
    "whole_ends",
]

# Characters of a word, and of a tag. It bounds the work a character of text can cost.
LONGEST_WORD: Final = 255
_FORMAT: Final = 1


class Occurrence(NamedTuple):
    """A listed word at a place of a text: `text[start:end]`, and its tag or None."""

    start: int
    end: int
    tag: str | None


class CompiledWords:
    """A list of words as it was at one moment, ready to be found in texts.

    It never changes, and threads may share it. words: each with its tag or None; not checked, as
    `UserWords` has done that. tags: their different tags.
    """

    __slots__ = ("_tag_numbers", "_trie", "tags", "words")

    def __init__(self, words: Mapping[str, str | None]) -> None:
        ordered = sorted(words)
        self.words: Mapping[str, str | None] = MappingProxyType(
            {word: words[word] for word in ordered}
        )
        self._trie = WordTrie(ordered)
        self.tags = tuple(sorted({tag for tag in words.values() if tag is not None}))
        numbers: dict[str | None, int] = {tag: i for i, tag in enumerate(self.tags)}
        self._tag_numbers = np.array(
            [numbers.get(tag, -1) for tag in self.words.values()], dtype=np.int32
        )

    def __len__(self) -> int:
        return len(self.words)

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledWords, (dict(self.words),)

    def places(self, text: str) -> NDArray[np.int32]:
        """All places where listed words stand, by their start and then their end.

        Of shape (n, 3): start, end, and the number of the tag in `tags`, or -1. They may overlap
        and be nested: `a` and `aa` stand at five places in `aaa`. There are no more of them than
        the longest word has characters, times those of the text.
        """
        places = self._trie.find(text)
        places[:, 2] = self._tag_numbers[places[:, 2]]
        return places

    def find(self, text: str) -> list[Occurrence]:
        """The `places` as occurrences."""
        return [
            Occurrence(start, end, None if tag < 0 else self.tags[tag])
            for start, end, tag in self.places(text).tolist()
        ]

    def leftmost_longest(self, text: str) -> list[Occurrence]:
        """The occurrences that are taken from left to right, of each start the longest."""
        chosen: list[Occurrence] = []
        for word in self.find(text):
            if chosen and chosen[-1].start == word.start:
                chosen[-1] = word
            elif not chosen or chosen[-1].end <= word.start:
                chosen.append(word)
        return chosen


def whole_ends(ends: Sequence[int], places: NDArray[np.int32]) -> list[int]:
    """The ends of sentences that do not lie within a listed word, so that these stay whole.

    ends: rising, as `sentence_ends` gives them. places: as `CompiledWords.places` gives them.
    """
    # How far the words reach that begin before an end; 0 where there is none.
    reach = np.concatenate(([0], np.maximum.accumulate(places[:, 1])))
    before = np.searchsorted(places[:, 0], ends, side="left")
    return [end for end, furthest in zip(ends, reach[before], strict=True) if furthest <= end]


class UserWords:
    """A list of words that are to be tokens, each with a tag if wanted.

    A word may hold any characters, spaces, Latin letters and punctuation included, but no white
    space at its ends, and 255 characters at most. Each has one tag or none.

    Threads may change the list while others decode: a decoder takes a `snapshot`, which never
    changes, and each change is seen as a whole or not at all.
    """

    def __init__(self, words: Iterable[str | tuple[str, str | None]] = ()) -> None:
        """words: strings, or pairs of word and tag. Raises ValueError as `add`."""
        self._lock = threading.Lock()
        self._words: dict[str, str | None] = _checked_words(words)
        self._snapshot: CompiledWords | None = None

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, word: object) -> bool:
        return word in self._words

    def __iter__(self) -> Iterator[str]:
        """The words in the order of their code points, as they are now."""
        return iter(self.snapshot().words)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UserWords):
            return NotImplemented
        return self.snapshot().words == other.snapshot().words

    # It changes, so it is no key.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<UserWords: {len(self)} words>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (self.to_bytes(),)

    def tag(self, word: str) -> str | None:
        """The tag of a listed word, or None. Raises ValueError for a word that is not listed."""
        try:
            return self._words[word]
        except KeyError:
            raise ValueError(f"the word {word!r} is not listed") from None

    def add(self, word: str, tag: str | None = None) -> None:
        """List a word; if it is listed already, it gets this tag, or none.

        Raises ValueError for words and tags that are empty, begin or end with white space, have
        more than 255 characters, or hold lone surrogates.
        """
        self.update([(word, tag)])

    def update(self, words: Iterable[str | tuple[str, str | None]]) -> None:
        """List many words at once; of a word that comes twice, the last tag counts.

        words: strings, or pairs of word and tag. Raises ValueError as `add`, and lists none then.
        """
        checked = _checked_words(words)
        with self._lock:
            self._words.update(checked)
            self._snapshot = None

    def remove(self, word: str) -> None:
        """Take a word off the list. Raises ValueError if it is not listed."""
        with self._lock:
            if word not in self._words:
                raise ValueError(f"the word {word!r} is not listed")
            del self._words[word]
            self._snapshot = None

    def clear(self) -> None:
        """Take all words off the list."""
        self._swap({})

    def load(self, path: StrPath, *, encoding: str = "utf-8", replace: bool = False) -> int:
        """List the words of a file, as `read_user_words` reads it; returns their number.

        replace: whether they take the place of the words that are listed, in one step. If the file
        cannot be read to its end, the list stays as it was.
        """
        words = dict(read_user_words(path, encoding=encoding))
        if replace:
            self._swap(words)
        else:
            with self._lock:
                self._words.update(words)
                self._snapshot = None
        return len(words)

    def snapshot(self) -> CompiledWords:
        """The list as it is now. It is compiled when it is asked for first, after a change."""
        snapshot = self._snapshot
        if snapshot is None:
            with self._lock:
                snapshot = self._snapshot
                if snapshot is None:
                    snapshot = self._snapshot = CompiledWords(self._words)
        return snapshot

    def to_bytes(self) -> bytes:
        """The words and their tags; equal lists give equal bytes."""
        words = [[word, tag] for word, tag in self.snapshot().words.items()]
        packed: bytes = msgpack.packb({"format": _FORMAT, "words": words})
        return packed

    def from_bytes(self, data: bytes) -> UserWords:
        """Take the words that `to_bytes` gave, in place of those that are listed; returns itself.

        Raises ValueError for anything else, and changes nothing then.
        """
        try:
            content = msgpack.unpackb(data)
        except (ValueError, msgpack.exceptions.UnpackException, RecursionError) as error:
            raise ValueError(f"the list of user words cannot be read ({error})") from error
        if not isinstance(content, dict) or content.keys() != {"format", "words"}:
            raise ValueError("this is no list of user words; write it anew with to_bytes")
        if content["format"] != _FORMAT:
            raise ValueError(
                f"the list of user words has the format {content['format']!r}, and this version "
                f"of the package reads {_FORMAT}; write it anew with to_bytes"
            )
        words = content["words"]
        if not isinstance(words, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in words
        ):
            raise ValueError("the list of user words is damaged; write it anew with to_bytes")
        self._swap(_checked_words((word, tag) for word, tag in words))
        return self

    def _swap(self, words: dict[str, str | None]) -> None:
        with self._lock:
            self._words = words
            self._snapshot = None


def _from_bytes(data: bytes) -> UserWords:
    return UserWords().from_bytes(data)


def read_user_words(path: StrPath, *, encoding: str = "utf-8") -> Iterator[tuple[str, str | None]]:
    r"""Yield (word, tag or None) of each line; see `read_lines` for files and encodings.

    A line is a word, or a word, a tab and its tag. White space around either is dropped, within a
    word it is part of it (`New York`), and blank lines are skipped. There are no comments: a line
    such as `#话题#` is a word.

    Raises CorpusError, besides the errors of `read_lines`, for lines with more than one tab, with a
    carriage return within, and for words and tags that `UserWords.add` refuses.
    """
    for number, line in read_lines(path, encoding=encoding):
        if not line.strip():
            continue
        word, *rest = line.split("\t")
        try:
            if len(rest) > 1:
                raise ValueError(
                    f"{len(rest)} tabs; a line is a word, or a word, one tab and its tag"
                )
            if "\r" in line.strip():
                raise ValueError(
                    "a carriage return within the line; convert the line ends of the file to line "
                    "feeds"
                )
            word = _checked(word.strip(), "word")
            tag = _checked(rest[0].strip(), "tag") if rest else None
        except ValueError as error:
            raise CorpusError(path, number, str(error)) from error
        yield word, tag


def _checked_words(words: Iterable[str | tuple[str, str | None]]) -> dict[str, str | None]:
    if isinstance(words, (str, bytes)):
        raise ValueError(f"{words!r} is one string; give a list of words")
    checked: dict[str, str | None] = {}
    for entry in words:
        word, tag = (entry, None) if isinstance(entry, str) else entry
        checked[_checked(word, "word")] = None if tag is None else _checked(tag, "tag")
    return checked


def _checked(given: Any, what: str) -> str:
    """A word or tag as an exact `str`; ValueError says why it cannot be listed."""
    if not isinstance(given, str):
        raise ValueError(f"the {what} {given!r} is no string")
    text = str.__str__(given)
    if not text:
        raise ValueError(f"the {what} is empty; leave it out")
    if len(text) > LONGEST_WORD:
        raise ValueError(
            f"the {what} {text[:20]!r}… has {len(text)} characters; {LONGEST_WORD} are the most"
        )
    if text != text.strip():
        raise ValueError(f"the {what} {text!r} begins or ends with white space; remove that")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the {what} {text!r} holds a lone surrogate at offset {error.start}, which stands for "
            "no character; remove it"
        ) from error
    return text
