"""Words that a user lists, and what they are to change: three modes.

``force``: the word is one token wherever it occurs, inside runs of Latin letters or digits too.
Where such words overlap one another, not all of them can be tokens: then the possible choices are
the *maximal* sets of occurrences, that is, sets in which no two overlap and to which no other
occurrence could be added. A decoder finds the best words of all that hold such a set
(`tasks.segmentation.text`).

``bonus``: a number is added to the score of every analysis that has the word as a token.

``prefer``: the word joins the lexicon that a model was trained with (`tasks.knowledge`), and what
the model has learned about listed words speaks for it.

What is matched are the characters as they stand, without folding case or width.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args
from weakref import WeakKeyDictionary

import msgpack
import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath
from spacy_structreg.corpora.files import read_lines, replace_bytes
from spacy_structreg.learn.model_file import (
    Arrays,
    SourceFile,
    field,
    is_model,
    model_bytes,
    parse_model,
)
from spacy_structreg.tasks.knowledge.known_words import KnownWords
from spacy_structreg.tasks.knowledge.lexicon import LONGEST_WORD, Lexicon

__all__ = [
    "LONGEST_WORD",
    "AnyWords",
    "CompiledWords",
    "Found",
    "Mode",
    "Occurrence",
    "UserWords",
    "WordEntry",
    "compiled",
    "leftmost_longest",
    "read_user_words",
    "whole_ends",
]

Mode: TypeAlias = Literal["force", "prefer", "bonus"]
"""Ways to take a listed word: always, preferred, or for a bonus."""

MOST_BONUS: Final = 1e6
"""The greatest bonus, and the least below zero: far beyond the scores of models."""

_FORMAT: Final = 1
_KIND: Final = "user words"
# Words are brought into the view of a model so many at a time.
_PORTION: Final = 10_000
# Longer files are mapped.
_COPIED_UP_TO: Final = 1 << 20
# Longer lists are stored as they are mapped.
_FEW_WORDS: Final = 10_000


class WordEntry(NamedTuple):
    """Entry of a listed word: its tag or None, its mode, and its bonus, or 0."""

    tag: str | None = None
    mode: Mode = "force"
    bonus: float = 0.0


class Found(NamedTuple):
    """Places of listed words in a text: those of words that are forced, and those with a bonus.

    Of shape (n, 3): start, end, and the number of the tag in the `tags` of the list, or -1; by
    start and then end. bonuses: float64 of shape (n,), those of `favored`.
    """

    forced: NDArray[np.int32]
    favored: NDArray[np.int32]
    bonuses: NDArray[np.float64]


class Occurrence(NamedTuple):
    """A listed word at a place of a text: `text[start:end]`, and its tag or None."""

    start: int
    end: int
    tag: str | None


class CompiledWords:
    """A list of words as it was at one moment, ready to be found in texts.

    It never changes, and threads may share it. words: each with its tag or None, or with its entry;
    not checked, as `UserWords` has done that. tags: their different tags.
    Raises ValueError if there are more than 65,535 different entries.
    """

    def __init__(self, words: Mapping[str, str | WordEntry | None]) -> None:
        said = {
            word: entry if isinstance(entry, WordEntry) else WordEntry(entry)
            for word, entry in sorted(words.items())
        }
        entries = sorted(set(said.values()), key=_order)
        if len(entries) > _MOST_ENTRIES:
            raise ValueError(
                f"the words have {len(entries):,} different combinations of tag, mode and bonus, "
                f"and {_MOST_ENTRIES:,} are the most; round the bonuses"
            )
        values = {entry: i + 1 for i, entry in enumerate(entries)}
        self._take(Lexicon(list(said), [values[entry] for entry in said.values()]), entries)

    def _take(self, lexicon: Lexicon, entries: Sequence[WordEntry]) -> None:
        self.lexicon = lexicon
        self.entries = tuple(entries)
        self.tags = tuple(sorted({entry.tag for entry in entries if entry.tag is not None}))
        numbers: dict[str | None, int] = {tag: i for i, tag in enumerate(self.tags)}
        self._tag_numbers = np.array([-1, *(numbers.get(e.tag, -1) for e in entries)], np.int32)
        self._bonuses = np.array([0.0, *(entry.bonus for entry in entries)])
        self._source: SourceFile | None = None
        modes = ["", *(entry.mode for entry in entries)]
        self._is_forced = np.array([mode == "force" for mode in modes])
        self._is_favored = np.array([mode == "bonus" for mode in modes])
        self.modes: frozenset[Mode] = frozenset(entry.mode for entry in entries)
        self._words: Mapping[str, str | None] | None = None
        self._lock = threading.Lock()
        self._as_known: WeakKeyDictionary[KnownWords, KnownWords] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self.lexicon)

    def __contains__(self, word: object) -> bool:
        return word in self.lexicon

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompiledWords):
            return NotImplemented
        return self.entries == other.entries and np.array_equal(
            self.lexicon.nodes, other.lexicon.nodes
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<CompiledWords: {len(self)} words>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _compiled_from_bytes, (self.to_bytes(),)

    def entry(self, word: str) -> WordEntry | None:
        """The entry of a word; None if it is not listed."""
        value = self.lexicon.get(word)
        return self.entries[value - 1] if value else None

    def items(self) -> list[tuple[str, WordEntry]]:
        """The words in the order of their code points, with their entries."""
        return [(word, self.entries[value - 1]) for word, value in self.lexicon.items()]

    @property
    def words(self) -> Mapping[str, str | None]:
        """The words in the order of their code points, each with its tag or None."""
        if self._words is None:
            self._words = MappingProxyType({word: entry.tag for word, entry in self.items()})
        return self._words

    def forced_tag(self, word: str) -> str | None:
        """The tag that a word must have: that of a listed word of mode ``force``, or None."""
        entry = self.entry(word)
        return entry.tag if entry is not None and entry.mode == "force" else None

    def look_up(self, text: str) -> Found:
        """The places of listed words in a text; those of mode ``prefer`` are left out."""
        if self._source is not None:
            self._source.check()
        places = self.lexicon.find(text)
        values = places[:, 2].copy()
        places[:, 2] = self._tag_numbers[values]
        if self.modes <= {"force"}:
            return Found(places, places[:0], self._bonuses[:0])
        favored = self._is_favored[values]
        return Found(
            places[self._is_forced[values]], places[favored], self._bonuses[values][favored]
        )

    def places(self, text: str) -> NDArray[np.int32]:
        """All places where words stand that are forced, by their start and then their end.

        Of shape (n, 3): start, end, and the number of the tag in `tags`, or -1. They may overlap
        and be nested: `a` and `aa` stand at five places in `aaa`. There are no more of them than
        the longest word has characters, times those of the text.
        """
        return self.look_up(text).forced

    def find(self, text: str) -> list[Occurrence]:
        """The `places` as occurrences."""
        return [
            Occurrence(start, end, None if tag < 0 else self.tags[tag])
            for start, end, tag in self.places(text).tolist()
        ]

    def known_as(self, known: KnownWords, seen: Callable[[str], str]) -> KnownWords:
        """The words of mode ``prefer``, as a model knows words.

        known: the words that it knows already; the new ones get the most usual frequency of these.
        seen: gives what the model sees of a text, of the same length.
        """
        with self._lock:
            as_known = self._as_known.get(known)
            if as_known is None:
                tags = [0, *(known.number_of(entry.tag) for entry in self.entries)]
                frequencies = np.full(len(tags), known.usual_frequency(), np.uint8)
                as_known = self._as_known[known] = KnownWords(
                    self._lexicon_of_preferred(seen),
                    frequencies,
                    np.array(tags, np.uint16),
                    known.tag_sets,
                )
            return as_known

    def _lexicon_of_preferred(self, seen: Callable[[str], str]) -> Lexicon:
        """The words of mode ``prefer`` as a model sees them, without white space."""
        characters = self.lexicon.characters()
        if self.modes <= {"prefer"} and seen(characters) == characters == _squeezed(characters):
            return self.lexicon
        values: dict[str, int] = {}
        listed = [
            item for item in self.lexicon.items() if self.entries[item[1] - 1].mode == "prefer"
        ]
        for first in range(0, len(listed), _PORTION):
            portion = listed[first : first + _PORTION]
            view = seen("".join(word for word, _ in portion))
            end = 0
            for word, value in portion:
                start, end = end, end + len(word)
                if squeezed := _squeezed(view[start:end]):
                    values[squeezed] = value
        ordered = sorted(values)
        return Lexicon(ordered, [values[word] for word in ordered])

    # Files ----------------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """The contents of the file that `write` writes; equal lists give equal bytes."""
        return model_bytes(*self._contents())

    def write(self, path: StrPath) -> None:
        """Write a file that `UserWords.load` maps, in one step."""
        with replace_bytes(path) as stream:
            stream.write(self.to_bytes())

    def _contents(self) -> tuple[dict[str, Any], Arrays]:
        entries, arrays = self.lexicon.contents()
        said = [list(entry) for entry in self.entries]
        return {"kind": _KIND, "lexicon": entries, "entries": said}, arrays

    @classmethod
    def from_bytes(cls, data: Any, *, name: str = "the list of user words") -> CompiledWords:
        """The words of a file's contents. Raises ValueError, naming it, for anything else."""
        header, arrays = parse_model(data, name=name, verify=False)
        try:
            if header.get("kind") != _KIND:
                raise ValueError("it holds no list of user words")
            said = field(header, "entries", list)
            entries = [
                WordEntry(*entry)
                for entry in said
                if isinstance(entry, list) and len(entry) == len(WordEntry._fields)
            ]
            if len(entries) != len(said) or entries != sorted(set(entries), key=_order):
                raise ValueError("its entries are damaged")
            for entry in entries:
                _check_entry(entry)
            # Every node is checked, so that checksums would find nothing that could do harm.
            lexicon = Lexicon.from_contents(field(header, "lexicon", dict), arrays, len(entries))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: {error}; compile the list again") from error
        words = cls.__new__(cls)
        words._take(lexicon, entries)
        return words

    @classmethod
    def read(cls, path: StrPath) -> CompiledWords:
        """The words of a file that `write` wrote, which is mapped if it is large.

        Raises ValueError, naming the file, if it is another one or damaged; OSError if it cannot be
        read.
        """
        source = SourceFile(path, mapped=os.path.getsize(path) > _COPIED_UP_TO)  # noqa: PTH202
        words = cls.from_bytes(source.data, name=str(path))
        words._source = source
        return words


