"""Phrase structure trees in the bracket notation of the Penn treebanks (LDC files included).

`(IP (NP (NR 上海)) (VP (VA 大)))`: an inner node is `(LABEL child …)`, a leaf `(TAG word)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from spacy_structreg.corpora.constituents import (
    ConstituencySentence,
    constituency_sentence,
    sentence_of_tree,
)
from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath
from spacy_structreg.corpora.corpus_format import Format
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.files import read_lines
from spacy_structreg.corpora.head_rules import HEAD_RULES, HeadRuleName, HeadRules, head_rules
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.trees import Tree, plain_word

# White space is that of ASCII: U+3000 and the like may be part of a word.
SYMBOL = re.compile(r"[()]|[^()\x20\t\n\r\v\f]+")
MARKUP_LINE = re.compile(r"\s*<[^()]*>\s*")
LEADING_MARKUP = re.compile(r"\s*(?:<[^<>]*>\s*)+")
TRAILING_MARKUP = re.compile(r"(?<=\))\s*(?:<[^<>()]*>\s*)+$")
SENTENCE_MARKUP = re.compile(r"<(/?)S(?=[\s>])", re.IGNORECASE)
ENTITY_IN_LINE = re.compile(r"\(\s*[^\s()]+=[A-Z_]+(?=[\s(]|$)")
# `( (IP`, `(IP (NP`, or a tree of one leaf. Segmented text may begin with brackets, too, but then
# white space follows them.
TREE_START = re.compile(r"\s*\((?:\s*(?:[^\s()]+\s*)?\([^\s()]|[A-Z]+\s+[^\s()]+\s*\))")


@dataclass(slots=True)
class _OpenBracket:
    line: int
    label: str | None = None
    children: list[Tree] = field(default_factory=list)
    word: str | None = None

    def close(self, *, root: bool) -> Tree:
        """Return the finished node; raise ValueError for an incomplete one."""
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
        """Add a label or a word; raise ValueError if neither may follow."""
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
    """Process the next symbol of a file; return the tree if it completes one."""
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


def constituency_sentences(
    path: StrPath, rules: HeadRules | HeadRuleName, *, encoding: str = "utf-8"
) -> Iterator[ConstituencySentence]:
    """Yield the trees of a file in bracket notation as lists of constituents.

    rules: or the name of those of a treebank. Trees of empty terminals alone and flat ones
    (`Tree.is_flat`) are left out. Raises ValueError for another name; CorpusError as
    `trees_with_words`, and when all trees that have words are flat.
    """
    chosen = rules if isinstance(rules, HeadRules) else head_rules(rules)
    any_phrase = False
    for tree in trees_with_words(path, encoding=encoding):
        sentence = constituency_sentence(tree, chosen)
        if sentence is not None:
            any_phrase = True
            yield sentence
    if not any_phrase:
        raise CorpusError(path, 1, "all sentences of the file are FLAT, without phrases")


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the words and tags of trees in brackets, and entities if the file marks any.

    With head rules, trees that are not flat have their constituents and heads, too.
    """
    encoding = options.encoding
    rules = None if options.head_rules is None else HEAD_RULES[options.head_rules.value]
    marked = marks_entities(path, encoding=encoding)
    for tree in trees_with_words(path, encoding=encoding):
        parsed = None if rules is None else constituency_sentence(tree, rules)
        if parsed is None:
            sentence = Sentence.of_pairs(tree.without_function_tags().tagged_words())
        else:
            sentence = sentence_of_tree(parsed)
        yield replace(sentence, entities=tree.entities() if marked else None)


FORMAT: Final = Format(
    "brackets",
    "trees of the Chinese Treebank",
    rank=50,
    read=read,
    sniff=lambda lines: TREE_START.match(after_markup(lines)) is not None,
    suffixes=(".mrg", ".bracket"),
    options=("head_rules",),
    folder_suffixes=(".bracket", ".mrg", ".fid", ".nw"),
)
"""Name, recognition, reader and writer of the format."""
