"""Phrase structure trees with two children at most, and back (Zhang & Clark 2009, section 2).

Of a phrase of more than two children the leftmost is split off until the head is leftmost, then
the rightmost; what is left is a *temporary* phrase of the same label, which is dissolved
afterwards. A binarized tree is written in post-order, one step for each of its nodes: so do
shift-reduce parsers build it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

from spacy_structreg.corpora.constituents import Constituent


class Kind(IntEnum):
    """The parts of a node of a binarized tree."""

    WORD = 0
    """The next word."""
    UNARY = 1
    """The last node."""
    LEFT = 2
    """The last two nodes; the head is in the left one."""
    RIGHT = 3
    """The last two nodes; the head is in the right one."""
    LEFT_TEMPORARY = 4
    """As `LEFT`; the phrase is temporary."""
    RIGHT_TEMPORARY = 5
    """As `RIGHT`; the phrase is temporary."""


class Step(NamedTuple):
    """A node of a binarized tree. label: of a phrase; "" for a word."""

    kind: Kind
    label: str = ""


def binarize(n_words: int, constituents: Sequence[Constituent]) -> list[Step]:
    """The steps that build a tree of `n_words` words from the bottom up.

    constituents: those of a `ConstituencySentence` of so many words.
    """
    if not constituents:
        return [Step(Kind.WORD)] * n_words
    parts = _parts(n_words, constituents)
    steps: list[Step] = []
    # Steps and constituents that are still to be written, the next on top.
    waiting: list[Step | int] = [0]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Step):
            steps.append(item)
        else:
            waiting.extend(reversed(_steps_of(item, constituents, parts[item])))
    return steps


def _parts(n_words: int, constituents: Sequence[Constituent]) -> list[list[tuple[int, int | None]]]:
    """Parts of each constituent from left to right: the end of each, and its number if it is a
    constituent, None if it is a word.
    """
    parts: list[list[tuple[int, int | None]]] = [[] for _ in constituents]
    opened: list[int] = []
    number = 0
    for word in range(n_words):
        while opened and constituents[opened[-1]].end <= word:
            opened.pop()
        while number < len(constituents) and constituents[number].begin == word:
            if opened:
                parts[opened[-1]].append((constituents[number].end, number))
            opened.append(number)
            number += 1
        parts[opened[-1]].append((word + 1, None))
    return parts


def _steps_of(
    number: int, constituents: Sequence[Constituent], parts: Sequence[tuple[int, int | None]]
) -> list[Step | int]:
    """The steps of a constituent, with its parts that are constituents still to be written."""
    constituent = constituents[number]
    steps: list[Step | int] = []
    n_before = 0
    for end, part in parts:
        steps.append(Step(Kind.WORD) if part is None else part)
        if end <= constituent.head:
            n_before += 1
        elif len(steps) > n_before + 1:
            steps.append(Step(Kind.LEFT_TEMPORARY, constituent.label))
    steps += [Step(Kind.RIGHT_TEMPORARY, constituent.label)] * n_before
    if len(parts) == 1:
        steps.append(Step(Kind.UNARY, constituent.label))
    else:
        # The last is the whole.
        kind = Kind.RIGHT if n_before else Kind.LEFT
        steps[-1] = Step(kind, constituent.label)
    return steps


def debinarize(steps: Iterable[Step]) -> tuple[Constituent, ...]:
    """The constituents of a tree that steps build, in pre-order.

    Raises ValueError if they build no tree, or one in which a temporary phrase is not part of one
    of the same label, on the side of its head.
    """
    made: list[Constituent] = []
    # Nodes without parents: begin, end, head, and the label if it is temporary.
    nodes: list[tuple[int, int, int, str | None]] = []
    n_words = 0
    for kind, label in steps:
        if kind == Kind.WORD:
            nodes.append((n_words, n_words + 1, n_words, None))
            n_words += 1
            continue
        n_children = 1 if kind == Kind.UNARY else 2
        if len(nodes) < n_children:
            raise ValueError(f"{kind.name} {label} has no {n_children} parts")
        children = nodes[-n_children:]
        del nodes[-n_children:]
        of_head = children[-1 if kind in (Kind.RIGHT, Kind.RIGHT_TEMPORARY) else 0]
        for child in children:
            if child[3] is not None and (
                n_children == 1 or child[3] != label or child is not of_head
            ):
                raise ValueError(f"the temporary phrase {child[3]} cannot be a part of {label}")
        begin, end, head = children[0][0], children[-1][1], of_head[2]
        temporary = kind in (Kind.LEFT_TEMPORARY, Kind.RIGHT_TEMPORARY)
        nodes.append((begin, end, head, label if temporary else None))
        if not temporary:
            made.append(Constituent(label, begin, end, head))
    if len(nodes) != 1 or nodes[0][3] is not None:
        raise ValueError(f"the steps leave {len(nodes)} phrases, or a temporary one")
    # Of several over the same words the outermost was made last.
    order = sorted(range(len(made)), key=lambda i: (made[i].begin, -made[i].end, -i))
    return tuple(made[i] for i in order)
