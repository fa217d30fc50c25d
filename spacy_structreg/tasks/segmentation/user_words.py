"""User words: forced, preferred, or with a bonus.

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
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias, get_args
from weakref import WeakKeyDictionary, WeakSet

import msgpack
import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath
from spacy_structreg.corpora.tag_maps import listed_tag
from spacy_structreg.features.scripts import Script
from spacy_structreg.learn.model_file import (
    Arrays,
    SourceFile,
    field,
    is_model,
    is_model_file,
    model_bytes,
    parse_model,
)
from spacy_structreg.tasks.knowledge.known_words import KnownWords
from spacy_structreg.tasks.knowledge.lexicon import LONGEST_WORD, Lexicon
from spacy_structreg.tasks.segmentation.constraints import Constraints

if TYPE_CHECKING:
    from spacy_structreg.corpora.word_lists import WordListFormat

Mode: TypeAlias = Literal["force", "prefer", "bonus"]
"""Modes of a user word: forced, preferred, or with a bonus."""

MOST_BONUS: Final = 1e6
"""The greatest bonus, and the least below zero: far beyond the scores of models."""

_FORMAT: Final = 1
_KIND: Final = "user words"
# Words are brought into the view of a model so many at a time.
_PORTION: Final = 10_000
# So many words may have changed before a list is compiled anew.
_FEW_CHANGES: Final = 512
# Longer files are mapped.
_COPIED_UP_TO: Final = 1 << 20
# Longer lists are stored as they are mapped.
_FEW_WORDS: Final = 10_000


class WordEntry(NamedTuple):
    """Entry of a listed word: its tag or None, its mode, and its bonus, or 0."""

    tag: str | None = None
    mode: Mode = "force"
    bonus: float = 0.0


class Occurrence(NamedTuple):
    """A listed word at a place of a text: `text[start:end]`, and its tag or None."""

    start: int
    end: int
    tag: str | None


class CompiledWords:
    """A list of words as it was at one moment, ready to be found in texts.

    It never changes, and threads may share it. words: each with its tag or None, or with its entry;
    not checked, as `UserWords` has done that. tags: their different tags; model_tags: those that a
    model must give. further: entries that it has besides those of its words.
    Raises ValueError if there are more than 65,535 different entries.
    """

    def __init__(
        self, words: Mapping[str, str | WordEntry | None], further: Iterable[WordEntry] = ()
    ) -> None:
        said = {
            word: entry if isinstance(entry, WordEntry) else WordEntry(entry)
            for word, entry in sorted(words.items())
        }
        entries = sorted({*said.values(), *further}, key=_order)
        if len(entries) > _MOST_ENTRIES:
            raise ValueError(
                f"the words have {len(entries):,} different combinations of tag, mode and bonus, "
                f"and {_MOST_ENTRIES:,} are the most; round the bonuses"
            )
        values = {entry: i + 1 for i, entry in enumerate(entries)}
        self._take(Lexicon(list(said), [values[entry] for entry in said.values()]), entries)

    def _take(self, lexicon: Lexicon, entries: Sequence[WordEntry]) -> None:
        self._lexicon = lexicon
        self._entries = tuple(entries)
        self._say(entries)
        numbers: dict[str | None, int] = {tag: i for i, tag in enumerate(self.tags)}
        self._tag_numbers = np.array([-1, *(numbers.get(e.tag, -1) for e in entries)], np.int32)
        self._bonuses = np.array([0.0, *(entry.bonus for entry in entries)])
        self._source: SourceFile | None = None
        modes = ["", *(entry.mode for entry in entries)]
        self._is_forced = np.array([mode == "force" for mode in modes])
        self._has_bonus = np.array([mode == "bonus" for mode in modes])

    def _say(self, entries: Iterable[WordEntry]) -> None:
        """Index the distinct entries of the words."""
        tags = {(entry.tag, entry.mode) for entry in entries if entry.tag is not None}
        self.tags: tuple[str, ...] = tuple(sorted({tag for tag, _ in tags}))
        # Lists that join a lexicon have its tags.
        self.model_tags = frozenset(tag for tag, mode in tags if mode != "prefer")
        self.modes: frozenset[Mode] = frozenset(entry.mode for entry in entries)
        self._words: Mapping[str, str | None] | None = None
        self._lock = threading.Lock()
        self._as_known: WeakKeyDictionary[KnownWords, KnownWords] = WeakKeyDictionary()
        self._counts: Counter[WordEntry] | None = None
        # The script that it was seen by last, and as what.
        self._seen: tuple[Script, CompiledWords] | None = None

    @property
    def lexicon(self) -> Lexicon:
        """The words, each with the number of its entry, from 1."""
        return self._lexicon

    @property
    def entries(self) -> tuple[WordEntry, ...]:
        """The different entries of the words."""
        return self._entries

    def __len__(self) -> int:
        return len(self._lexicon)

    def __contains__(self, word: object) -> bool:
        return word in self._lexicon

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

    def entry_counts(self) -> Counter[WordEntry]:
        """The number of words with each entry."""
        if self._counts is None:
            self._counts = Counter(entry for _, entry in self.items())
        return self._counts

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

    def look_up(self, text: str) -> Constraints:
        """The places of listed words in a text; those of mode ``prefer`` are left out.

        Tags are those of the list.
        """
        if self._source is not None:
            self._source.check()
        places = self._find(text)
        values = places[:, 2].copy()
        places[:, 2] = self._tag_numbers[values]
        if self.modes <= {"force"}:
            return Constraints(places, tags=self.tags)
        has_bonus = self._has_bonus[values]
        return Constraints(
            places[self._is_forced[values]],
            places[has_bonus],
            self._bonuses[values][has_bonus],
            self.tags,
        )

    def _find(self, text: str) -> NDArray[np.int32]:
        """All places of listed words: start, end, and the number of the entry, from 1."""
        return self._lexicon.find(text)

    def places(self, text: str) -> NDArray[np.int32]:
        """All places where words stand that are forced, by their start and then their end.

        Of shape (n, 3): start, end, and the number of the tag in `tags`, or -1. They may overlap
        and be nested: `a` and `aa` stand at five places in `aaa`. There are no more of them than
        the longest word has characters, times those of the text.
        """
        return self.look_up(text).words

    def find(self, text: str) -> list[Occurrence]:
        """The `places` as occurrences."""
        return [
            Occurrence(start, end, None if tag < 0 else self.tags[tag])
            for start, end, tag in self.places(text).tolist()
        ]

    def normalized_by(self, script: Script | None) -> CompiledWords:
        """Return the words for a model with script normalization: they match in both ways of
        writing.

        Where a text has a word as it is listed, that entry counts; of words that look the same
        otherwise, the first by code points.
        """
        if script is None:
            return self
        seen = self._seen
        if seen is None or seen[0] is not script:
            seen = self._seen = (script, self._as_seen(script))
        return seen[1]

    def _as_seen(self, script: Script) -> CompiledWords:
        return _SeenWords(self.items(), script)

    def known_as(self, known: KnownWords, seen: Callable[[str], str]) -> KnownWords:
        """Return the words of mode ``prefer`` as `KnownWords`.

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
        """Return the normalized words of mode ``prefer``, without white space."""
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
        from spacy_structreg.corpora.files import replace_bytes

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
                raise ValueError("not a list of user words")
            said = field(header, "entries", list)
            entries = [
                WordEntry(*entry)
                for entry in said
                if isinstance(entry, list) and len(entry) == len(WordEntry._fields)
            ]
            if len(entries) != len(said) or entries != sorted(set(entries), key=_order):
                raise ValueError("the entries are damaged")
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


