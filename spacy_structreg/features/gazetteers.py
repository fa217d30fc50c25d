"""Gazetteers: lists of phrases, matched in sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypedDict

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath
from spacy_structreg.corpora.files import read_lines
from spacy_structreg.corpora.word_lists import has_frequency_and_tag
from spacy_structreg.features.word_fields import lower_case

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

MAX_PHRASE: Final = 64
"""Most tokens of a phrase."""


class GazetteerLists(TypedDict):
    """Gazetteers as plain values: `Gazetteers(**plain)` makes them again."""

    lists: dict[str, list[str]]
    lower: bool
    characters: bool


class Gazetteers:
    """Named lists of phrases.

    lists: the phrases of each list; their tokens are parted by white space.
    lower: whether the case of phrases and tokens is left out of account.
    characters: whether each character is a token; phrases then need no white space.
    Raises ValueError for lists without a name or phrases, names with white space, and phrases that
    are empty, no strings, not encodable in UTF-8 or longer than `MAX_PHRASE` tokens.
    """

    def __init__(
        self,
        lists: Mapping[str, Iterable[str]],
        *,
        lower: bool = False,
        characters: bool = False,
    ) -> None:
        if not isinstance(lists, Mapping):
            raise ValueError("gazetteers must be a mapping from names to lists of phrases")
        for name in lists:
            if not isinstance(name, str) or name.split() != [name] or not _encodable(name):
                raise ValueError(
                    f"{name!r} cannot be the name of a gazetteer; use a word without white space"
                )
        self.lower = bool(lower)
        self.characters = bool(characters)
        self.names = tuple(sorted(lists))
        # The phrases of each list, sorted, with one space between tokens.
        self._lists: dict[str, list[str]] = {}
        # The numbers of the lists that have a phrase, rising.
        self._found: dict[str, tuple[int, ...]] = {}
        # The length of the longest phrase of several tokens that begins so.
        self._longest: dict[str, int] = {}
        for number, name in enumerate(self.names):
            self._add(number, name, lists[name])

    @classmethod
    def from_files(
        cls,
        paths: Mapping[str, StrPath],
        *,
        lower: bool = False,
        characters: bool = False,
        encoding: str = "utf-8",
    ) -> Gazetteers:
        """Read each list from a file, one phrase a line; empty lines are passed over.

        Names ending in .gz and .xz are decompressed. Raises CorpusError as `read_lines` does, and
        for lines that are too long; ValueError as the class does.
        """
        lists: dict[str, list[str]] = {}
        for name, path in paths.items():
            phrases = lists[name] = []
            for number, line in read_lines(path, encoding=encoding):
                if not line.strip():
                    continue
                try:
                    if has_frequency_and_tag(line):
                        raise ValueError(
                            f"{line.strip()!r} looks like an entry of a dictionary of jieba, with "
                            "frequency and tag; leave these out"
                        )
                    _tokens(line, characters)
                except ValueError as error:
                    raise CorpusError(path, number, str(error)) from error
                phrases.append(line)
            if not phrases:
                raise CorpusError(path, 1, "no phrase in the file; write one a line")
        return cls(lists, lower=lower, characters=characters)

    def _add(self, number: int, name: str, phrases: Iterable[str]) -> None:
        if isinstance(phrases, str) or not isinstance(phrases, Iterable):
            raise ValueError(f"the gazetteer {name!r} must be a list of phrases")
        phrases = list(phrases)
        if not phrases:
            raise ValueError(f"the gazetteer {name!r} is empty; leave it out")
        if set(map(type, phrases)) != {str}:
            for phrase in phrases:
                if not isinstance(phrase, str):
                    raise ValueError(
                        f"the gazetteer {name!r} has {phrase!r:.80} among its phrases; "
                        "phrases are strings"
                    )
        if self.lower:
            phrases = list(map(lower_case, phrases))
        try:
            phrases = sorted(dict.fromkeys(self._parted(phrases)))
        except ValueError as error:
            raise ValueError(f"the gazetteer {name!r}: {error}") from error
        self._lists[name] = phrases
        found = self._found
        shared = {phrase: (*found[phrase], number) for phrase in found.keys() & phrases}
        found.update(dict.fromkeys(phrases, (number,)))
        found.update(shared)

    def _parted(self, phrases: list[str]) -> list[str]:
        """Phrases with one space between tokens; remembers how long they are."""
        if not self.characters and "\n".join(phrases).split() == phrases:
            # Each is a single token.
            if not _encodable("".join(phrases)):
                for phrase in phrases:
                    _tokens(phrase, self.characters)
            return phrases
        longest = self._longest
        parted = []
        for phrase in phrases:
            tokens = _tokens(phrase, self.characters)
            if len(tokens) > longest.get(tokens[0], 1):
                longest[tokens[0]] = len(tokens)
            parted.append(" ".join(tokens))
        return parted

    def as_dict(self) -> GazetteerLists:
        """Everything as plain values, sorted, for a model file."""
        lists = {
            name: [phrase.replace(" ", "") for phrase in phrases]
            if self.characters
            else list(phrases)
            for name, phrases in self._lists.items()
        }
        return {"lists": lists, "lower": self.lower, "characters": self.characters}

    def normalized_by(self, normalize: Callable[[str], str]) -> Gazetteers:
        """Return the gazetteers with their phrases normalized by a function of characters.

        normalize: gives a text of the same length.
        """
        # A list in one call; no character becomes a line break, nor a line break anything else.
        lists = {
            name: normalize("\n".join(phrases)).split("\n") for name, phrases in self._lists.items()
        }
        return Gazetteers(lists, lower=self.lower, characters=self.characters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gazetteers) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash((self.names, self.lower, self.characters, frozenset(self._found)))

    def __repr__(self) -> str:
        return f"Gazetteers of {len(self._found):,} phrases ({', '.join(self.names)})"

    def __reduce__(self) -> tuple[object, ...]:
        plain = self.as_dict()
        return _gazetteers, (plain["lists"], plain["lower"], plain["characters"])

    @property
    def values(self) -> tuple[str, ...]:
        """All values that a token may have."""
        return tuple(f"{place}-{name}" for name in self.names for place in "BI")

    def match(self, tokens: Sequence[str]) -> list[list[str]]:
        """The values of each token: ``B-city`` where a phrase of the list `city` begins, ``I-city``
        inside it; sorted by list.

        Each list is searched on its own, from left to right, for the longest phrase that begins at
        a token; phrases do not overlap.
        """
        n = len(tokens)
        # No phrase has a token with a space in it.
        seen = ["" if " " in token else token for token in tokens]
        if self.lower:
            seen = list(map(lower_case, seen))
        found, longest = self._found, self._longest
        if not longest:
            none: list[str] = []
            return [
                [f"B-{self.names[number]}" for number in found[token]] if token in found else none
                for token in seen
            ]
        places: list[dict[int, str]] = [{} for _ in range(n)]
        for start, token in enumerate(seen):
            for size in range(min(longest.get(token, 1), n - start), 0, -1):
                phrase = token if size == 1 else " ".join(seen[start : start + size])
                for number in found.get(phrase, ()):
                    # Already inside a phrase, or the first token of a longer one.
                    if number not in places[start]:
                        places[start][number] = "B"
                        for inside in range(start + 1, start + size):
                            places[inside][number] = "I"
        matches: list[list[str]] = [[] for _ in places]
        for match, of_token in zip(matches, places, strict=True):
            for number, place in sorted(of_token.items()):
                match.append(f"{place}-{self.names[number]}")
        return matches


def _gazetteers(lists: dict[str, list[str]], lower: bool, characters: bool) -> Gazetteers:
    return Gazetteers(lists, lower=lower, characters=characters)


def _encodable(text: str) -> bool:
    return _SURROGATE.search(text) is None


def _tokens(phrase: str, characters: bool) -> tuple[str, ...]:
    """The tokens of a phrase."""
    parts = phrase.split()
    tokens = tuple("".join(parts)) if characters else tuple(parts)
    if not tokens:
        raise ValueError(f"the phrase {phrase!r:.80} is empty; leave it out")
    if len(tokens) > MAX_PHRASE:
        raise ValueError(
            f"the phrase {phrase[:40]!r}… has {len(tokens):,} tokens, and {MAX_PHRASE} is the "
            "limit; write one phrase a line"
        )
    if not _encodable(phrase):
        raise ValueError(f"the phrase {phrase!r:.80} has a lone surrogate; remove it")
    return tokens
