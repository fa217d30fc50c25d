"""Prodigy's JSON lines, as `prodigy db-out` writes them: a text, its spans, and the answer.

{"text": "我在临江市", "spans": [{"start": 2, "end": 5, "label": "CITY"}], "answer": "accept"}

Texts whose answer is to reject or to ignore are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.corpus_format import Format
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.formats.classified import is_json
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.text_spans import (
    first_object,
    read_objects,
    sentences_of_text,
    span_of,
    string_of,
)

ACCEPTED: Final = "accept"
# Keys that tell the format; objects have one of them at least.
KEYS: Final = frozenset({"spans", "answer", "_input_hash"})


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the lines of the texts that were accepted, with their spans as entities.

    Raises CorpusError, besides the errors of `read_lines`, for lines that are no such objects, as
    `sentences_of_text`, and for a file without such a text.
    """
    number = 1
    empty = True
    for number, found in read_objects(path, options):
        if found.get("answer", ACCEPTED) != ACCEPTED:
            continue
        empty = False
        spans = found.get("spans", [])
        try:
            if not isinstance(spans, list) or not all(isinstance(each, dict) for each in spans):
                raise ValueError("'spans' is no list of objects; mend it")
            chosen = [span_of(*map(each.get, ("start", "end", "label"))) for each in spans]
            yield from sentences_of_text(string_of(found, "text"), chosen)
        except ValueError as error:
            raise CorpusError(path, number, str(error)) from error
    if empty:
        raise CorpusError(path, number, "no text in the file was accepted; annotate some")


FORMAT: Final = Format(
    "prodigy",
    "Prodigy's JSON lines: a text, its spans and the answer",
    rank=7,
    read=read,
    is_named=lambda path, options: (
        is_json(path) and not KEYS.isdisjoint(first_object(path, options.encoding))
    ),
)
"""Name, recognition, reader and writer of the format."""
