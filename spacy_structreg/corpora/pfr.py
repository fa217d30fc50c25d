"""Tagged text: one sentence or paragraph a line, each word with its tag, as in `北京/ns`.

The PFR corpus of the People's Daily has a paragraph a line, an id before its first word, words
separated by two spaces, and compound names in square brackets with a tag of their own:

    19980105-02-003-001/m  他/r  在/p  [广播/vn  大学/n]nt  学习/v  。/w

Other tagged text (`他_PN 来_VV`) has neither ids nor brackets: `read_tagged`, `write_tagged`.

Source: Yu, Duan, Zhu, Swen and Chang 2003, "Specification for corpus processing at Peking
University: word segmentation, POS tagging and phonetic notation"; the split by day is that of
`DAYS`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from spacy_structreg.corpora.errors import CorpusError, StrPath, shown
from spacy_structreg.corpora.files import check_line_end, read_lines, replace_text
from spacy_structreg.corpora.segmented import UNWRITABLE, WORD

__all__ = [
    "DAYS",
    "Compound",
    "Paragraph",
    "read_pfr",
    "read_tagged",
    "segmented_paragraphs",
    "write_pfr",
    "write_tagged",
]

# Days of the month of the usual split of January 1998.
DAYS = MappingProxyType({"train": range(1, 25), "dev": range(25, 28), "test": range(28, 32)})

PARAGRAPH_ID = re.compile("([0-9]{8})(?:-[0-9]{1,9}){3}")
ID_TAG = "m"
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


def _split_token(token: str, separator: str) -> tuple[str, str]:
    """(word, tag) of a token; the last separator counts."""
    word, _, tag = token.rpartition(separator)
    if not word or not tag:
        raise ValueError(
            f"{shown(token)} has no {'tag' if tag == token or not tag else 'word'}; each word is "
            f"written 词{separator}tag"
        )
    return word, tag


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
        word, tag = _split_token(head if closes else rest, "/")
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


def _token_lines(path: StrPath, encoding: str, form: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, tokens) of each line that has any."""
    number = 1
    any_tokens = False
    for number, line in read_lines(path, encoding=encoding):
        check_line_end(line, path, number)
        if tokens := WORD.findall(line):
            any_tokens = True
            yield number, tokens
    if not any_tokens:
        raise CorpusError(path, number, f"no words in the file; each word is written {form}")


