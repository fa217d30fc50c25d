"""Phrase structure trees in the bracket notation of the Penn treebanks (LDC files included).

`(IP (NP (NR 上海)) (VP (VA 大)))`: an inner node is `(LABEL child …)`, a leaf `(TAG word)`. Nothing
here recurses, so that the depth of a tree is limited by memory alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from spacy_structreg.corpora.annotated import LabeledSpan
from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath
from spacy_structreg.corpora.files import read_lines

__all__ = [
    "EMPTY_TAG",
    "FLAT",
    "Tree",
    "after_markup",
    "bracket_of",
    "escaped_word",
    "marks_entities",
    "plain_word",
    "read_brackets",
    "tagged_sentences",
    "trees_with_words",
]

EMPTY_TAG = "-NONE-"
"""Tag of empty elements, such as traces."""
FLAT = "FLAT"
"""Root of a sentence whose phrases are not annotated: ``( (FLAT (PN 我们) (VV 去)))``."""
ROOT_LABELS = frozenset({"", "ROOT", "TOP"})

# White space is that of ASCII: U+3000 and the like may be part of a word.
SYMBOL = re.compile(r"[()]|[^()\x20\t\n\r\v\f]+")
PLAIN_SYMBOL = re.compile(r"[^()\x20\t\n\r\v\f\x00\ud800-\udfff]+")
MARKUP_LINE = re.compile(r"\s*<[^()]*>\s*")
LEADING_MARKUP = re.compile(r"\s*(?:<[^<>]*>\s*)+")
TRAILING_MARKUP = re.compile(r"(?<=\))\s*(?:<[^<>()]*>\s*)+$")
SENTENCE_MARKUP = re.compile(r"<(/?)S(?=[\s>])", re.IGNORECASE)
# `NP-PN-SBJ=ORG`; the digits of `NP=1` mark what is left out in the Penn Treebank.
ENTITY = re.compile("=([A-Z_]+)$")
ENTITY_IN_LINE = re.compile(r"\(\s*[^\s()]+=[A-Z_]+(?=[\s(]|$)")
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
        """Make the tree anew from its leaves upwards, leaving out nodes for which `make` is None.

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


@dataclass(slots=True)
class _OpenBracket:
    line: int
    label: str | None = None
    children: list[Tree] = field(default_factory=list)
    word: str | None = None

    def close(self, *, root: bool) -> Tree:
        """The finished node; ValueError says what it lacks."""
        if self.word is not None or (self.children and self.label is not None):
            return Tree(self.label or "", tuple(self.children), self.word)
        if self.label is not None:
            raise ValueError(
                f"({self.label}) has only one part; a leaf is a tag and a word, such as (NN 书)"
            )
        if not self.children:
            raise ValueError("empty brackets; remove them, or write a tag and a word")
        if not root:
            raise ValueError("brackets without a label; only the root of a tree may have none")
        return Tree("", tuple(self.children))

    def add_symbol(self, symbol: str) -> None:
        """Take a label or a word; ValueError says why neither can stand here."""
        if self.label is None and not self.children:
            self.label = symbol
        elif self.word is None and not self.children:
            self.word = plain_word(symbol)
        else:
            raise ValueError(
                f"{symbol!r} stands where a bracket must; a leaf is one tag and one word in "
                "brackets of its own"
            )


class _Markup:
    """Tells trees from the mark-up of LDC files, and from the text of their headers."""

    def __init__(self) -> None:
        self._seen = self._in_sentence = False

    def without(self, line: str, *, in_tree: bool) -> str:
        """The part of a line that belongs to trees; "" if there is none."""
        if not in_tree and MARKUP_LINE.fullmatch(line):
            self._note(line)
            return ""
        if not in_tree and (found := LEADING_MARKUP.match(line)):
            self._note(found[0])
            line = line[found.end() :]
        if line.rstrip().endswith(">") and (found := TRAILING_MARKUP.search(line)):
            line = line[: found.start()]
            self._note(found[0])
        header = self._seen and not (in_tree or self._in_sentence)
        return "" if header and not ("(" in line or ")" in line) else line

    def _note(self, markup: str) -> None:
        self._seen = True
        for slash in SENTENCE_MARKUP.findall(markup):
            self._in_sentence = not slash


def after_markup(lines: Sequence[str]) -> str:
    """Text from the first line on that is neither mark-up nor a header: a tree, in LDC files."""
    markup = _Markup()
    for number, line in enumerate(lines):
        if (rest := markup.without(line, in_tree=False)).strip():
            return "\n".join([rest, *lines[number + 1 :]])
    return ""


