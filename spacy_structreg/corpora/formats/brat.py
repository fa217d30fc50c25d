"""brat's standoff annotation: a file .ann beside the .txt of the text that it is about.

T1	CITY 2 5	临江市

Lines of other kinds than T (relations, events, attributes, notes) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from spacy_structreg.corpora.corpus_errors import CorpusError, shown
from spacy_structreg.corpora.corpus_format import Format
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.files import read_blocks, read_lines
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.text_spans import TextSpan, sentences_of_text

SUFFIX: Final = ".ann"
ENTITY: Final = re.compile(r"T\S*\t(\S+) ([0-9]{1,12}) ([0-9]{1,12})\t(.*)")
DISCONTINUOUS: Final = re.compile(r"T\S*\t\S+ [0-9 ]+;[0-9; ]+\t.*")
ENDING: Final = re.compile(r"\.ann(\.gz|\.xz)?$", re.IGNORECASE)
SPACE: Final = re.compile(r"\s")


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the lines of the text beside a file of annotation, with its spans as entities.

    Raises CorpusError, besides the errors of `read_lines`, for discontinuous spans, lines that are
    no spans or have another text than stands there, and as `sentences_of_text`; OSError if the
    text is not there.
    """
    beside = path.with_name(ENDING.sub("", path.name) + ".txt")
    text = "".join(read_blocks(beside, encoding=options.encoding))
    spans = []
    for number, line in read_lines(path, encoding=options.encoding):
        if not line.startswith("T"):
            continue
        if DISCONTINUOUS.fullmatch(line):
            raise CorpusError(
                path,
                number,
                f"{shown(line)} is a span in several parts, which no entity of spaCy can be; "
                "annotate the parts one by one, or remove it",
            )
        if (found := ENTITY.fullmatch(line)) is None:
            raise CorpusError(
                path,
                number,
                f"{shown(line)} is no span; write number, tab, label, first character and first "
                "after it, tab, and text",
            )
        span = TextSpan(int(found[2]), int(found[3]), found[1])
        # brat writes a line break in a span as a space.
        if SPACE.sub(" ", text[span.begin : span.end]) != SPACE.sub(" ", found[4]):
            raise CorpusError(
                path,
                number,
                f"{shown(found[4])} does not stand at {span.begin}-{span.end} of {beside.name}; "
                "take the text that was annotated",
            )
        spans.append(span)
    try:
        yield from sentences_of_text(text, spans)
    except ValueError as error:
        raise CorpusError(path, 1, str(error)) from error


FORMAT: Final = Format(
    "brat",
    "brat's .ann, beside the .txt of the text",
    rank=5,
    read=read,
    suffixes=(SUFFIX,),
    folder_suffixes=(SUFFIX,),
)
"""Name, recognition, reader and writer of the format."""
