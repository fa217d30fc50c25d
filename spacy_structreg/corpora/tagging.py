"""Tagged sentences from any format that has tags."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal, TypeAlias

from spacy_structreg.corpora import brackets, conllu
from spacy_structreg.corpora.corpus_errors import StrPath
from spacy_structreg.corpora.formats import guess_format
from spacy_structreg.corpora.pfr import read_pfr, read_tagged

__all__ = ["TAGGED_FORMATS", "TaggedFormat", "read_tagged_sentences"]

TaggedFormat: TypeAlias = Literal["brackets", "conllu", "pfr", "tagged"]
"""Names of formats of tagged text."""

TAGGED_FORMATS: tuple[TaggedFormat, ...] = ("brackets", "conllu", "pfr", "tagged")
"""All formats of tagged text."""


def read_tagged_sentences(
    path: StrPath,
    *,
    format: TaggedFormat | None = None,
    column: Literal["xpos", "upos"] = "xpos",
    merge: bool = False,
    days: Collection[int] | None = None,
    encoding: str = "utf-8",
) -> Iterator[list[tuple[str, str]]]:
    """Yield (word, tag) of the words of each sentence; of PFR, of each paragraph.

    format: None looks at the file (`guess_format`).
    column: of CoNLL-U, which tags. merge, days: of PFR, whether compounds are one word, and the
    days of the month; see `read_pfr` and `Paragraph.tagged_words`.

    Words are as the corpus writes them; those of brackets are without empty terminals, their tags
    without functions. Raises ValueError (CorpusError with file and line, for faults of the file)
    for a format without tags, if no paragraph is of the days, and as the readers of the formats.
    """
    found = format or guess_format(path, encoding=encoding)
    if found == "brackets":
        yield from brackets.tagged_sentences(path, encoding=encoding)
    elif found == "conllu":
        yield from conllu.tagged_sentences(path, column=column, encoding=encoding)
    elif found == "tagged":
        yield from read_tagged(path, encoding=encoding)
    elif found == "pfr":
        any_paragraph = False
        for paragraph in read_pfr(path, days=days, encoding=encoding):
            any_paragraph = True
            yield paragraph.tagged_words(merge=merge)
        if not any_paragraph:
            raise ValueError(f"{path}: no paragraph of the days asked for; name other days")
    else:
        raise ValueError(
            f"{path}: the format {found} has no tags; formats with tags are "
            f"{', '.join(TAGGED_FORMATS)}"
        )
