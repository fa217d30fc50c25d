"""Gazetteers: lists of phrases, matched in sentences."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, TypedDict

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath
from spacy_structreg.features.word_fields import lower_case

_SPACE: Final = re.compile(r"[^\S\n]")

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
        self._lists = {name: self._checked(name, lists[name]) for name in self.names}

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
        from spacy_structreg.corpora.files import read_lines
        from spacy_structreg.corpora.word_lists import has_frequency_and_tag

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

    def _checked(self, name: str, phrases: Iterable[str]) -> list[str]:
        """The phrases of a list, sorted, with one space between tokens."""
        if isinstance(phrases, str) or not isinstance(phrases, Iterable):
            raise ValueError(f"the gazetteer {name!r} must be a list of phrases")
        phrases = list(phrases)
        if not phrases:
            raise ValueError(f"the gazetteer {name!r} is empty; leave it out")
        try:
            text = "\n".join(phrases)
        except TypeError:
            wrong = next(phrase for phrase in phrases if not isinstance(phrase, str))
            raise ValueError(
                f"the gazetteer {name!r} has {wrong!r:.80} among its phrases; phrases are strings"
            ) from None
        if self.lower:
            phrases = list(map(lower_case, phrases))
        # Most lists have nothing but single tokens, and those of a model file rise.
        plain = text.count("\n") < len(phrases) and not _SPACE.search(text) and _encodable(text)
        if self.characters or not plain or "" in phrases:
            try:
                phrases = [" ".join(_tokens(phrase, self.characters)) for phrase in phrases]
            except ValueError as error:
                raise ValueError(f"the gazetteer {name!r}: {error}") from error
        if not all(map(operator.lt, phrases, islice(phrases, 1, None))):
            phrases = sorted(set(phrases))
        return phrases

    def as_dict(self) -> GazetteerLists:
        """Everything as plain values, sorted, for a model file."""
        lists = {
            name: [phrase.replace(" ", "") for phrase in phrases]
            if self.characters
            else list(phrases)
            for name, phrases in self._lists.items()
        }
        return {"lists": lists, "lower": self.lower, "characters": self.characters}

    def matcher(self, normalize: Callable[[str], str] | None = None) -> PhraseMatcher:
        """Make what finds the phrases in sentences.

        normalize: a function of characters, giving a text of the same length, by which the phrases
        are normalized; tokens are not.
        """
        lists = self._lists
        if normalize is not None:
            # A list in one call; no character becomes a line break, nor a line break anything else.
            lists = {
                name: normalize("\n".join(phrases)).split("\n") for name, phrases in lists.items()
            }
            if self.lower:
                lists = {name: list(map(lower_case, phrases)) for name, phrases in lists.items()}
        return PhraseMatcher(lists, lower=self.lower)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gazetteers) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        sizes = tuple(map(len, self._lists.values()))
        return hash((self.names, self.lower, self.characters, sizes))

    def __repr__(self) -> str:
        phrases = set().union(*self._lists.values())
        return f"Gazetteers of {len(phrases):,} phrases ({', '.join(self.names)})"

    def __reduce__(self) -> tuple[object, ...]:
        plain = self.as_dict()
        return _gazetteers, (plain["lists"], plain["lower"], plain["characters"])

    @property
    def values(self) -> tuple[str, ...]:
        """All values that a token may have."""
        return tuple(f"{place}-{name}" for name in self.names for place in "BI")


class PhraseMatcher:
    """The phrases of lists, as they are found in sentences (`Gazetteers.matcher`).

    lists: the phrases of each, with one space between tokens. lower: whether the case of tokens is
    left out of account.
    """

    def __init__(self, lists: Mapping[str, list[str]], *, lower: bool) -> None:
        self._names = tuple(lists)
        self._lower = lower
        # The numbers of the lists that have a phrase, rising.
        self._found: dict[str, tuple[int, ...]] = {}
        # The length of the longest phrase of several tokens that begins so.
        self._longest: dict[str, int] = {}
        found, longest = self._found, self._longest
        for number, phrases in enumerate(lists.values()):
            alone = (number,)
            for phrase in phrases:
                before = found.setdefault(phrase, alone)
                if before[-1] != number:
                    found[phrase] = (*before, number)
                if " " in phrase:
                    first, size = phrase[: phrase.index(" ")], phrase.count(" ") + 1
                    longest[first] = max(size, longest.get(first, 1))

    def __call__(self, tokens: Sequence[str]) -> list[list[str]]:
        """The values of each token: ``B-city`` where a phrase of the list `city` begins, ``I-city``
        inside it; sorted by list.

        Each list is searched on its own, from left to right, for the longest phrase that begins at
        a token; phrases do not overlap.
        """
        n = len(tokens)
        # No phrase has a token with a space in it.
        seen = ["" if " " in token else token for token in tokens]
        if self._lower:
            seen = list(map(lower_case, seen))
        found, longest = self._found, self._longest
        if not longest:
            none: list[str] = []
            return [
                [f"B-{self._names[number]}" for number in found[token]] if token in found else none
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
                match.append(f"{place}-{self._names[number]}")
        return matches


def _gazetteers(lists: dict[str, list[str]], lower: bool, characters: bool) -> Gazetteers:
    return Gazetteers(lists, lower=lower, characters=characters)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
