r"""Classified texts, each of one category: lines of cells between tabs, or of JSON.

harbor	Two boats left the quay at dawn.
{"text": "Two boats left the quay at dawn.", "category": "harbor"}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import srsly  # type: ignore[import-untyped]

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, shown
from spacy_structreg.corpora.corpus_format import Format
from spacy_structreg.corpora.corpus_options import SKIPPED, CorpusOptions
from spacy_structreg.corpora.files import read_lines
from spacy_structreg.corpora.formats.columns import read_columns
from spacy_structreg.corpora.sentence import Sentence

TEXT: Final = "text"
"""Name of the column, or key, of the text."""
CATEGORY: Final = "category"
"""Name of the column, or key, of the category."""
# Whichever of these an object has.
CATEGORY_KEYS: Final = (CATEGORY, "label")
JSON_SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".jsonl.xz")
"""Endings of the names of JSON files, an object a line."""
# Columns of these names are never empty.
COLUMNS: Final = {TEXT: "word", CATEGORY: "label"}


def is_json(path: StrPath) -> bool:
    """True if a file has lines of JSON, by its name."""
    return str(path).lower().endswith(JSON_SUFFIXES)


def read_classified(
    path: StrPath, columns: Sequence[str] = (TEXT, CATEGORY), *, encoding: str = "utf-8"
) -> Iterator[tuple[str, str]]:
    """Yield the text and the category of each line; blank lines are passed over.

    columns: what stands between tabs, in its order: "text", "category", and "_" for what is
        skipped. Files whose names end in .jsonl (or .jsonl.gz, .jsonl.xz) have an object a line
        instead, with "text" and "category" (or "label") among its keys.

    Raises CorpusError, besides the errors of `read_lines`, for a line with more or fewer cells, an
    empty text or category, a line that is no object of JSON with these keys, both of them strings,
    and a file without a text; ValueError for other columns.
    """
    if sorted(set(columns) - {SKIPPED}) != [CATEGORY, TEXT]:
        raise ValueError(
            f"the columns {', '.join(columns)} are not text and category; name these two, and "
            f"{SKIPPED} for any that is skipped"
        )
    if is_json(path):
        yield from _read_json(path, encoding)
        return
    names = [COLUMNS.get(name, name) for name in columns]
    turned = names.index("label") < names.index("word")
    for rows in read_columns(
        path,
        names,
        separator="\t",
        document_start=None,
        blank_words=False,
        no_rows_error="no text in the file; write a text and its category on each line",
        encoding=encoding,
    ):
        for row in rows:
            first, second = row
            yield (second, first) if turned else (first, second)


def _read_json(path: StrPath, encoding: str) -> Iterator[tuple[str, str]]:
    empty = True
    number = 1
    for number, line in read_lines(path, encoding=encoding):
        if not line.strip():
            continue
        try:
            found = srsly.json_loads(line)
        except ValueError as error:
            raise CorpusError(
                path, number, f"{shown(line)} is no JSON ({error}); write an object a line"
            ) from error
        pair = _pair(found) if isinstance(found, dict) else None
        if pair is None:
            raise CorpusError(
                path,
                number,
                f'{shown(line)} is no object with strings for "text" and "category" (or "label"); '
                "write it so",
            )
        for name, value in zip((TEXT, CATEGORY), pair, strict=True):
            if not value.strip() or not _is_encodable(value):
                raise CorpusError(
                    path,
                    number,
                    f"the {name} of {shown(line)} is empty, or has a lone surrogate; mend it, or "
                    "remove the line",
                )
        empty = False
        yield pair
    if empty:
        raise CorpusError(path, number, "no text in the file; write an object a line")


def _pair(found: dict[str, object]) -> tuple[str, str] | None:
    text = found.get(TEXT)
    category = next((found[key] for key in CATEGORY_KEYS if key in found), None)
    return (text, category) if isinstance(text, str) and isinstance(category, str) else None


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield classified texts, in words of a tokenizer; raises as `read_classified`."""
    columns = options.columns or (TEXT, CATEGORY)
    for text, category in read_classified(path, columns, encoding=options.encoding):
        words, spaces = options.tokenize(text)
        yield Sentence(tuple(words), spaces=tuple(spaces), category=category)


FORMAT: Final = Format(
    "classified",
    "a text and its category a line, between tabs or as JSON (.jsonl)",
    rank=10,
    read=read,
    is_named=lambda path, options: is_json(path) or TEXT in (options.columns or ()),
    options=("columns",),
)
"""Name, recognition, reader and writer of the format."""
