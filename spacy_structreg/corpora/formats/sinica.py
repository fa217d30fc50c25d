"""The Sinica Treebank: a tree a line, with the heads and roles of its own annotation.

    #7:3.[52] S(agent:NP(Head:Nhaa:他)|Head:VC31:喝|theme:NP(quantifier:DM:一杯|Head:Naa:茶))#。(…)

A phrase is `role:LABEL(part|part|…)`, a word `role:TAG:word`; the root has no role. Behind the tree
stands the punctuation that ends the clause, which no tree holds, and its category. Roles other than
the marks of heads are dropped, and so are the features in square brackets of labels and tags
(`VA4[+ASP]`).

Source: Huang, Chen, Chen, Chen, Gao and Chen 2000, "Sinica Treebank: design criteria, annotation
guidelines, and on-line interface". In the sample that NLTK gives out (10,000 trees, 91,634 words)
two words have a mark twice (`Head:Head:Nab:…`); it counts once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Final

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent, sentence_of_tree
from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, shown
from spacy_structreg.corpora.corpus_format import MOST, Format, share_of
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.files import read_lines
from spacy_structreg.corpora.sentence import Sentence

LINE = re.compile(r"#[^\[\]]*\[[^\[\]]*\](?P<tree>.*)#[^#]*", re.DOTALL)
ROW = re.compile(r"#[^\s\[\]]*\[[^\[\]]*\][ \t]*\S.*#[^#]*")
MARK = re.compile(r"([()|])")
FEATURES = re.compile(r"\[.*", re.DOTALL)
WHITE_SPACE = re.compile(r"[\x20\t\n\r\v\f]")

# The marks of heads, the strongest first: the head of the grammar; that of the meaning, if it is
# another, such as the verb before 的; and the object of a preposition or a member of a
# coordination, which are numbered (DUMMY1, DUMMY2).
DUMMY = "DUMMY"
MARKS = ("Head", "head", DUMMY)


@dataclass(slots=True)
class _OpenPhrase:
    """A phrase whose bracket is open.

    place: its number among the phrases, in pre-order. parts: role and head word of each.
    """

    role: str
    label: str
    begin: int
    place: int
    parts: list[tuple[str, int]] = field(default_factory=list)

    def head(self) -> int:
        """The head word of the phrase, as `sinica_sentences` says."""
        heads: dict[str, int] = {}
        for role, head in self.parts:
            heads.setdefault(DUMMY if role.startswith(DUMMY) else role, head)
        for mark in MARKS:
            if mark in heads:
                return heads[mark]
        return self.parts[-1][1]


def _split(name: str, n_symbols: int, *, is_root: bool) -> tuple[str, list[str]]:
    """Role and symbols of a part: a label, or a tag and a word; ValueError says what is wrong."""
    fields = name.split(":")
    roles, symbols = fields[:-n_symbols], fields[-n_symbols:]
    if len(roles) > 1 and set(roles) <= set(MARKS):
        del roles[1:]
    if "" in fields or len(symbols) < n_symbols or len(roles) != (not is_root):
        form = ("" if is_root else "role:") + ("LABEL(" if n_symbols == 1 else "TAG:word")
        raise ValueError(f"{shown(name)} is not of the form {form}; correct it")
    if WHITE_SPACE.search(name):
        raise ValueError(f"{shown(name)} has white space in it; remove it")
    symbols[0] = FEATURES.sub("", symbols[0])
    if not symbols[0]:
        raise ValueError(f"{shown(name)} has features in brackets and no label; write one")
    return (roles[0] if roles else ""), symbols


def _parse(text: str) -> ConstituencySentence:
    """The tree of a line; ValueError says what is wrong with it."""
    words: list[str] = []
    tags: list[str] = []
    opened: list[_OpenPhrase] = []
    closed: list[tuple[int, Constituent]] = []
    n_phrases = 0
    # Names (of words, of phrases, none) and the mark behind each; the mark before.
    names_and_marks = MARK.split(text)
    before = ""
    for name, mark in zip(names_and_marks[::2], [*names_and_marks[1::2], ""], strict=True):
        if before == ")" and (name or mark == "("):
            raise ValueError(f"{shown(name + mark)} stands right behind a bracket; write | between")
        if before != ")" and not name:
            raise ValueError(
                f"nothing stands before {mark or '#'}; write role:TAG:word, or remove it"
            )
        if mark == "(":
            role, (label,) = _split(name, 1, is_root=not opened)
            opened.append(_OpenPhrase(role, label, len(words), n_phrases))
            n_phrases += 1
        elif name:
            role, (tag, word) = _split(name, 2, is_root=not opened)
            if opened:
                opened[-1].parts.append((role, len(words)))
            words.append(word)
            tags.append(tag)
        if mark in ("|", ")") and not opened:
            raise ValueError(f"{mark} stands outside of brackets; a line holds one tree")
        if mark == ")":
            phrase = opened.pop()
            head = phrase.head()
            closed.append((phrase.place, Constituent(phrase.label, phrase.begin, len(words), head)))
            if opened:
                opened[-1].parts.append((phrase.role, head))
        before = mark
    if opened:
        raise ValueError(f"{len(opened)} closing brackets are missing; add them")
    phrases = [phrase for _, phrase in sorted(closed, key=itemgetter(0))]
    # In pre-order, a phrase that comes after an equal one is the only part of that.
    kept = phrases[:1] + [phrase for above, phrase in pairwise(phrases) if phrase != above]
    return ConstituencySentence(tuple(words), tuple(tags), tuple(kept))


def sinica_sentences(path: StrPath, *, encoding: str = "utf-8") -> Iterator[ConstituencySentence]:
    """Yield the tree of each line, with the head of each phrase by the marks of its parts.

    `Head` goes before `head`, which goes before `DUMMY`, `DUMMY1` and so on: a preposition or a
    conjunction heads its phrase, and 的 what it marks. Of several parts with the same mark the
    first is the head; of parts without any, the last. A phrase that is the only part of one of the
    same label is taken off; blank lines are skipped.

    Raises CorpusError for a line that is not of the form above, and for a file without a tree; and
    the errors of `read_lines`.
    """
    any_tree = False
    number = 1
    for number, line in read_lines(path, encoding=encoding):
        if not line.strip():
            continue
        found = LINE.fullmatch(line)
        if found is None:
            raise CorpusError(
                path,
                number,
                f"{shown(line)} is no line of the treebank; write #number[number] S(…)#。",
            )
        try:
            sentence = _parse(found["tree"].lstrip(" \t"))
        except ValueError as error:
            raise CorpusError(path, number, str(error)) from error
        any_tree = True
        yield sentence
    if not any_tree:
        raise CorpusError(
            path, number, "no tree in the file; trees are written #1[1] S(Head:VA:來)#。"
        )


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the trees of a file; raises as `sinica_sentences`."""
    yield from map(sentence_of_tree, sinica_sentences(path, encoding=options.encoding))


FORMAT: Final = Format(
    "sinica",
    "trees of the Sinica Treebank, with their heads",
    rank=70,
    read=read,
    sniff=lambda lines: share_of(ROW, lines) >= MOST,
)
"""Name, recognition, reader and writer of the format."""
