"""The record of a format of corpora, and helpers of their readers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.spacing import WORD

Reader: TypeAlias = Callable[[Path, CorpusOptions], Iterator[Sentence]]
Writer: TypeAlias = Callable[[Path, Iterable[Sentence]], None]

COMPRESSED: Final = ("", ".gz", ".xz")

# Share of tokens (or rows) that have the form of a format; faulty ones are the reader's to name.
MOST: Final = 0.9
"""Share of tokens or rows of the form of a format by which a file is recognized."""
HALF: Final = 0.5
"""The same of formats that are recognized by less."""

# universaldependencies.org/u/pos, and CONJ of version 1; spaCy knows these and refuses others.
UNIVERSAL_TAGS = frozenset(
    [
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN", "NUM", "PART"),
        *("PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
    ]
)
"""Universal parts of speech that spaCy knows."""


@dataclass(frozen=True)
class Format:
    """A format of corpora: `FORMAT` of its module in `corpora.formats`.

    name: as users give it. summary: a few words for the help of commands.
    rank: the lowest of the formats that a file could have is taken.
    read: yields the sentences of a file, as `any_format.read_sentences`; None if `pipeline` does.
    sniff: whether the first lines of a file are of the format; None if they cannot tell.
    suffixes: endings of names, in lower case, that files of this format alone have; .gz or .xz may
        follow. is_named: whether the file or the options say that it is of the format, though its
        name may not.
    options: fields of `CorpusOptions` that only some formats have, this one among them.
    grouped: whether several sentences can make a Doc.
    folder_suffixes: endings of the files that are read of a folder; none if folders are not read.
    written_suffix: ending of the names of files that `write` makes. write: raises ValueError for
        what cannot be written. writes_unknown: whether words may be known in part.
    """

    name: str
    summary: str
    rank: int
    read: Reader | None = None
    sniff: Callable[[Sequence[str]], bool] | None = None
    suffixes: tuple[str, ...] = ()
    is_named: Callable[[Path, CorpusOptions], bool] | None = None
    options: tuple[str, ...] = ()
    grouped: bool = False
    folder_suffixes: tuple[str, ...] = ()
    written_suffix: str = ""
    write: Writer | None = None
    writes_unknown: bool = False

    def has_suffix(self, path: Path) -> bool:
        """True if the name of a file says that it is of the format."""
        return path.name.lower().endswith(_compressed(self.suffixes))

    @property
    def written_suffixes(self) -> tuple[str, ...]:
        """Endings of the names of files that `write` makes, compressed ones included."""
        return _compressed((self.written_suffix,)) if self.write is not None else ()


def _compressed(suffixes: Iterable[str]) -> tuple[str, ...]:
    return tuple(suffix + packed for suffix in suffixes for packed in COMPRESSED)


def share_of(pattern: re.Pattern[str], items: Sequence[str]) -> float:
    """Return the share of items that match a pattern."""
    return sum(bool(pattern.fullmatch(item)) for item in items) / len(items)


def tokens_of(lines: Iterable[str]) -> list[str]:
    """Split at white space."""
    return [token for line in lines for token in WORD.findall(line)]


def universal_tags(tags: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """Universal tags, "" for those of other names; none if all are. The number of the others."""
    found = list(tags)
    pos = tuple(tag if tag in UNIVERSAL_TAGS else "" for tag in found)
    return pos if any(pos) else (), sum(a != b for a, b in zip(found, pos, strict=True))