def _compiled_from_bytes(data: bytes) -> CompiledWords:
    return CompiledWords.from_bytes(data)


_MOST_ENTRIES: Final = 65_535


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _order(entry: WordEntry) -> tuple[str, str, float]:
    return entry.mode, entry.tag or "", entry.bonus


def leftmost_longest(places: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Of places by start and end those taken from left to right, of each start the longest."""
    chosen: list[tuple[int, int]] = []
    for start, end, _ in places.tolist():
        if chosen and chosen[-1][0] == start:
            chosen[-1] = (start, end)
        elif not chosen or chosen[-1][1] <= start:
            chosen.append((start, end))
    return chosen


def whole_ends(ends: Sequence[int], places: NDArray[np.int32]) -> list[int]:
    """The ends of sentences that do not lie within a listed word, so that these stay whole.

    ends: rising, as `sentence_ends` gives them. places: by their start, as `Found` has them.
    """
    # How far the words reach that begin before an end; 0 where there is none.
    reach = np.concatenate(([0], np.maximum.accumulate(places[:, 1])))
    before = np.searchsorted(places[:, 0], ends, side="left")
    return [end for end, furthest in zip(ends, reach[before], strict=True) if furthest <= end]


class UserWords:
    """A list of words of a user, each with a mode, and with a tag if wanted; see the module.

    A word may hold any characters, spaces, Latin letters and punctuation included, but no white
    space at its ends, and 255 characters at most. Each has one tag or none, and one mode.

    Threads may change the list while others decode: a decoder takes a `snapshot`, which never
    changes, and each change is seen as a whole or not at all. A list that was loaded from a
    compiled file (`structreg compile-words`) is mapped, and copied when it is changed first.
    """

    def __init__(
        self, words: Words = (), *, mode: Mode | None = None, bonus: float | None = None
    ) -> None:
        """words: strings, or pairs of word and tag. Others and errors: as `update`."""
        self._lock = threading.Lock()
        # None if the snapshot holds all there is.
        self._words: dict[str, WordEntry] | None = _checked_words(words, _entry(mode, bonus))
        self._snapshot: CompiledWords | None = None

    def __len__(self) -> int:
        return len(self.snapshot() if self._words is None else self._words)

    def __contains__(self, word: object) -> bool:
        words = self._words
        return word in (self.snapshot() if words is None else words)

    def __iter__(self) -> Iterator[str]:
        """The words in the order of their code points, as they are now."""
        return iter(self.snapshot().words)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UserWords):
            return NotImplemented
        return self.snapshot() == other.snapshot()

    # It changes, so it is no key.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<UserWords: {len(self)} words>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (self.to_bytes(),)

    def tag(self, word: str) -> str | None:
        """The tag of a listed word, or None. Raises ValueError for a word that is not listed."""
        return self.entry(word).tag

    def entry(self, word: str) -> WordEntry:
        """The tag, mode and bonus of a word. Raises ValueError for one that is not listed."""
        words = self._words
        entry = self.snapshot().entry(word) if words is None else words.get(word)
        if entry is None:
            raise ValueError(f"the word {word!r} is not listed")
        return entry

    def add(
        self,
        word: str,
        tag: str | None = None,
        *,
        mode: Mode | None = None,
        bonus: float | None = None,
    ) -> None:
        """List a word; if it is listed already, it gets this tag, or none, and this mode.

        mode: ``"force"``, which is the default, ``"prefer"``, or ``"bonus"``, which goes without
            saying where there is one.
        bonus: what is added to the score of analyses with the word, between -1e6 and 1e6; of the
            size of the model's scores (`nbest` shows them).
        Raises ValueError for words and tags that are empty, begin or end with white space, have
        more than 255 characters, or hold lone surrogates, and for modes that do not exist.
        """
        self.update([(word, tag)], mode=mode, bonus=bonus)

    def update(self, words: Words, *, mode: Mode | None = None, bonus: float | None = None) -> None:
        """List many words at once; of a word that comes twice, the last tag counts.

        words: strings, or pairs of word and tag. mode, bonus: of all of them, as in `add`. Raises
        ValueError as `add`, and lists none then.
        """
        checked = _checked_words(words, _entry(mode, bonus))
        with self._lock:
            self._own_words().update(checked)
            self._snapshot = None

    def remove(self, word: str) -> None:
        """Take a word off the list. Raises ValueError if it is not listed."""
        with self._lock:
            words = self._own_words()
            if word not in words:
                raise ValueError(f"the word {word!r} is not listed")
            del words[word]
            self._snapshot = None

    def clear(self) -> None:
        """Take all words off the list."""
        self._swap({})

    def load(
        self,
        path: StrPath,
        *,
        mode: Mode | None = None,
        bonus: float | None = None,
        encoding: str = "utf-8",
        replace: bool = False,
    ) -> int:
        """List the words of a file, text (`read_user_words`) or compiled; returns their number.

        mode, bonus: of all of them, as in `add`; a compiled file says itself what each has.
        replace: whether they take the place of the words that are listed, in one step. If the file
            cannot be read to its end, the list stays as it was.
        Raises ValueError for a mode or a bonus of a compiled file.
        """
        entry = _entry(mode, bonus)
        if _is_compiled(path):
            if mode is not None or bonus is not None:
                raise ValueError(f"{path}: a compiled list has its modes; leave out mode and bonus")
            compiled = CompiledWords.read(path)
            with self._lock:
                # Emptiness is seen under the lock, so that nothing is lost.
                if replace or self._words == {}:
                    self._words, self._snapshot = None, compiled
                else:
                    self._own_words().update(compiled.items())
                    self._snapshot = None
            return len(compiled)
        words = _checked_words(read_user_words(path, encoding=encoding), entry)
        if replace:
            self._swap(words)
        else:
            with self._lock:
                self._own_words().update(words)
                self._snapshot = None
        return len(words)

    def snapshot(self) -> CompiledWords:
        """The list as it is now. It is compiled when it is asked for first, after a change."""
        snapshot = self._snapshot
        if snapshot is None:
            with self._lock:
                snapshot = self._snapshot
                if snapshot is None:
                    assert self._words is not None
                    snapshot = self._snapshot = CompiledWords(self._words)
        return snapshot

    def to_bytes(self) -> bytes:
        """The words and what is said of them; equal lists give equal bytes."""
        snapshot = self.snapshot()
        if len(snapshot) > _FEW_WORDS or not snapshot.modes <= {"force"}:
            return snapshot.to_bytes()
        words = [[word, tag] for word, tag in snapshot.words.items()]
        packed: bytes = msgpack.packb({"format": _FORMAT, "words": words})
        return packed

    def from_bytes(self, data: bytes) -> UserWords:
        """Take the words that `to_bytes` gave, in place of those that are listed; returns itself.

        Raises ValueError for anything else, and changes nothing then.
        """
        if is_model(data):
            compiled = CompiledWords.from_bytes(data)
            with self._lock:
                self._words, self._snapshot = None, compiled
            return self
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
        self._swap(_checked_words(((word, tag) for word, tag in words), WordEntry()))
        return self

    def read(self, path: StrPath) -> UserWords:
        """Take the words of a file that holds what `to_bytes` gave; as `from_bytes`.

        A large file is mapped. Raises OSError as well, if it cannot be read.
        """
        if _is_compiled(path):
            compiled = CompiledWords.read(path)
            with self._lock:
                self._words, self._snapshot = None, compiled
            return self
        with open(path, "rb") as stream:  # noqa: PTH123
            return self.from_bytes(stream.read())

    def _own_words(self) -> dict[str, WordEntry]:
        """The words, to be changed under the lock."""
        if self._words is None:
            assert self._snapshot is not None
            self._words = dict(self._snapshot.items())
        return self._words

    def _swap(self, words: dict[str, WordEntry]) -> None:
        with self._lock:
            self._words = words
            self._snapshot = None


Words: TypeAlias = Iterable[str | tuple[str, str | None]]
AnyWords: TypeAlias = UserWords | CompiledWords | Words
"""Whatever a list of words may be given as."""


def compiled(words: AnyWords | None) -> CompiledWords | None:
    """A list of words as it is now. Words that are no list of one of these classes are forced."""
    if words is None or isinstance(words, CompiledWords):
        return words
    return (words if isinstance(words, UserWords) else UserWords(words)).snapshot()


def _from_bytes(data: bytes) -> UserWords:
    return UserWords().from_bytes(data)


def _is_compiled(path: StrPath) -> bool:
    with open(path, "rb") as stream:  # noqa: PTH123
        return is_model(stream.read(64))


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


def _entry(mode: Mode | None, bonus: float | None) -> WordEntry:
    """The entry of words without a tag; see `UserWords.add`."""
    if mode is None:
        mode = "force" if bonus is None else "bonus"
    if mode == "bonus" and bonus is None:
        raise ValueError("the mode 'bonus' needs a bonus: a number, such as bonus=5.0")
    entry = WordEntry(None, mode, 0.0 if bonus is None else bonus)
    _check_entry(entry)
    return entry._replace(bonus=float(entry.bonus))


def _check_entry(entry: WordEntry) -> None:
    """Raise ValueError if the tag, the mode and the bonus are not such or do not go together."""
    if entry.tag is not None:
        _checked(entry.tag, "tag")
    if entry.mode not in get_args(Mode):
        raise ValueError(f"there is no mode {entry.mode!r}; choose force, prefer or bonus")
    bonus = entry.bonus
    if isinstance(bonus, bool) or not isinstance(bonus, (int, float)) or not math.isfinite(bonus):
        raise ValueError(f"the bonus {bonus!r} is no finite number")
    if abs(bonus) > MOST_BONUS:
        raise ValueError(f"the bonus {bonus} is not between -{MOST_BONUS:g} and {MOST_BONUS:g}")
    if bonus and entry.mode != "bonus":
        raise ValueError(f"words of mode {entry.mode!r} have no bonus; leave it out")


def _checked_words(words: Words, entry: WordEntry) -> dict[str, WordEntry]:
    if isinstance(words, (str, bytes)):
        raise ValueError(f"{words!r} is one string; give a list of words")
    checked: dict[str, WordEntry] = {}
    by_tag: dict[Any, WordEntry] = {None: entry}
    for given in words:
        word, tag = (given, None) if isinstance(given, str) else given
        if type(tag) not in (str, type(None)) or tag not in by_tag:
            by_tag[tag] = entry._replace(tag=_checked(tag, "tag"))
        checked[_checked(word, "word")] = by_tag[tag]
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
