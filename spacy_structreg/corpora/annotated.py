"""A gold sentence with all that a corpus has of it, whatever its format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, islice
from typing import Any, NamedTuple, TypeAlias

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.spacing import spaces_between

__all__ = ["AnnotatedSentence", "LabeledSpan", "Phrase", "joined"]

LabeledSpan: TypeAlias = tuple[int, int, str]
"""First word, first word after, label."""


class Phrase(NamedTuple):
    """A constituent from `begin` to before `end`, with its head word if it is known.

    The label may be empty.
    """

    label: str
    begin: int
    end: int
    head: int | None


class AnnotatedSentence(NamedTuple):
    """A gold sentence (of PFR, a paragraph): its words, and what else the format has of each.

    tags, pos: language-specific and universal; "" for nothing. heads: the index of each word's
    head, `corpora.dependencies.ROOT` for the root. spaces: whether one follows in text; None for
    nowhere. starts: whether a sentence starts at the word; None for the first one alone.
    bad_tree: whether the heads of the file were left out because they are no tree. bad_pos: how
    many universal tags were left out because there are none of their names.
    constituents: over the words, of phrase structure trees, in pre-order.
    entities, chunks: labeled spans of the two kinds; None if they are not known. spans_key: the
    span group of the chunks; None for the usual one. category: of the text.
    extra: the columns of a file that tasks have added, by their names.
    unknown: first word, first word after of stretches of words in which it is not known whether a
    word ends between two of them (`corpora.formats.partial`); None if all words are words.
    """

    words: list[str]
    tags: list[str] | None = None
    pos: list[str] | None = None
    heads: list[int] | None = None
    deps: list[str] | None = None
    spaces: list[bool] | None = None
    starts: list[bool] | None = None
    bad_tree: bool = False
    bad_pos: int = 0
    constituents: list[Phrase] | None = None
    entities: list[LabeledSpan] | None = None
    chunks: list[LabeledSpan] | None = None
    spans_key: str | None = None
    category: str | None = None
    extra: Mapping[str, list[str]] | None = None
    unknown: list[tuple[int, int]] | None = None

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[str, str]]) -> AnnotatedSentence:
        """A sentence of words and tags."""
        words, tags = map(list, zip(*pairs, strict=True))
        return cls(words, tags)


def joined(sentences: Iterable[AnnotatedSentence], size: int) -> Iterator[AnnotatedSentence]:
    """Every `size` sentences of columns or CoNLL-U as one, which knows where they start.

    Sentences with a tree and such without are not put together.
    """
    for _, alike in groupby(sentences, key=lambda sentence: sentence.heads is None):
        while group := list(islice(alike, size)):
            yield group[0] if len(group) == 1 else join(group)


def join(group: Sequence[AnnotatedSentence]) -> AnnotatedSentence:
    """Sentences of words, tags, trees and labeled spans as one; all have a tree, or none has."""
    words = [word for each in group for word in each.words]
    firsts = [0, *accumulate(len(each.words) for each in group)]

    def flat(name: str) -> list[Any] | None:
        columns = [getattr(each, name) for each in group]
        if all(column is None for column in columns):
            return None
        # Of universal tags, a sentence may have none.
        parts = zip(group, columns, strict=True)
        return [value for each, column in parts for value in column or [""] * len(each.words)]

    def spans(name: str) -> list[LabeledSpan] | None:
        if getattr(group[0], name) is None:
            return None
        return [
            (first + start, first + end, label)
            for first, each in zip(firsts, group, strict=False)
            for start, end, label in getattr(each, name)
        ]

    spaces = flat("spaces")
    if spaces is not None:
        # The last word of a sentence may not say that a space follows.
        for last in (first - 1 for first in firsts[1:-1]):
            spaces[last] = spaces[last] or spaces_between(words[last : last + 2])[0]
    heads = None
    if group[0].heads is not None:
        heads = [
            head if head == ROOT else first + head
            for first, each in zip(firsts, group, strict=False)
            for head in each.heads or ()
        ]
    return AnnotatedSentence(
        words,
        flat("tags"),
        flat("pos"),
        heads,
        flat("deps"),
        spaces=spaces,
        starts=[index in firsts for index in range(len(words))],
        bad_tree=any(each.bad_tree for each in group),
        bad_pos=sum(each.bad_pos for each in group),
        entities=spans("entities"),
        chunks=spans("chunks"),
        spans_key=group[0].spans_key,
        extra={
            name: [value for each in group for value in (each.extra or {})[name]]
            for name in group[0].extra or ()
        }
        or None,
    )