class _SeenWords(CompiledWords):
    """User words normalized by a script, matched in normalized texts."""

    def __init__(self, words: Iterable[tuple[str, WordEntry]], script: Script) -> None:
        said: dict[str, WordEntry] = {}
        # By their look, the words that have another entry than others of that look.
        self._rivals: dict[str, dict[str, WordEntry]] = {}
        for word, entry in words:
            look = script.normalize(word)
            if said.setdefault(look, entry) != entry:
                self._rivals.setdefault(look, {})[word] = entry
        super().__init__(
            said, (entry for rival in self._rivals.values() for entry in rival.values())
        )
        self._numbers = {entry: number for number, entry in enumerate(self.entries, 1)}
        self._script = script

    def _find(self, text: str) -> NDArray[np.int32]:
        look = self._script.normalize(text)
        places = super()._find(look)
        if self._rivals:
            for place in places:
                start, end, _ = place.tolist()
                entry = self._rivals.get(look[start:end], {}).get(text[start:end])
                if entry is not None:
                    place[2] = self._numbers[entry]
        return places


class _ChangedWords(CompiledWords):
    """A compiled list with a few later changes.

    It is compiled as a whole where it is asked for more than places in texts.
    """

    def __init__(
        self, base: CompiledWords, recent: CompiledWords, gone: frozenset[str] = frozenset()
    ) -> None:
        self._base = base
        self._recent = recent
        self._gone = gone
        self._whole: CompiledWords | None = None
        left = [*base.entries, *recent.entries]
        if gone:
            lost = Counter(entry for word in gone if (entry := base.entry(word)) is not None)
            counts = base.entry_counts() - lost
            left = [*counts.keys(), *recent.entries]
        self._say(left)
        numbers = {tag: i for i, tag in enumerate(self.tags)}
        self._renumbered = [
            np.array([*(numbers.get(tag, -1) for tag in each.tags), -1], np.int32)
            for each in (base, recent)
        ]

    def whole(self) -> CompiledWords:
        """The same list, compiled anew."""
        if self._whole is None:
            words = {word: entry for word, entry in self._base.items() if word not in self._gone}
            self._whole = CompiledWords({**words, **dict(self._recent.items())})
        return self._whole

    @property
    def lexicon(self) -> Lexicon:
        return self.whole().lexicon

    @property
    def entries(self) -> tuple[WordEntry, ...]:
        return self.whole().entries

    def __len__(self) -> int:
        return len(self._base) - len(self._gone) + len(self._recent)

    def __contains__(self, word: object) -> bool:
        return word in self._recent or (word not in self._gone and word in self._base)

    def entry(self, word: str) -> WordEntry | None:
        recent = self._recent.entry(word)
        return recent if recent is not None or word in self._gone else self._base.entry(word)

    def look_up(self, text: str) -> Constraints:
        base, recent = (each.look_up(text) for each in (self._base, self._recent))
        if self._gone:
            kept, also = (self._are_there(text, each) for each in (base.words, base.bonus_words))
            base = Constraints(base.words[kept], base.bonus_words[also], base.bonuses[also])
        words, _ = self._together([base.words, recent.words])
        bonus_words, order = self._together([base.bonus_words, recent.bonus_words])
        bonuses = np.concatenate([base.bonuses, recent.bonuses])[order]
        return Constraints(words, bonus_words, bonuses, self.tags)

    def _are_there(self, text: str, places: NDArray[np.int32]) -> NDArray[np.bool_]:
        return np.array(
            [text[start:end] not in self._gone for start, end, _ in places.tolist()], dtype=bool
        )

    def _together(
        self, places: Sequence[NDArray[np.int32]]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Places of both lists by start and end, with tags of this one; and their order."""
        both = [each.copy() for each in places]
        for each, renumbered in zip(both, self._renumbered, strict=True):
            each[:, 2] = renumbered[each[:, 2]]
        joined = np.concatenate(both)
        order = np.lexsort((joined[:, 1], joined[:, 0]))
        return joined[order], order

    def known_as(self, known: KnownWords, seen: Callable[[str], str]) -> KnownWords:
        gone = (self._base.entry(word) for word in self._gone)
        if "prefer" in self._recent.modes or any(each and each.mode == "prefer" for each in gone):
            return self.whole().known_as(known, seen)
        return self._base.known_as(known, seen)

    def _as_seen(self, script: Script) -> CompiledWords:
        base = self._base.normalized_by(script)
        looks = [script.normalize(word) for word, _ in self._recent.items()]
        if self._gone or any(look in base.lexicon for look in looks):
            return self.whole().normalized_by(script)
        return _ChangedWords(base, self._recent.normalized_by(script))


def _compiled_from_bytes(data: bytes) -> CompiledWords:
    return CompiledWords.from_bytes(data)


_MOST_ENTRIES: Final = 65_535


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _order(entry: WordEntry) -> tuple[str, str, float]:
    return entry.mode, entry.tag or "", entry.bonus


def leftmost_longest(places: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Select non-overlapping occurrences from left to right, the longest at each start."""
    chosen: list[tuple[int, int]] = []
    for start, end, _ in places.tolist():
        if chosen and chosen[-1][0] == start:
            chosen[-1] = (start, end)
        elif not chosen or chosen[-1][1] <= start:
            chosen.append((start, end))
    return chosen


def whole_ends(ends: Sequence[int], places: NDArray[np.int32]) -> list[int]:
    """The ends of sentences that do not lie within a listed word, so that these stay whole.

    ends: rising, as `sentence_ends` gives them. places: by their start, as `Constraints` have them.
    """
    # How far the words reach that begin before an end; 0 where there is none.
    reach = np.concatenate(([0], np.maximum.accumulate(places[:, 1])))
    before = np.searchsorted(places[:, 0], ends, side="left")
    return [end for end, furthest in zip(ends, reach[before], strict=True) if furthest <= end]


class ChecksTags(Protocol):
    """Protocol of a user of listed words that supports a fixed set of tags, or any if it has none
    yet."""

    @property
    def known_tags(self) -> Collection[str]: ...

    def check_tags(self, words: CompiledWords) -> None: ...


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
        # What was compiled as a whole last, and the words that have changed since.
        self._base: CompiledWords | None = None
        self._changed: set[str] = set()
        self.users: WeakSet[ChecksTags] = WeakSet()
        """Users of the list that check the tags of added words."""

    def _check_tags(self, words: Mapping[str, WordEntry] | CompiledWords) -> None:
        """Raise ValueError if a user of the list does not know a tag of new words."""
        if not self.users:
            return
        if not isinstance(words, CompiledWords):
            # One word of each entry shows it.
            tagged = {entry: word for word, entry in words.items() if entry.tag is not None}
            if not tagged:
                return
            words = CompiledWords({word: entry for entry, word in tagged.items()})
        for user in list(self.users):
            user.check_tags(words)

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
        more than 255 characters, or hold lone surrogates, for entries of dictionaries (``创新办 3
        i``, ``台中 ns``) unless they come with a tag, for modes that do not exist, and, if a
        trained tokenizer has the list, for tags that it does not know, except in mode ``prefer``.
        """
        self.update([(word, tag)], mode=mode, bonus=bonus)

    def update(self, words: Words, *, mode: Mode | None = None, bonus: float | None = None) -> None:
        """List many words at once; of a word that comes twice, the last tag counts.

        words: strings, or pairs of word and tag. mode, bonus: of all of them, as in `add`. Raises
        ValueError as `add`, and lists none then.
        """
        checked = _checked_words(words, _entry(mode, bonus))
        self._check_tags(checked)
        with self._lock:
            self._change(checked)

    def remove(self, word: str) -> None:
        """Take a word off the list. Raises ValueError if it is not listed."""
        with self._lock:
            words = self._own_words()
            if word not in words:
                raise ValueError(f"the word {word!r} is not listed")
            del words[word]
            self._changed.add(word)
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
        format: WordListFormat | None = None,
        tags: Collection[str] | None = None,
        replace: bool = False,
    ) -> int:
        """List the words of a file, text (`read_user_words`) or compiled; returns their number.

        mode, bonus: of all of them, as in `add`; a compiled file says itself what each has.
        format, tags: of a text, as of `read_user_words`. Without tags, they are those of the
            tokenizer that has the list, if it gives any; in mode ``prefer``, of the file.
        replace: whether they take the place of the words that are listed, in one step. If the file
            cannot be read to its end, the list stays as it was.
        Raises ValueError for a mode or a bonus of a compiled file, and for tags as `add`.
        """
        entry = _entry(mode, bonus)
        if is_model_file(path):
            if mode is not None or bonus is not None:
                raise ValueError(f"{path}: a compiled list has its modes; leave out mode and bonus")
            compiled = CompiledWords.read(path)
            self._check_tags(compiled)
            with self._lock:
                # Emptiness is seen under the lock, so that nothing is lost.
                if replace or self._words == {}:
                    self._take(compiled)
                else:
                    self._change(dict(compiled.items()))
            return len(compiled)
        if tags is None and entry.mode != "prefer":
            tags = next((user.known_tags for user in self.users if user.known_tags), None)
        lines = read_user_words(path, encoding=encoding, format=format, tags=tags)
        words = _checked_words(lines, entry, as_they_stand=True)
        self._check_tags(words)
        if replace:
            self._swap(words)
        else:
            with self._lock:
                self._change(words)
        return len(words)

    def snapshot(self) -> CompiledWords:
        """The list as it is now. It is compiled when it is asked for first, after a change."""
        snapshot = self._snapshot
        if snapshot is None:
            with self._lock:
                snapshot = self._snapshot
                if snapshot is None:
                    snapshot = self._snapshot = self._compile()
        return snapshot

    def _compile(self) -> CompiledWords:
        """The words as they are: compiled anew, or as changes of what was compiled before."""
        assert self._words is not None
        base, changed = self._base, self._changed
        if base is None or len(changed) > _FEW_CHANGES:
            self._base, self._changed = CompiledWords(self._words), set()
            return self._base
        recent = CompiledWords({word: self._words[word] for word in changed & self._words.keys()})
        return _ChangedWords(base, recent, frozenset(word for word in changed if word in base))

    def to_bytes(self) -> bytes:
        """Serialize the words with tag, mode and bonus; equal lists give equal bytes."""
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
                self._take(compiled)
            return self
        try:
            content = msgpack.unpackb(data)
        except (ValueError, msgpack.exceptions.UnpackException, RecursionError) as error:
            raise ValueError(f"the list of user words cannot be read ({error})") from error
        if not isinstance(content, dict) or content.keys() != {"format", "words"}:
            raise ValueError("not a serialized list of user words; write it again with to_bytes")
        if content["format"] != _FORMAT:
            raise ValueError(
                f"the list of user words has the format {content['format']!r}, and this version "
                f"of the package reads {_FORMAT}; write it again with to_bytes"
            )
        words = content["words"]
        if not isinstance(words, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in words
        ):
            raise ValueError("the list of user words is damaged; write it again with to_bytes")
        pairs = ((word, tag) for word, tag in words)
        self._swap(_checked_words(pairs, WordEntry(), as_they_stand=True))
        return self

    def read(self, path: StrPath) -> UserWords:
        """Take the words of a file that holds what `to_bytes` gave; as `from_bytes`.

        A large file is mapped. Raises OSError as well, if it cannot be read.
        """
        if is_model_file(path):
            compiled = CompiledWords.read(path)
            with self._lock:
                self._take(compiled)
            return self
        with open(path, "rb") as stream:  # noqa: PTH123
            return self.from_bytes(stream.read())

    def _own_words(self) -> dict[str, WordEntry]:
        """The words, to be changed under the lock."""
        if self._words is None:
            assert self._snapshot is not None
            self._words = dict(self._snapshot.items())
        return self._words

    def _change(self, words: dict[str, WordEntry]) -> None:
        """List words, under the lock."""
        self._own_words().update(words)
        self._changed.update(words)
        self._snapshot = None

    def _take(self, compiled: CompiledWords) -> None:
        """List the words of a compiled list alone, under the lock."""
        self._words, self._snapshot = None, compiled
        self._base, self._changed = compiled, set()

    def _swap(self, words: dict[str, WordEntry]) -> None:
        with self._lock:
            self._words = words
            self._snapshot = self._base = None
            self._changed = set()


Words: TypeAlias = Iterable[str | tuple[str, str | None]]
AnyWords: TypeAlias = UserWords | CompiledWords | Words
"""Types accepted as a list of words."""


def compiled(words: AnyWords | None) -> CompiledWords | None:
    """A list of words as it is now. Words that are no list of one of these classes are forced."""
    if words is None or isinstance(words, CompiledWords):
        return words
    return (words if isinstance(words, UserWords) else UserWords(words)).snapshot()


def _from_bytes(data: bytes) -> UserWords:
    return UserWords().from_bytes(data)


def read_user_words(
    path: StrPath,
    *,
    encoding: str = "utf-8",
    format: WordListFormat | None = None,
    tags: Collection[str] | None = None,
) -> Iterator[tuple[str, str | None]]:
    """Yield (word, tag or None) of each word of a file.

    See `corpora.word_lists.read_word_list` for formats, and what the first lines tell of them.
    White space around a word is dropped, within it is part of it (`New York`).

    tags: those of the model, to which the tags of the file are mapped
        (`corpora.tag_maps.listed_tag`). None leaves them as they are, if the format is ours, and
        takes the words alone of others, as their tags are not those of a model.

    Raises CorpusError, besides the errors of `read_lines`, for lines that are not of the format,
    for words and tags that `UserWords.add` refuses, and for tags that cannot be mapped.
    """
    from spacy_structreg.corpora.word_lists import numbered_word_list

    found, entries = numbered_word_list(path, format=format, encoding=encoding)
    for number, entry in entries:
        try:
            word = _checked(entry.word, "word")
            if found == "words" and len(entry.tags) > 1:
                raise ValueError(f"the word {word!r} has {len(entry.tags)} tags; give it one")
            if tags is not None:
                mapped = {listed_tag(tag, tags) for tag in entry.tags}
            else:
                mapped = {*entry.tags} if found == "words" else set()
        except ValueError as error:
            raise CorpusError(path, number, str(error)) from error
        yield word, mapped.pop() if len(mapped) == 1 else None


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
        raise ValueError(f"unknown mode {entry.mode!r}; choose force, prefer or bonus")
    bonus = entry.bonus
    if isinstance(bonus, bool) or not isinstance(bonus, (int, float)) or not math.isfinite(bonus):
        raise ValueError(f"bonus must be a finite number, got {bonus!r}")
    if abs(bonus) > MOST_BONUS:
        raise ValueError(f"bonus must be between -{MOST_BONUS:g} and {MOST_BONUS:g}, got {bonus}")
    if bonus and entry.mode != "bonus":
        raise ValueError(f"words of mode {entry.mode!r} have no bonus; leave it out")


def _checked_words(
    words: Words, entry: WordEntry, *, as_they_stand: bool = False
) -> dict[str, WordEntry]:
    """Words with their entries. as_they_stand: whether they may look like lines with tags."""
    if isinstance(words, (str, bytes)):
        raise ValueError(f"expected a list of words, got the string {words!r}")
    checked: dict[str, WordEntry] = {}
    by_tag: dict[Any, WordEntry] = {None: entry}
    for given in words:
        word, tag = (given, None) if isinstance(given, str) else given
        if type(tag) not in (str, type(None)) or tag not in by_tag:
            by_tag[tag] = entry._replace(tag=_checked(tag, "tag"))
        listed = _checked(word, "word")
        if tag is None and not (as_they_stand or listed.isalnum()):
            from spacy_structreg.corpora.word_lists import check_word_alone

            check_word_alone(listed)
        checked[listed] = by_tag[tag]
    return checked


def _checked(given: Any, what: str) -> str:
    """A word or tag as an exact `str`; ValueError says why it cannot be listed."""
    if not isinstance(given, str):
        raise ValueError(f"expected a {what} as str, got {given!r}")
    text = str.__str__(given)
    if not text:
        raise ValueError(f"the {what} is empty; leave it out")
    if len(text) > LONGEST_WORD:
        raise ValueError(
            f"the {what} {text[:20]!r}… has {len(text)} characters; {LONGEST_WORD} are the most"
        )
    if what == "word" and " " in text:
        from spacy_structreg.corpora.word_lists import has_frequency_and_tag

        if has_frequency_and_tag(text):
            raise ValueError(
                f"the {what} {text!r} looks like an entry of a dictionary of jieba, with frequency "
                "and tag; leave these out"
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
