"""Words that a user lists, and which of their places in a text can be tokens together.

A listed word is one token wherever it occurs, inside runs of Latin letters or digits too; what is
matched are the characters as they stand, without folding case or width. Where listed words overlap
one another, not all of them can be tokens: then the possible choices are the *maximal* sets of
occurrences, that is, sets in which no two overlap and to which no other occurrence could be added.
A decoder tries the sets of a cluster and keeps the one its model scores best.
"""

from __future__ import annotations

import sys
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

import msgpack

from spacy_structreg.corpora.errors import CorpusError, StrPath
from spacy_structreg.corpora.files import read_lines
from spacy_structreg.tasks.word_trie import WordTrie

__all__ = [
    "LONGEST_WORD",
    "MOST_ALTERNATIVES",
    "Cluster",
    "CompiledWords",
    "Occurrence",
    "UserWords",
    "read_user_words",
    "whole_ends",
]

# Characters of a word, and of a tag. It bounds the work a character of text can cost.
LONGEST_WORD: Final = 255
# Sets of occurrences that a decoder has to try for a cluster.
MOST_ALTERNATIVES: Final = 16
# Of words that start at the same character, so many compete in a cluster: the shortest and the
# longest ones. The shortest is among them, so that a set is maximal among all occurrences if it is
# among those.
_MOST_NESTED: Final = 16
_FORMAT: Final = 1


class Occurrence(NamedTuple):
    """A listed word at a place of a text: `text[start:end]`, and its tag or None."""

    start: int
    end: int
    tag: str | None


class Cluster(NamedTuple):
    """Occurrences that hang together by overlaps, from `start` to `end`.

    alternatives: the sets of occurrences that a decoder has to choose from, one at least, each from
    left to right. With one alternative, nothing overlaps and all of it is forced. In the order of
    the alternatives, an earlier word comes first, and of words with the same start the longer one:
    the first is that of leftmost longest matching.
    """

    start: int
    end: int
    alternatives: tuple[tuple[Occurrence, ...], ...]


# A set of occurrences that grows to the right: its last occurrence by number, and the set before.
_Chain: TypeAlias = "tuple[_Chain, int] | None"


class CompiledWords:
    """A list of words as it was at one moment, ready to be found in texts.

    It never changes, and threads may share it. words: each with its tag or None; not checked, as
    `UserWords` has done that.
    """

    __slots__ = ("_tags", "_trie", "words")

    def __init__(self, words: Mapping[str, str | None]) -> None:
        ordered = sorted(words)
        self.words: Mapping[str, str | None] = MappingProxyType(
            {word: words[word] for word in ordered}
        )
        self._trie = WordTrie(ordered)
        self._tags = list(self.words.values())

    def __len__(self) -> int:
        return len(self.words)

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledWords, (dict(self.words),)

    def find(self, text: str) -> list[Occurrence]:
        """All places where listed words stand, by their start and then their end.

        They may overlap and be nested: `a` and `aa` stand at five places in `aaa`.
        """
        tags = self._tags
        return [Occurrence(start, end, tags[word]) for start, end, word in self._trie.find(text)]

    def clusters(self, text: str, most: int = MOST_ALTERNATIVES) -> list[Cluster]:
        """The clusters of listed words in a text, from left to right; none overlaps another.

        Every choice of one alternative from each cluster is a maximal set of occurrences of the
        whole text, and without a cap each maximal set is such a choice. There can be exponentially
        many (`aa` in a run of a's), and so at most `most` are given for a cluster. If there are
        more, the cluster is cut by this rule: go from left to right over the ends of words, and
        count the ways to choose words up to each of them. Before the first end with more than
        `most` ways (or where the cluster is over in more than `most` ways), cut behind the end
        before it. The ways to that end are the alternatives, those without a word that ends there
        are left out, and the words that start behind it are clusters of their own. If already the
        very first end has more ways, the longest words that end there are the alternatives. Of
        words that start at the same character, the shortest and the 15 longest count.

        The work is linear in the length of the text, times a number that depends on the list.
        Raises ValueError if `most` is below 1.
        """
        if most < 1:
            raise ValueError(f"most is {most}; a cluster has one alternative or more")
        return list(_clusters(self._trie.find(text, _MOST_NESTED), self._tags, most))


