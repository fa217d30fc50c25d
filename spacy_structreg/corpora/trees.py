"""Phrase structure trees, as the bracket notation of treebanks writes them.

An inner node is `(LABEL child …)`, a leaf `(TAG word)`. Nothing here recurses, so that the depth of
a tree is limited by memory alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MappingProxyType

from spacy_structreg.corpora.sentence import LabeledSpan

EMPTY_TAG = "-NONE-"
"""Tag of empty elements, such as traces."""
FLAT = "FLAT"
"""Root of a sentence whose phrases are not annotated: ``( (FLAT (PN 我们) (VV 去)))``."""
ROOT_LABELS = frozenset({"", "ROOT", "TOP"})

PLAIN_SYMBOL = re.compile(r"[^()\x20\t\n\r\v\f\x00\ud800-\udfff]+")
# `NP-PN-SBJ=ORG`; the digits of `NP=1` mark what is left out in the Penn Treebank.
ENTITY = re.compile("=([A-Z_]+)$")
FUNCTION_TAGS = re.compile("^([^-=]+)[-=].*", re.DOTALL)
# How the notation writes what has a meaning in it, wherever in a word it stands.
BRACKET_NAMES = MappingProxyType(
    {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
)
NAMES_OF_BRACKETS = MappingProxyType({each: name for name, each in BRACKET_NAMES.items()})
ESCAPED = re.compile(r"-[LR][RSC]B-|\\([/*])")
TO_ESCAPE = re.compile(r"[()\[\]{}]|\\(?=[/*])")
# Deeper lines are indented no further: a chain of n nodes would take n² spaces.
DEEPEST_INDENT = 100


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A node of a phrase structure tree: a leaf with a word, or an inner node with children.

    label: the category of an inner node ("" for the nameless root of LDC files), the tag of a leaf.
    word: as it stands in text, `(` for `-LRB-` (`plain_word`).
    Raises ValueError for a node with both children and a word, or with neither.
    """

    label: str
    children: tuple[Tree, ...] = ()
    word: str | None = None

    def __post_init__(self) -> None:
        if bool(self.children) == (self.word is not None):
            raise ValueError(f"node {self.label!r} must have either children or a word")

    @property
    def is_leaf(self) -> bool:
        """True if the node is a tag with its word."""
        return self.word is not None

    @property
    def is_empty(self) -> bool:
        """True if the node is an empty terminal: `-NONE-`, or `-NONE-1`, as the CTB has it, too."""
        return self.is_leaf and self.label.startswith(EMPTY_TAG)

    def nodes(self) -> Iterator[Tree]:
        """The node itself and all below it, parents before children, from left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def leaves(self, *, empties: bool = True) -> list[Tree]:
        """The leaves from left to right, with or without empty terminals (tag `-NONE-`)."""
        return [node for node in self.nodes() if node.is_leaf and (empties or not node.is_empty)]

    def tagged_words(self) -> list[tuple[str, str]]:
        """(word, tag) of each leaf that is not an empty terminal."""
        leaves = self.leaves(empties=False)
        return [(leaf.word, leaf.label) for leaf in leaves if leaf.word is not None]

    @property
    def is_flat(self) -> bool:
        """True for a sentence whose phrases are not annotated: `( (FLAT …))`."""
        return self.without_root().label == FLAT

    def entities(self) -> list[LabeledSpan]:
        """First word, first word after, and type of each entity: a node labeled `…=TYPE`.

        Types are of capital letters and underscores. Empty terminals are no words. Of an entity
        inside of another, the outer one is taken.
        """
        found: list[LabeledSpan] = []
        cleaned = self.remove_empties()
        n_words = end = 0
        for node in cleaned.nodes() if cleaned is not None else ():
            if n_words >= end and (mark := ENTITY.search(node.label)):
                end = n_words + len(node.leaves())
                found.append((n_words, end, mark[1]))
            n_words += node.is_leaf
        return found

    def remove_empties(self) -> Tree | None:
        """The tree without empty terminals and nodes with nothing else; None if nothing is left."""

        def without(node: Tree, children: tuple[Tree, ...]) -> Tree | None:
            if node.is_leaf:
                return None if node.is_empty else node
            return Tree(node.label, children) if children else None

        return self._rebuild(without)

    def without_function_tags(self) -> Tree:
        """The tree with labels and tags cut before the first `-` or `=`: `NP-SBJ` becomes `NP`.

        Labels that start with such a character (`-NONE-`, `-LRB-`) stay whole.
        """
        tree = self._rebuild(
            lambda node, children: Tree(FUNCTION_TAGS.sub(r"\1", node.label), children, node.word)
        )
        assert tree is not None
        return tree

    def collapse_unaries(self) -> Tree:
        """The tree with each phrase that is the only child of one of the same label taken off."""

        def collapsed(node: Tree, children: tuple[Tree, ...]) -> Tree:
            if len(children) == 1 and not children[0].is_leaf and children[0].label == node.label:
                return children[0]
            return Tree(node.label, children, node.word)

        tree = self._rebuild(collapsed)
        assert tree is not None
        return tree

    def without_root(self) -> Tree:
        """The only child of a root that is nameless or called ROOT or TOP; other trees as is."""
        if self.label in ROOT_LABELS and len(self.children) == 1:
            return self.children[0]
        return self

    def to_bracket(self, indent: int | None = None) -> str:
        """The tree in bracket notation, which `read_brackets` reads back equal.

        indent: None for one line; else each inner node has a line, indented by so many spaces a
        level, and leaves follow their parent or sister on its line.

        Words are written as `escaped_word` says. Raises ValueError for labels and words that the
        notation cannot hold: empty ones, those with white space, NUL or lone surrogates, labels
        with parentheses, and for a nameless node that is not the root.
        """
        return self._bracket(indent, _checked)

    def _bracket(self, indent: int | None, symbol: Callable[[str], str]) -> str:
        """`to_bracket` with labels and escaped words passed through `symbol`."""
        parts: list[str] = []
        # Nodes still to write with their depth; None closes a bracket.
        stack: list[tuple[Tree | None, int]] = [(self, 0)]
        while stack:
            node, depth = stack.pop()
            if node is None:
                parts.append(")")
                continue
            if depth:
                fresh_line = indent is not None and not node.is_leaf
                spaces = (indent or 0) * min(depth, DEEPEST_INDENT)
                parts.append("\n" + " " * spaces if fresh_line else " ")
            nameless = node.label == "" and depth == 0 and not node.is_leaf
            parts.append("(" if nameless else "(" + symbol(node.label))
            if node.word is not None:
                parts.append(f" {symbol(escaped_word(node.word))})")
                continue
            stack.append((None, depth))
            stack.extend((child, depth + 1) for child in reversed(node.children))
        return "".join(parts)

    def _rebuild(self, make: Callable[[Tree, tuple[Tree, ...]], Tree | None]) -> Tree | None:
        """Rebuild the tree bottom up, dropping nodes for which `make` returns None.

        make: from a node and its children made anew.
        """
        # In reversed pre-order the children of a node are on top of the stack, the first topmost.
        made: list[Tree | None] = []
        for node in reversed(list(self.nodes())):
            children = [made.pop() for _ in node.children]
            made.append(make(node, tuple(child for child in children if child is not None)))
        return made.pop()

    def _preorder(self) -> tuple[tuple[str, int, str | None], ...]:
        """(label, number of children, word) of all nodes; equal for equal trees only."""
        return tuple((node.label, len(node.children), node.word) for node in self.nodes())

    # What dataclasses, pickle and copy would do recursively.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self is other or self._preorder() == other._preorder()

    def __hash__(self) -> int:
        return hash(self._preorder())

    def __repr__(self) -> str:
        return f"<Tree {self._bracket(None, str)}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _from_preorder, (self._preorder(),)


def _from_preorder(preorder: tuple[tuple[str, int, str | None], ...]) -> Tree:
    made: list[Tree] = []
    for label, n_children, word in reversed(preorder):
        made.append(Tree(label, tuple(made.pop() for _ in range(n_children)), word))
    return made.pop()


def _checked(symbol: str) -> str:
    if not PLAIN_SYMBOL.fullmatch(symbol):
        raise ValueError(
            f"{symbol!r} cannot be written in bracket notation; labels and words must not be empty "
            "nor hold white space, NUL or lone surrogates, nor labels parentheses"
        )
    return symbol


def bracket_of(word: str) -> str:
    """The bracket that a whole word names, as `-LRB-` does; else the word."""
    return BRACKET_NAMES.get(word, word)


def plain_word(word: str) -> str:
    r"""A word of the notation as it stands in text: `-LRB-` is `(`, and `1\/2` is `1/2`.

    The quotes of the Penn Treebank, two backticks and two apostrophes, stay as they are.
    """
    return ESCAPED.sub(lambda found: found[1] or BRACKET_NAMES[found[0]], word)


def escaped_word(word: str) -> str:
    r"""A word as the notation writes it, which `plain_word` takes back: `(` is `-LRB-`.

    It gives a word back that has such a name in it, `-LRB-`, with the bracket.
    """
    return TO_ESCAPE.sub(lambda found: NAMES_OF_BRACKETS.get(found[0], r"\\"), word)
