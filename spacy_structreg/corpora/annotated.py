"""A gold sentence with all that a corpus has of it, whatever its format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

__all__ = ["AnnotatedSentence", "LabeledSpan", "Phrase"]

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
    word ends between two of them (`corpora.partial_annotation`); None if all words are words.
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