def read_pfr(
    path: StrPath, *, days: Collection[int] | None = None, encoding: str = "utf-8"
) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file one by one; see `read_lines` for files and encodings.

    days: only paragraphs of these days of the month, such as `DAYS["train"]`; None for all. All
    lines are read and checked in any case.

    Words are separated by runs of white space; lines without words part the articles and are
    skipped. The last slash of a token separates word and tag, so that a word may hold slashes.
    Closing brackets may be written `]nt` or `]/nt`. The id at the start of a line may be missing.
    Readings in braces (`为{wei4}/p`), which later releases have, are dropped.

    Raises CorpusError, besides the errors of `read_lines`, for tokens without a word or a tag,
    brackets that do not match or are nested, ids whose date is none, ids without words, a carriage
    return within a line, a file without words, and when `days` are given and a paragraph has no id.
    """
    for number, tokens in _token_lines(path, encoding, "词/tag"):
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


def segmented_paragraphs(
    path: StrPath,
    *,
    merge: bool = False,
    days: Collection[int] | None = None,
    encoding: str = "utf-8",
) -> Iterator[list[str]]:
    """Yield the words of each paragraph; see `read_pfr` and `Paragraph.tagged_words`."""
    for paragraph in read_pfr(path, days=days, encoding=encoding):
        yield paragraph.words(merge=merge)


def write_pfr(path: StrPath, paragraphs: Iterable[Paragraph], *, encoding: str = "utf-8") -> int:
    """Write paragraphs so that `read_pfr` reads them back equal; return their number.

    The file is written in one step (`replace_text`). Raises ValueError for no paragraphs, and for
    one that would not be read back: words or tags that are empty or hold white space, brackets or
    braces that would be taken for mark-up, compounds that overlap, and the like.
    """

    def line_of(paragraph: Paragraph) -> str:
        parts = [f"{word}/{tag}" for word, tag in paragraph.tokens]
        if all(0 <= c.start < c.stop <= len(parts) for c in paragraph.compounds):
            for compound in paragraph.compounds:
                parts[compound.start] = "[" + parts[compound.start]
                parts[compound.stop - 1] += "]" + compound.tag
        # A compound out of range leaves no brackets, and the line is not read back equal.
        if paragraph.id is not None:
            parts.insert(0, f"{paragraph.id}/{ID_TAG}")
        return "  ".join(parts)

    count = 0
    with replace_text(path, encoding=encoding) as stream:
        for paragraph in paragraphs:
            line = line_of(paragraph)
            cells = [cell for token in paragraph.tokens for cell in token]
            cells += [compound.tag for compound in paragraph.compounds]
            if paragraph.id is not None:
                cells.append(paragraph.id)
            try:
                _check_cells(cells, first=count == 0 and line.startswith("\ufeff"))
                read_back = _parse_paragraph(WORD.findall(line))
            except ValueError as error:
                raise ValueError(f"paragraph {count} cannot be written: {error}") from error
            if read_back != paragraph:
                raise ValueError(
                    f"paragraph {count} cannot be written: it would be read back as another one; "
                    "tags must not hold slashes or brackets, words no brackets or readings in "
                    "braces at their ends, the first word no id, and compounds must be in order"
                )
            stream.write(line + "\n")
            count += 1
        if not count:
            raise ValueError("there is no paragraph to write")
    return count


def read_tagged(
    path: StrPath, *, separator: str = "_", encoding: str = "utf-8"
) -> Iterator[list[tuple[str, str]]]:
    """Yield (word, tag) of each word of each line that has any.

    separator: the character between word and tag; the last one of a token counts.

    Nothing else has a meaning: for ids and brackets, use `read_pfr`. Raises CorpusError, besides
    the errors of `read_lines`, for tokens without a word or a tag, a carriage return within a line
    and a file without words; ValueError for a separator that is not one visible character.
    """
    _check_separator(separator)
    for number, tokens in _token_lines(path, encoding, f"词{separator}tag"):
        try:
            sentence = [_split_token(token, separator) for token in tokens]
        except ValueError as error:
            raise CorpusError(path, number, str(error)) from error
        yield sentence


def write_tagged(
    path: StrPath,
    sentences: Iterable[Sequence[tuple[str, str]]],
    *,
    separator: str = "_",
    encoding: str = "utf-8",
) -> int:
    """Write one sentence a line so that `read_tagged` reads it back equal; return their number.

    The file is written in one step (`replace_text`). Raises ValueError for no sentences, a sentence
    without words, words or tags that are empty or hold white space, line breaks, NUL or lone
    surrogates, tags with the separator, and an unusable separator.
    """
    _check_separator(separator)
    count = 0
    with replace_text(path, encoding=encoding) as stream:
        for sentence in sentences:
            line = " ".join(f"{word}{separator}{tag}" for word, tag in sentence)
            try:
                if not sentence:
                    raise ValueError("it has no words; leave it out")
                _check_cells(
                    [cell for token in sentence for cell in token],
                    first=count == 0 and line.startswith("\ufeff"),
                )
                for _, tag in sentence:
                    if separator in tag:
                        raise ValueError(
                            f"the tag {tag!r} holds the separator {separator!r}; choose another"
                        )
            except ValueError as error:
                raise ValueError(f"sentence {count} cannot be written: {error}") from error
            stream.write(line + "\n")
            count += 1
        if not count:
            raise ValueError("there is no sentence to write")
    return count


def _check_separator(separator: str) -> None:
    if len(separator) != 1 or UNWRITABLE.search(separator) or separator == "\ufeff":
        raise ValueError(f"{separator!r} cannot separate words from tags; use / or _")


def _check_cells(cells: Iterable[str], *, first: bool) -> None:
    for cell in cells:
        if not cell or UNWRITABLE.search(cell):
            raise ValueError(
                f"{cell!r} must not be empty nor hold white space, line breaks, NUL or lone "
                "surrogates"
            )
    if first:
        raise ValueError(
            "it starts with U+FEFF, which readers drop as a byte order mark; remove it"
        )
