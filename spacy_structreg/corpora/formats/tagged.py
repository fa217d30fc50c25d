"""Tagged text: one sentence a line, each word with its tag, as in `他_PN 来_VV`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, shown
from spacy_structreg.corpora.corpus_format import MOST, Format, share_of, tokens_of
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.files import check_line_end, read_lines
from spacy_structreg.corpora.formats.segmented import UNWRITABLE
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.spacing import WORD
from spacy_structreg.corpora.trees import bracket_of

TAG = "[A-Za-z][A-Za-z0-9-]*"
"""The form of a tag, where formats are told apart."""

TOKEN = re.compile(f".+_{TAG}", re.DOTALL)


def split_token(token: str, separator: str) -> tuple[str, str]:
    """(word, tag) of a token; the last separator counts."""
    word, _, tag = token.rpartition(separator)
    if not word or not tag:
        raise ValueError(
            f"{shown(token)} has no {'tag' if tag == token or not tag else 'word'}; each word is "
            f"written 词{separator}tag"
        )
    return word, tag


def token_lines(path: StrPath, encoding: str, form: str) -> Iterator[tuple[int, list[str]]]:
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


def read_tagged(
    path: StrPath, *, separator: str = "_", encoding: str = "utf-8"
) -> Iterator[list[tuple[str, str]]]:
    """Yield (word, tag) of each word of each line that has any.

    separator: the character between word and tag; the last one of a token counts.

    Words that name a bracket, as `-LRB-`, are that bracket. Nothing else has a meaning: for ids and
    brackets, use `pfr.read_pfr`. Raises CorpusError, besides the errors of `read_lines`, for tokens
    without a word or a tag, a carriage return within a line and a file without words; ValueError
    for a separator that is not one visible character.
    """
    _check_separator(separator)
    for number, tokens in token_lines(path, encoding, f"词{separator}tag"):
        try:
            pairs = [split_token(token, separator) for token in tokens]
        except ValueError as error:
            raise CorpusError(path, number, str(error)) from error
        yield [(bracket_of(word), tag) for word, tag in pairs]


def _check_separator(separator: str) -> None:
    if len(separator) != 1 or UNWRITABLE.search(separator) or separator == "\ufeff":
        raise ValueError(f"{separator!r} cannot separate words from tags; use / or _")


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the sentences of tagged text; raises as `read_tagged`."""
    yield from map(Sentence.of_pairs, read_tagged(path, encoding=options.encoding))


FORMAT: Final = Format(
    "tagged",
    "word_TAG",
    rank=90,
    read=read,
    sniff=lambda lines: share_of(TOKEN, tokens_of(lines)) >= MOST,
)
"""Name, recognition, reader and writer of the format."""