# Start, end, and the number of the word.
_Found: TypeAlias = "Sequence[tuple[int, int, int]]"


def _clusters(found: _Found, tags: Sequence[str | None], most: int) -> Iterator[Cluster]:
    starts = [start for start, _, _ in found]
    # The first end of each occurrence and all to the right of it.
    first_ends = [end for _, end, _ in found]
    for i in range(len(found) - 2, -1, -1):
        first_ends[i] = min(first_ends[i], first_ends[i + 1])
    i, n = 0, len(found)
    while i < n:
        start, end, word = found[i]
        if i + 1 == n or starts[i + 1] >= end:
            yield Cluster(start, end, ((Occurrence(start, end, tags[word]),),))
            i += 1
            continue
        chains, end, i = _chains(found, starts, first_ends, i, most)
        alternatives = [
            tuple(Occurrence(*found[k][:2], tags[found[k][2]]) for k in _unrolled(chain))
            for chain in chains
        ]
        alternatives.sort(key=lambda chosen: [(word.start, -word.end) for word in chosen])
        yield Cluster(start, end, tuple(alternatives))


def _chains(
    found: _Found, starts: Sequence[int], first_ends: Sequence[int], begin: int, most: int
) -> tuple[list[_Chain], int, int]:
    """The alternatives of the cluster that begins with occurrence `begin`, as `clusters` has them.

    Also its end, and the first occurrence behind it. A set is maximal when no gap has an occurrence
    within, be it before a word or behind the last: each word starts before the first end among the
    occurrences that start in the gap or later.
    """
    n = len(found)
    # Of each end of a word, the sets whose last word ends there: `most` + 1 at most.
    ending: dict[int, list[_Chain]] = {starts[begin]: [None]}
    ends = [starts[begin]]
    complete: list[_Chain] = []
    kept: tuple[list[_Chain], int] | None = None
    # The first occurrence that starts behind the present end, and the last end before it.
    behind = begin
    reach = -1
    # An end with too many ways; nothing behind it matters any more.
    limit = sys.maxsize
    while ends:
        end = heappop(ends)
        chains = ending.pop(end)
        if chains[0] is not None:
            if len(chains) > most:
                # At the first end, each set is one word, and the longest stand first.
                kept = kept or (chains[:most], end)
                break
            kept = (chains, end)
        while behind < n and starts[behind] < end:
            reach = max(reach, found[behind][1])
            behind += 1
        if chains[0] is not None and (behind == n or starts[behind] >= reach):
            if len(complete) + len(chains) > most:
                break
            complete += chains
            continue
        candidate = behind
        while candidate < n and starts[candidate] < min(first_ends[behind], limit):
            target = found[candidate][1]
            if target <= limit:
                if target not in ending:
                    ending[target] = []
                    heappush(ends, target)
                there = ending[target]
                there += [(chain, candidate) for chain in chains[: most + 1 - len(there)]]
                if len(there) > most:
                    limit = target
            candidate += 1
    else:
        return complete, reach, behind
    assert kept is not None
    chains, end = kept
    return chains, end, bisect_left(starts, end)


def _unrolled(chain: _Chain) -> list[int]:
    chosen = []
    while chain is not None:
        chain, last = chain
        chosen.append(last)
    chosen.reverse()
    return chosen


def whole_ends(ends: Sequence[int], clusters: Sequence[Cluster]) -> list[int]:
    """The ends of sentences that do not lie within a cluster, so that its words stay whole.

    ends: rising, as `sentence_ends` gives them.
    """
    kept = []
    i = 0
    for end in ends:
        while i < len(clusters) and clusters[i].end <= end:
            i += 1
        if i == len(clusters) or clusters[i].start >= end:
            kept.append(end)
    return kept


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
