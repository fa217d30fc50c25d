"""doccano's export of labeled sequences: an object a line, with a text and its spans.

{"text": "我在临江市", "label": [[2, 5, "CITY"]]}
{"text": "我在临江市", "entities": [{"start_offset": 2, "end_offset": 5, "label": "CITY"}]}

The key of pairs is ``label`` or ``labels``, of objects ``entities`` (of projects with relations,
which are left out). The text may be under ``data``. What is written has ``label``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import srsly  # type: ignore[import-untyped]

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.corpus_format import Format
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.files import write_texts
from spacy_structreg.corpora.formats.classified import JSON_SUFFIXES, is_json
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.text_spans import (
    TextSpan,
    first_object,
    marked_text,
    read_objects,
    sentences_of_text,
    span_of,
    string_of,
)

KEYS: Final = ("label", "labels", "entities")


def spans_of(found: Mapping[str, Any]) -> list[TextSpan]:
    """The spans of an object. Raises ValueError for something else."""
    if "annotations" in found and not found.keys() & set(KEYS):
        raise ValueError(
            "the labels are numbers of a database; export 'JSONL' of a newer doccano, or "
            "'JSONL (Text-Labels)'"
        )
    listed = next((found[key] for key in KEYS if key in found), None)
    if not isinstance(listed, list):
        raise ValueError("there is no list of spans under 'label', 'labels' or 'entities'; add it")
    spans = []
    for each in listed:
        if isinstance(each, dict):
            values = [each.get(key) for key in ("start_offset", "end_offset", "label")]
        else:
            values = each if isinstance(each, list) and len(each) == 3 else [None, None, each]
        spans.append(span_of(*values))
    return spans


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the lines of the texts, with their spans as entities.

    Raises CorpusError, besides the errors of `read_lines`, for lines that are no such objects, as
    `sentences_of_text`, and for a file without a text.
    """
    number = 0
    for number, found in read_objects(path, options):
        try:
            yield from sentences_of_text(string_of(found, "text", "data"), spans_of(found))
        except ValueError as error:
            raise CorpusError(path, number, str(error)) from error
    if not number:
        raise CorpusError(path, 1, "no text in the file; export some")


def labeled_object(text: str, spans: Iterable[TextSpan]) -> dict[str, Any]:
    """A text and its spans, to be imported as a sequence that is labeled already."""
    return {"text": text, "label": [list(span) for span in spans]}


def write(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write a line for each sentence, as of `labeled_object`."""
    objects = (labeled_object(*marked_text(sentence)) for sentence in sentences)
    write_texts(path, (srsly.json_dumps(each) + "\n" for each in objects))


def is_named(path: Path, options: CorpusOptions) -> bool:
    """True for JSON lines whose first object has a list of spans."""
    if not is_json(path):
        return False
    found = first_object(path, options.encoding)
    return any(isinstance(found.get(key), list) for key in (*KEYS, "annotations"))


FORMAT: Final = Format(
    "doccano",
    "doccano's JSON lines: a text and its labeled spans",
    rank=8,
    read=read,
    is_named=is_named,
    written_suffix=JSON_SUFFIXES[0],
    write=write,
    writes_unknown=True,
)
"""Name, recognition, reader and writer of the format."""
