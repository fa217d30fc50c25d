r"""Sentences that are annotated in part, and their files: one sentence a line, ``字|字-字 字``.

Behind each character but the last stands what is known of the place between it and the next one:
``|``, a word ends there; ``-``, none does; a space, nothing is known; ``?``, neither, and it is
asked for. A word whose ends are known may have a tag: ``北-京/NR|大 学``. Where one of these marks,
a slash or a backslash is itself a character, it may be written behind a backslash; in a tag, ``\``,
``/`` and ``|`` have to be. (The format of KyTea, Neubig, Nakata & Mori 2011, with the question mark
added; of several tags of a word, the first counts.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, shown
from spacy_structreg.corpora.corpus_format import MOST, Format
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.files import check_line_end, read_lines, write_texts
from spacy_structreg.corpora.partial_sentence import MARKS, PartialSentence
from spacy_structreg.corpora.sentence import LabeledSpan, Sentence

TAG: Final = re.compile(r"(?:[^\\|]|\\.)*")
ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
# How a file is told from others: see `is_partial_line`.
LINE: Final = re.compile(
    r"(?:\\.|[^\\\s])(?:/(?:[^\\|\s]|\\.)+(?=\||$))?"
    r"(?:[|\- ?](?:\\.|[^\\\s])(?:/(?:[^\\|\s]|\\.)+(?=\||$))?)+"
)


def parse_partial(line: str) -> PartialSentence:
    """A sentence from a line, without its line break. Raises ValueError for faults."""
    characters: list[str] = []
    boundaries: list[bool | None] = []
    tags: list[LabeledSpan] = []
    first = 0
    at = 0
    line = line.rstrip(" \t")
    while True:
        escaped = line[at : at + 1] == "\\"
        at += escaped
        character = line[at : at + 1]
        if not character:
            raise ValueError(
                "the line ends where a character is to stand; begin and end it with characters, "
                "and put one of | - and the space between each two"
            )
        if character.isspace():
            raise ValueError(
                f"white space stands for a character at offset {at}; put one of | - and the space "
                "between each two characters, and leave white space of the text out"
            )
        characters.append(character)
        at += 1
        if line[at : at + 1] == "/":
            found = TAG.match(line, at + 1)
            written = found[0] if found else ""
            at += 1 + len(written)
            tag = ESCAPED.sub(r"\1", re.split(r"(?<!\\)/", written, maxsplit=1)[0])
            if not tag or tag.split() != [tag]:
                raise ValueError(
                    f"{shown(tag)} is no tag; a tag has no white space, and | follows it, or the "
                    "end of the line"
                )
            tags.append((first, len(characters), tag))
        if at >= len(line):
            break
        mark = line[at]
        if mark not in MARKS:
            raise ValueError(
                f"{shown(mark)} stands between two characters at offset {at}; put one of | - and "
                "the space there"
            )
        boundaries.append(MARKS[mark])
        if MARKS[mark]:
            first = len(characters)
        at += 1
    return PartialSentence("".join(characters), tuple(boundaries), tuple(tags))


def read_partial(path: StrPath, *, encoding: str = "utf-8") -> Iterator[PartialSentence]:
    """Yield the sentence of each line that is not blank; see the module.

    Raises CorpusError, besides the errors of `read_lines`, for lines of another form, carriage
    returns within a line, and a file without a sentence.
    """
    number = 1
    empty = True
    for number, line in read_lines(path, encoding=encoding):
        check_line_end(line, path, number)
        if not line.strip():
            continue
        try:
            sentence = parse_partial(line)
        except ValueError as error:
            raise CorpusError(path, number, str(error)) from error
        empty = False
        yield sentence
    if empty:
        raise CorpusError(
            path, number, "no sentence in the file; partial annotation has one sentence a line"
        )


def write_partial(
    path: StrPath,
    sentences: Iterable[PartialSentence | tuple[PartialSentence, Iterable[int]]],
    *,
    encoding: str = "utf-8",
) -> int:
    """Write sentences, one a line, in one step; returns their number.

    sentences: alone, or with the numbers of the boundaries to be asked for. Raises ValueError if
    there are none.
    """

    def lines() -> Iterator[str]:
        for each in sentences:
            sentence, asked = each if isinstance(each, tuple) else (each, ())
            yield sentence.line(asked) + "\n"

    return write_texts(path, lines(), encoding=encoding)


def is_partial_line(line: str) -> bool:
    """True if a line has the form of a sentence, and says of one place at least what is there."""
    return LINE.fullmatch(line) is not None and any(mark in line for mark in "|-?")


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the sentences of a file, in pieces; raises as `read_partial`."""
    for sentence in read_partial(path, encoding=options.encoding):
        yield Sentence(
            tuple(sentence.pieces),
            tuple(sentence.piece_tags) if sentence.tags else (),
            unknown=tuple(sentence.unknown),
        )


def write(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write the words and tags of sentences, as far as they are known."""
    write_partial(
        path,
        (PartialSentence.of_words(each.words, each.tags, each.unknown) for each in sentences),
    )


FORMAT: Final = Format(
    "partial",
    "characters with | - or a space between each two: a word's end, none, unknown",
    rank=60,
    read=read,
    sniff=lambda lines: sum(map(is_partial_line, lines)) >= MOST * len(lines),
    suffixes=(".partial",),
    written_suffix=".partial",
    write=write,
    writes_unknown=True,
)
"""Name, recognition, reader and writer of the format."""