def read_brackets(path: StrPath, *, encoding: str = "utf-8") -> Iterator[Tree]:
    """Yield the trees of a file, as they stand in it; see `read_lines` for files and encodings.

    Trees may share a line or run over many. The root may be nameless, `( (IP …))`, or named
    ROOT, TOP or anything else; `Tree.without_root` takes it off. The mark-up of LDC files is
    skipped: before a tree (`<S ID=1>`, `<DOCID> … </DOCID>`, also on its line), after it
    (`</S>`), and lines without parentheses that follow mark-up outside of `<S>`, such as the date
    in a header.

    Raises CorpusError, besides the errors of `read_lines`, for brackets that do not match, text or
    mark-up in the wrong place, leaves without a tag or a word, nodes without a label, a file that
    ends inside a tree (with the line where the tree begins) and a file without a tree.
    """
    opened: list[_OpenBracket] = []
    markup = _Markup()
    any_tree = False
    number = 1
    for number, whole_line in read_lines(path, encoding=encoding):
        if opened and MARKUP_LINE.fullmatch(whole_line):
            raise CorpusError(
                path,
                number,
                f"mark-up inside the tree that begins on line {opened[0].line}; a closing bracket "
                "of that tree may be missing",
            )
        line = markup.without(whole_line, in_tree=bool(opened))
        for symbol in SYMBOL.findall(line):
            try:
                tree = _take_symbol(opened, symbol, number)
            except ValueError as error:
                raise CorpusError(path, number, _located(str(error), opened)) from error
            if tree is not None:
                any_tree = True
                yield tree
    if opened:
        raise CorpusError(
            path,
            opened[0].line,
            f"the file ends inside the tree that begins here; {len(opened)} closing brackets are "
            "missing",
        )
    if not any_tree:
        raise CorpusError(
            path, number, "no tree in the file; trees are written (IP (NP (NR 上海)) (VP (VA 大)))"
        )


def _take_symbol(opened: list[_OpenBracket], symbol: str, line: int) -> Tree | None:
    """Take the next symbol of a file; the tree that it completes, if it does."""
    if symbol == "(":
        if opened:
            parent = opened[-1]
            if parent.word is not None:
                raise ValueError(
                    f"a bracket opens inside the leaf ({parent.label} {parent.word}; close it first"
                )
            if parent.label is None and len(opened) > 1:
                raise ValueError("brackets without a label; only the root of a tree may have none")
        opened.append(_OpenBracket(line))
    elif not opened:
        if symbol == ")":
            raise ValueError("a closing bracket too many; remove it or add the opening one")
        raise ValueError(f"{symbol!r} stands outside of brackets; remove it or bracket it")
    elif symbol == ")":
        node = opened[-1].close(root=len(opened) == 1)
        opened.pop()
        if not opened:
            return node
        opened[-1].children.append(node)
    else:
        opened[-1].add_symbol(symbol)
    return None


def _located(fault: str, opened: list[_OpenBracket]) -> str:
    return f"{fault} (in the tree that begins on line {opened[0].line})" if opened else fault


def marks_entities(path: StrPath, *, encoding: str = "utf-8") -> bool:
    """True if a label or tag of a file marks an entity; see `Tree.entities`.

    If none does, it is not known which entities there are. Raises as `read_lines`.
    """
    return any(ENTITY_IN_LINE.search(line) for _, line in read_lines(path, encoding=encoding))


def trees_with_words(path: StrPath, *, encoding: str = "utf-8") -> Iterator[Tree]:
    """Yield the trees of a file but those of empty terminals alone.

    Raises CorpusError as `read_brackets`, and when no tree has a word.
    """
    any_word = False
    for tree in read_brackets(path, encoding=encoding):
        if tree.leaves(empties=False):
            any_word = True
            yield tree
    if not any_word:
        raise CorpusError(path, 1, "no tree of the file has a word; all terminals are empty ones")


def tagged_sentences(path: StrPath, *, encoding: str = "utf-8") -> list[list[tuple[str, str]]]:
    """The (word, tag) pairs of each tree of a file, without empty terminals and function tags.

    Raises CorpusError as `trees_with_words`, whose trees they are.
    """
    trees = trees_with_words(path, encoding=encoding)
    return [tree.without_function_tags().tagged_words() for tree in trees]


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
