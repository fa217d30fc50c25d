"""The record of a sentence that is annotated in part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from spacy_structreg.corpora.sentence import LabeledSpan
from spacy_structreg.corpora.sentences import sentence_ends

ASKED: Final = "?"
MARKS: Final[dict[str, bool | None]] = {"|": True, "-": False, " ": None, ASKED: None}
"""Marks between two characters in files (`corpora.formats.partial`): whether a word ends there."""
UNESCAPED: Final = re.compile(r"[\\/|?\s-]")


@dataclass(frozen=True)
class PartialSentence:
    """A sentence of which some words, or tags, are known.

    text: without white space. boundaries: for each place between two characters, len(text) - 1 of
    them, whether a word ends there; None where that is not known. tags: first character, first
    character after, and tag of some words whose ends are known, rising.
    Raises ValueError if these do not fit each other.
    """

    text: str
    boundaries: tuple[bool | None, ...]
    tags: tuple[LabeledSpan, ...] = ()

    def __post_init__(self) -> None:
        if self.text.split() != [self.text]:
            raise ValueError(
                f"{self.text!r:.60} is no text without white space; leave the white space out"
            )
        if len(self.boundaries) != len(self.text) - 1:
            raise ValueError(
                f"a text of {len(self.text)} characters has {len(self.text) - 1} places between "
                f"them, but {len(self.boundaries)} are said to be ends of words, or not"
            )
        if not all(known is None or isinstance(known, bool) for known in self.boundaries):
            raise ValueError("whether a word ends at a place is True, False or None")
        n = len(self.text)
        last = 0
        for begin, end, tag in self.tags:
            if (
                not last <= begin < end <= n
                or (begin and not self.boundaries[begin - 1])
                or (end < n and not self.boundaries[end - 1])
                or any(known is not False for known in self.boundaries[begin : end - 1])
            ):
                raise ValueError(
                    f"the tag {tag!r:.40} is of {self.text[begin:end]!r:.40}, but whether that is "
                    "a word is not known; give both its ends, and that no word ends within"
                )
            last = end

    @classmethod
    def of_words(
        cls,
        words: Sequence[str],
        tags: Sequence[str | None] = (),
        unknown: Iterable[tuple[int, int]] = (),
    ) -> PartialSentence:
        """A sentence of words, or pieces of words.

        words: without white space. tags: one for each, None or "" where it is not known; or none.
        unknown: first piece and first piece after of stretches in which it is not known whether a
        word ends between two pieces; their tags do not count.
        """
        ends: list[bool | None] = [True] * len(words)
        loose = [False] * len(words)
        for begin, end in unknown:
            for i in range(max(0, begin), min(end, len(words))):
                loose[i] = True
                if i + 1 < min(end, len(words)):
                    ends[i] = None
        boundaries: list[bool | None] = []
        spans: list[LabeledSpan] = []
        first = 0
        for i, word in enumerate(words):
            boundaries += [False] * (len(word) - 1) + [ends[i]]
            tag = tags[i] if tags else None
            if tag and not (loose[i] and None in (ends[i], ends[i - 1] if i else True)):
                spans.append((first, first + len(word), tag))
            first += len(word)
        return cls("".join(words), tuple(boundaries[:-1]), tuple(spans))

    def __len__(self) -> int:
        return len(self.text)

    @property
    def pieces(self) -> list[str]:
        """The text, cut wherever a word ends or may end."""
        return [self.text[begin:end] for begin, end in self._bounds()]

    @property
    def piece_tags(self) -> list[str]:
        """The tags of the pieces, "" where none is known."""
        tags = {(begin, end): tag for begin, end, tag in self.tags}
        return [tags.get(bounds, "") for bounds in self._bounds()]

    @property
    def unknown(self) -> list[tuple[int, int]]:
        """Stretches of pieces between which words may end, or not, as `of_words` takes them."""
        stretches: list[tuple[int, int]] = []
        for number, (begin, _) in enumerate(self._bounds()):
            if begin and self.boundaries[begin - 1] is None:
                first = number - 1
                if stretches and stretches[-1][1] == number:
                    first = stretches.pop()[0]
                stretches.append((first, number + 1))
        return stretches

    @property
    def has_words(self) -> bool:
        """True if all words are known, so that the pieces are these."""
        return None not in self.boundaries

    @property
    def says_something(self) -> bool:
        """True if any end of a word, or tag, is known."""
        return bool(self.tags) or any(known is not None for known in self.boundaries)

    def _bounds(self) -> list[tuple[int, int]]:
        cuts = [i + 1 for i, known in enumerate(self.boundaries) if known is not False]
        return list(zip([0, *cuts], [*cuts, len(self.text)], strict=True))

    def split(self) -> list[PartialSentence]:
        """The sentences of the text, as `corpora.sentences` splits it, but within no known word.

        As the text has no white space, lines that are wrapped make no difference.
        """
        n = len(self.text)
        ends = [
            end
            for end in sentence_ends(self.text)
            if end == n or self.boundaries[end - 1] is not False
        ]
        return [
            PartialSentence(
                self.text[begin:end],
                self.boundaries[begin : end - 1],
                tuple(
                    (first - begin, last - begin, tag)
                    for first, last, tag in self.tags
                    if begin <= first < end
                ),
            )
            for begin, end in zip([0, *ends], ends, strict=False)
        ]

    def line(self, asked: Iterable[int] = ()) -> str:
        """The sentence as it is written. asked: numbers of boundaries to be asked for."""
        questions = frozenset(asked)
        tags = {end: tag for _, end, tag in self.tags}
        marks = {known: mark for mark, known in reversed(MARKS.items()) if mark != ASKED}
        parts: list[str] = []
        for i, character in enumerate(self.text):
            parts.append(UNESCAPED.sub(r"\\\g<0>", character))
            if i + 1 in tags:
                parts.append("/" + UNESCAPED.sub(r"\\\g<0>", tags[i + 1]))
            if i + 1 < len(self.text):
                parts.append(ASKED if i in questions else marks[self.boundaries[i]])
        return "".join(parts)
