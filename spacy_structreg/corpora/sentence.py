"""The record of a sentence: columns of words and their annotation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby, islice, pairwise
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from spacy_structreg.corpora.dependencies import ROOT, find_circle
from spacy_structreg.corpora.spacing import spaces_between

LabeledSpan: TypeAlias = tuple[int, int, str]
"""First word, first word after, label."""

Sentences: TypeAlias = Literal["punctuation", "wrapped", "doc"]
"""Ways to cut texts into sentences: by punctuation, without regard to line ends, or not at all."""

COLUMNS: Final = ("tags", "heads", "labels", "pos", "spaces", "starts")
"""Fields that have a value for each word, or none."""


class Phrase(NamedTuple):
    """A constituent from `begin` to before `end`, with its head word if it is known.

    The label may be empty.
    """

    label: str
    begin: int
    end: int
    head: int | None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence (of PFR, a paragraph): its words and columns of their annotation.

    A column has a value for each word, or is empty if nothing is known.

    tags, pos: language-specific and universal; "" for nothing. heads: the index of each word's
    head, `corpora.dependencies.ROOT` for a root, None where it is not annotated; there may be
    several roots. labels: the relation of each word to its head, None where it is not annotated.
    spaces: whether one follows in text; empty for nowhere. starts: whether a sentence starts at
    the word; empty for the first one alone.
    constituents: over the words, of phrase structure trees, in pre-order.
    entities, chunks: labeled spans of the two kinds; None if they are not known. spans_key: the
    span group of the chunks; None for the usual one. category: of the text.
    extra: the columns of a file that tasks have added, by their names.
    unknown: first word, first word after of stretches of words in which it is not known whether a
    word ends between two of them (`corpora.formats.partial`).
    bad_tree: whether the heads of the file were left out because they are no tree. bad_pos: how
    many universal tags were left out because there are none of their names.

    Raises ValueError, naming the sentence, for a sentence without words, for empty words, for
    columns of another length, and for heads that are out of range or go in a circle.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] = ()
    heads: tuple[int | None, ...] = ()
    labels: tuple[str | None, ...] = ()
    pos: tuple[str, ...] = ()
    spaces: tuple[bool, ...] = ()
    starts: tuple[bool, ...] = ()
    constituents: Sequence[Phrase] | None = field(default=None, hash=False)
    entities: Sequence[LabeledSpan] | None = field(default=None, hash=False)
    chunks: Sequence[LabeledSpan] | None = field(default=None, hash=False)
    spans_key: str | None = None
    category: str | None = None
    extra: Mapping[str, Sequence[str]] | None = field(default=None, hash=False)
    unknown: tuple[tuple[int, int], ...] = ()
    bad_tree: bool = False
    bad_pos: int = 0

    def __post_init__(self) -> None:
        n_words = len(self.words)
        if not n_words:
            raise ValueError("a sentence without words; leave it out")
        for name in COLUMNS:
            column = getattr(self, name)
            if column and len(column) != n_words:
                raise ValueError(
                    f"{self._name()}: {len(column)} {name} for {n_words} words; give one for each"
                )
        if "" in self.words:
            raise ValueError(f"{self._name()}: word {self.words.index('')} is empty; leave it out")
        if self.heads:
            self._check_heads()

    def _check_heads(self) -> None:
        n_words = len(self.words)
        for index, head in enumerate(self.heads):
            if head is not None and not ROOT <= head < n_words:
                raise ValueError(
                    f"{self._name()}: the head {head} of word {index} is none of its {n_words} "
                    f"words; heads are counted from 0, and {ROOT} is that of a root"
                )
        circle = find_circle(self.heads)
        if len(circle) == 1:
            raise ValueError(
                f"{self._name()}: word {circle[0]} is its own head; that of a root is {ROOT}"
            )
        if circle:
            raise ValueError(
                f"{self._name()}: the heads of the words {', '.join(map(str, circle))} go in a "
                "circle; correct one of them"
            )

    def _name(self) -> str:
        return f"sentence {' '.join(self.words)[:40]!r}"

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[str, str]]) -> Sentence:
        """A sentence of words and tags."""
        words, tags = zip(*pairs, strict=True)
        return cls(words, tags)

    def pairs(self) -> list[tuple[str, str]]:
        """The words with their tags. Raises ValueError if there are none."""
        if not self.tags:
            raise ValueError(f"{self._name()} has no tags; take a corpus that is tagged")
        return list(zip(self.words, self.tags, strict=True))

    def part(self, begin: int, end: int) -> Sentence:
        """The words from `begin` to before `end`, and their columns but for `starts`.

        Heads outside of the part are not known in it.
        """

        def inside(head: int | None) -> int | None:
            if head is None or head == ROOT:
                return head
            return head - begin if begin <= head < end else None

        return Sentence(
            self.words[begin:end],
            self.tags[begin:end],
            tuple(map(inside, self.heads[begin:end])),
            self.labels[begin:end],
            self.pos[begin:end],
            self.spaces[begin:end],
        )


def single_trees(sentence: Sentence) -> list[Sentence]:
    """The parts of a text that have a root each, if the heads say where they end.

    They do if all heads are known and every tree is a run of words; else the text stays whole.
    """
    roots = [word for word, head in enumerate(sentence.heads) if head == ROOT]
    if len(roots) < 2 or None in sentence.heads:
        return [sentence]
    root_of = {root: root for root in roots}
    for word in range(len(sentence.heads)):
        path = []
        above: int | None = word
        while above is not None and above not in root_of:
            path.append(above)
            above = sentence.heads[above]
        assert above is not None
        root_of.update(dict.fromkeys(path, root_of[above]))
    n = len(root_of)
    begins = [i for i in range(n) if i == 0 or root_of[i] != root_of[i - 1]]
    if len(begins) != len(roots):
        return [sentence]
    return [sentence.part(begin, end) for begin, end in pairwise([*begins, n])]


def joined(sentences: Iterable[Sentence], size: int) -> Iterator[Sentence]:
    """Every `size` sentences of columns or CoNLL-U as one, which knows where they start.

    Sentences with a tree and such without are not put together.
    """
    for _, alike in groupby(sentences, key=lambda sentence: not sentence.heads):
        while group := list(islice(alike, size)):
            yield group[0] if len(group) == 1 else join(group)


def join(group: Sequence[Sentence]) -> Sentence:
    """Sentences of words, tags, trees and labeled spans as one; all have a tree, or none has."""
    words = tuple(word for each in group for word in each.words)
    firsts = [0, *accumulate(len(each.words) for each in group)]
    rows = list(zip(firsts, group, strict=False))

    def flat(name: str) -> tuple[Any, ...]:
        if not any(getattr(each, name) for each in group):
            return ()
        # Of universal tags, a sentence may have none.
        return tuple(
            value for each in group for value in getattr(each, name) or [""] * len(each.words)
        )

    def spans(name: str) -> list[LabeledSpan] | None:
        if getattr(group[0], name) is None:
            return None
        return [
            (first + start, first + end, label)
            for first, each in rows
            for start, end, label in getattr(each, name)
        ]

    spaces = list(flat("spaces"))
    if spaces:
        # The last word of a sentence may not say that a space follows.
        for last in (first - 1 for first in firsts[1:-1]):
            spaces[last] = spaces[last] or spaces_between(words[last : last + 2])[0]
    return Sentence(
        words,
        flat("tags"),
        tuple(
            head if head is None or head == ROOT else first + head
            for first, each in rows
            for head in each.heads
        ),
        flat("labels"),
        flat("pos"),
        tuple(map(bool, spaces)),
        starts=tuple(index in firsts for index in range(len(words))),
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
