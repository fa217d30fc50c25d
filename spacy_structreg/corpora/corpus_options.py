"""Options of reading corpora: formats, parts, columns and the like, as users name them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

Tokenize: TypeAlias = Callable[[str], tuple[list[str], list[bool]]]
"""The words of a text, and whether a space follows each."""

AUTO: Final = "auto"
"""Value for a format detected from the file."""

TEXT_SUFFIXES = (".txt", ".txt.gz", ".txt.xz")
"""Endings of the names of segmented text."""

DAY_RANGES = re.compile("[0-9]{1,2}(?:-[0-9]{1,2})?(?:,[0-9]{1,2}(?:-[0-9]{1,2})?)*")
LAST_DAY = 31

SKIPPED: Final = "_"
"""Name of skipped columns."""

WORD: Final = "word"
"""Name of the required column of words."""
LABEL: Final = "label"
"""Name of the column of labels."""
COLUMNS: Final = (WORD, "tag", "pos", LABEL)
"""Names of the columns of words; tasks may add others."""
TEXT_COLUMNS: Final = ("text", "category")
"""Names of the columns of classified texts."""


class SchemeName(str, Enum):
    """Labeling schemes (`corpora.labeling`); `auto` looks at the labels."""

    auto = "auto"
    bio = "bio"
    iob1 = "iob1"
    bioes = "bioes"
    io = "io"


class Compounds(str, Enum):
    """Words of a bracketed compound of PFR."""

    parts = "parts"
    merged = "merged"


class HeadRuleSet(str, Enum):
    """Head rules by their name; see `corpora.head_rules`."""

    ctb = "ctb"
    ptb = "ptb"


class Spaces(str, Enum):
    """Spaces of the text of a sentence; `auto` is explained at `formats.conllu.read`."""

    auto = "auto"
    none = "none"
    file = "file"
    latin = "latin"


def words_between_spaces(text: str) -> tuple[list[str], list[bool]]:
    """The words of a text between its white space."""
    words = text.split()
    return words, [*[True] * (len(words) - 1), False]


@dataclass(frozen=True)
class CorpusOptions:
    """Options of reading a corpus.

    format: name of one of `any_format.all_formats`, or `AUTO`.
    encoding: as `corpora.files.read_lines` takes it; of a SIGHAN release, another one than UTF-8
        asks for the files in their original encodings.
    compounds, days: of PFR; days of the month, None for all.
    part: of a SIGHAN release, such as `pku/test`.
    spaces: of CoNLL-U and columns; `latin` of all formats.
    head_rules: of brackets, to take trees with their heads; None for words and tags alone.
    columns, scheme, comments: of column files, and the first of classified texts; as
        `parse_columns` gives them.
    spans_key: the span group that labeled spans go to, of column files; None for entities. Of Docs,
        the one that they are read from; None for the usual one.
    lang, tokenize: of classified texts: the language whose tokenizer parts them, and what does.
    """

    format: str = AUTO
    encoding: str = "utf-8"
    compounds: Compounds = Compounds.parts
    days: frozenset[int] | None = None
    part: str | None = None
    spaces: Spaces = Spaces.auto
    head_rules: HeadRuleSet | None = None
    columns: tuple[str, ...] | None = None
    scheme: SchemeName = SchemeName.auto
    comments: str | None = None
    spans_key: str | None = None
    lang: str = "xx"
    tokenize: Tokenize = words_between_spaces


def parse_columns(text: str | None, further: Iterable[str] = ()) -> tuple[str, ...] | None:
    """The names of columns from such as `word,tag,label`; None for None.

    further: names of columns of words that there are besides `COLUMNS`.
    Raises ValueError for anything else.
    """
    if text is None:
        return None
    names = tuple(text.split(","))
    known = (*COLUMNS, *further) if WORD in names else TEXT_COLUMNS
    given = [name for name in names if name != SKIPPED]
    if set(given) - set(known) or len(set(given)) < len(given) or known[0] not in given:
        raise ValueError(
            f"--columns is {text!r}; name each column once, in the order of the file: "
            f"{', '.join((*COLUMNS, *further))} (word at least), or {' and '.join(TEXT_COLUMNS)}; "
            f"{SKIPPED} for what is skipped"
        )
    return names


def parse_days(text: str | None) -> frozenset[int] | None:
    """Days of the month from such as `1-24` or `1-7,15`; None for None.

    Raises ValueError for anything else.
    """
    if text is None:
        return None
    days: set[int] = set()
    if DAY_RANGES.fullmatch(text):
        for part in text.split(","):
            first, _, last = part.partition("-")
            run = range(int(first), int(last or first) + 1)
            if not run or run[0] < 1 or run[-1] > LAST_DAY:
                days.clear()
                break
            days.update(run)
    if not days:
        raise ValueError(
            f"{text!r} is no choice of days; write days of the month from 1 to 31, such as 1-24 or "
            "1-7,15"
        )
    return frozenset(days)


def split_part(part: str) -> tuple[str, str]:
    """Corpus and part from such as `pku/test`. Raises ValueError without the slash."""
    corpus, slash, name = part.partition("/")
    if not slash:
        raise ValueError(
            f"--part is {part!r}; write corpus and part of the release, such as pku/training or "
            "pku/test"
        )
    return corpus, name
