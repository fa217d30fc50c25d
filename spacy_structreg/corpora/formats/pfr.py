"""Tagged text: one sentence or paragraph a line, each word with its tag, as in `北京/ns`.

The PFR corpus of the People's Daily has a paragraph a line, an id before its first word, words
separated by two spaces, and compound names in square brackets with a tag of their own:

    19980105-02-003-001/m  他/r  在/p  [广播/vn  大学/n]nt  学习/v  。/w

Other tagged text (`他_PN 来_VV`) has neither ids nor brackets: `formats.tagged`.

Source: Yu, Duan, Zhu, Swen and Chang 2003, "Specification for corpus processing at Peking
University: word segmentation, POS tagging and phonetic notation"; the split by day is that of
the option `--days`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, shown
from spacy_structreg.corpora.corpus_format import MOST, Format, share_of, tokens_of
from spacy_structreg.corpora.corpus_options import Compounds, CorpusOptions
from spacy_structreg.corpora.formats.tagged import TAG, split_token, token_lines
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.sentences import split_words

PARAGRAPH_ID = re.compile("([0-9]{8})(?:-[0-9]{1,9}){3}")
ID_TAG = "m"
TOKEN = re.compile(rf".+/{TAG}(?:\]/?{TAG})?", re.DOTALL)
# Later releases of the corpus note the reading of some words: 为{wei4}/p.
READING = re.compile(r"(?<=.)\{[a-zü0-9:]{1,99}\}\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Compound:
    """Words that are one name together: `tokens[start:stop]` of their paragraph, and its tag."""

    start: int
    stop: int
    tag: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of the PFR corpus.

    tokens: (word, tag) of each word; those of compounds are their parts.
    compounds: from left to right, none overlapping another.
    id: `yyyymmdd-page-article-paragraph`, or None. The corpus has ids that occur twice.
    """

    tokens: tuple[tuple[str, str], ...]
    compounds: tuple[Compound, ...] = ()
    id: str | None = None

    @property
    def date(self) -> datetime.date | None:
        """The day of the newspaper, from the id; ValueError for an id without one."""
        return None if self.id is None else _id_date(self.id)

    def tagged_words(self, *, merge: bool = False) -> list[tuple[str, str]]:
        """(word, tag) of each word.

        merge: whether a compound is one word with the tag of its bracket; else its brackets are
        dropped, and its parts are words.
        """
        if not merge:
            return list(self.tokens)
        merged: list[tuple[str, str]] = []
        stop = 0
        for compound in self.compounds:
            merged.extend(self.tokens[stop : compound.start])
            parts = self.tokens[compound.start : compound.stop]
            merged.append(("".join(word for word, _ in parts), compound.tag))
            stop = compound.stop
        merged.extend(self.tokens[stop:])
        return merged

    def words(self, *, merge: bool = False) -> list[str]:
        """The words without their tags; see `tagged_words`."""
        return [word for word, _ in self.tagged_words(merge=merge)]


def _id_date(identity: str) -> datetime.date:
    found = PARAGRAPH_ID.fullmatch(identity)
    if not found:
        raise ValueError(f"{identity!r} is no paragraph id; ids are such as 19980105-02-003-001")
    digits = found[1]
    try:
        return datetime.date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError as error:
        raise ValueError(
            f"the paragraph id {identity} begins with no date ({error}); write it as yyyymmdd"
        ) from error


def _parse_paragraph(tokens: Sequence[str]) -> Paragraph:
    """A paragraph from the tokens of its line; ValueError says what is wrong with them."""
    identity: str | None = None
    found: list[tuple[str, str]] = []
    compounds: list[Compound] = []
    opened: int | None = None
    for index, token in enumerate(tokens):
        rest = token
        # A bracket by itself is a word: [/w and ]/w.
        while rest.startswith("[") and "/" in rest[2:]:
            if opened is not None:
                raise ValueError(
                    f"a compound opens at {shown(token)} inside another one; close the other one "
                    "first, or take one pair of brackets away"
                )
            opened = len(found)
            rest = rest[1:]
        head, _, outer = rest.rpartition("]")
        outer = outer.removeprefix("/")
        closes = "/" in head and bool(outer) and "/" not in outer
        word, tag = split_token(head if closes else rest, "/")
        if "[" in tag or "]" in tag or (closes and "[" in outer):
            raise ValueError(
                f"the brackets of {shown(token)} are out of place; a compound is written "
                "[词/n 词/n]nt"
            )
        if index == 0 and tag == ID_TAG and PARAGRAPH_ID.fullmatch(word) and rest == token:
            _id_date(word)
            identity = word
            continue
        found.append((READING.sub("", word), tag))
        if closes:
            if opened is None:
                raise ValueError(
                    f"a compound closes at {shown(token)} that has not been opened; add [ before "
                    "its first word, or remove the bracket"
                )
            compounds.append(Compound(opened, len(found), outer))
            opened = None
    if opened is not None:
        raise ValueError(
            f"the compound that opens at the word {shown(found[opened][0])} is not closed; add ] "
            "and its tag after its last word"
        )
    if not found:
        raise ValueError("a paragraph id without words; remove the line or add its words")
    return Paragraph(tuple(found), tuple(compounds), identity)


def read_pfr(
    path: StrPath, *, days: Collection[int] | None = None, encoding: str = "utf-8"
) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file one by one; see `read_lines` for files and encodings.

    days: only paragraphs of these days of the month, counted from 1; None for all. All
    lines are read and checked in any case.

    Words are separated by runs of white space; lines without words part the articles and are
    skipped. The last slash of a token separates word and tag, so that a word may hold slashes.
    Closing brackets may be written `]nt` or `]/nt`. The id at the start of a line may be missing.
    Readings in braces (`为{wei4}/p`), which later releases have, are dropped.

    Raises CorpusError, besides the errors of `read_lines`, for tokens without a word or a tag,
    brackets that do not match or are nested, ids whose date is none, ids without words, a carriage
    return within a line, a file without words, and when `days` are given and a paragraph has no id.
    """
    for number, tokens in token_lines(path, encoding, "词/tag"):
        try:
            paragraph = _parse_paragraph(tokens)
        except ValueError as error:
            raise CorpusError(path, number, str(error)) from error
        if days is not None:
            if paragraph.date is None:
                raise CorpusError(
                    path,
                    number,
                    "the paragraph has no id, so its day is unknown; add ids such as "
                    "19980105-02-003-001/m, or read the file without choosing days",
                )
            if paragraph.date.day not in days:
                continue
        yield paragraph


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the paragraphs of PFR; raises as `read_pfr`, and if none is of the days asked for."""
    any_paragraph = False
    merge = options.compounds is Compounds.merged
    for paragraph in read_pfr(path, days=options.days, encoding=options.encoding):
        sentence = Sentence.of_pairs(paragraph.tagged_words(merge=merge))
        starts = (i == 0 for part in split_words(sentence.words) for i, _ in enumerate(part))
        any_paragraph = True
        yield replace(sentence, starts=tuple(starts))
    if not any_paragraph:
        raise ValueError(f"{path}: no paragraph of the days asked for; name other days")


FORMAT: Final = Format(
    "pfr",
    "word/tag, as the People's Daily has it",
    rank=80,
    read=read,
    sniff=lambda lines: share_of(TOKEN, tokens_of(lines)) >= MOST,
    options=("days", "compounds"),
)
"""Name, recognition, reader and writer of the format."""
