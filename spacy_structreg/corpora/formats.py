"""The format of a corpus file, and a check that text is raw."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from spacy_structreg.corpora.brackets import after_markup
from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath
from spacy_structreg.corpora.files import read_lines
from spacy_structreg.corpora.partial_annotation import is_partial_line
from spacy_structreg.corpora.segmentation import HAN, SPACED_HAN, WORD
from spacy_structreg.corpora.sighan import is_release, list_sighan

__all__ = ["CorpusFormat", "check_raw_lines", "guess_format"]

CorpusFormat: TypeAlias = Literal[
    "segmented", "brackets", "sinica", "conllu", "pfr", "tagged", "partial", "sighan"
]
"""Names of formats that are guessed from a text."""

# Extensions of one format only; .gz or .xz may follow.
EXTENSIONS: Mapping[str, CorpusFormat] = MappingProxyType(
    {".conllu": "conllu", ".mrg": "brackets", ".bracket": "brackets", ".partial": "partial"}
)
COMPRESSED = (".gz", ".xz")

# How much of a file `guess_format` looks at.
MOST_LINES = 200
MOST_CHARACTERS = 100_000

# `( (IP`, `(IP (NP`, or a tree of one leaf. Segmented text may begin with brackets, too, but then
# white space follows them.
TREE = re.compile(r"\s*\((?:\s*(?:[^\s()]+\s*)?\([^\s()]|[A-Z]+\s+[^\s()]+\s*\))")
SINICA_ROW = re.compile(r"#[^\s\[\]]*\[[^\[\]]*\][ \t]*\S.*#[^#]*")
CONLLU_ROW = re.compile("[0-9]+(?:[-.][0-9]+)?(?:\t[^\t]*){9}")
# Of any script: such rows are no text either.
NUMBERED_ROW = re.compile("\\d+\t.*", re.DOTALL)
TAG = "[A-Za-z][A-Za-z0-9-]*"
PFR_TOKEN = re.compile(rf".+/{TAG}(?:\]/?{TAG})?", re.DOTALL)
TAGGED_TOKEN = re.compile(f".+_{TAG}", re.DOTALL)
COLUMN_TAG = re.compile("O|[BIESM](?:[-_].+)?|[A-Z]{1,5}|[0-9]{1,3}")
LEAST_ROWS = 5
# Share of tokens (or rows) that have the form of a format; faulty ones are the reader's to name.
MOST = 0.9
HALF = 0.5

HAN_PAIR = re.compile(f"[{HAN}][ \t\u3000]*[{HAN}]")

# The rule by which text is not raw; see `check_raw_lines`.
LEAST_SPACED_LINES = 2
SPACED_SHARE = 0.2


def guess_format(path: StrPath, *, encoding: str = "utf-8") -> CorpusFormat:
    """The format of a corpus, from the extension of the file if it names one (`EXTENSIONS`).

    The reader of the format says then if the file is none of it. Otherwise the first lines tell:

    sighan: a folder or zip archive with files that `list_sighan` knows.
    conllu: at least half of the rows have ten columns and an ID.
    brackets: the first text that is no mark-up (nor in the header of mark-up) begins a tree.
    sinica: nine tenths of the lines have a number, brackets and a tree between two #.
    pfr, tagged: nine tenths of the words are written word/tag, or word_tag; tags are Latin letters,
        digits and hyphens.
    partial: nine tenths of the lines are single characters with a mark between each two, one at
        least of which says something, or asks (`corpora.partial_annotation`).
    segmented: white space separates Han characters in at least half of the lines that have two of
        them; in text without such lines, at least half of the lines have white space within.

    Raises CorpusError when it is none of these (raw text, say, one word a line with its label, or
    rows that are numbered as those of CoNLL-U and are none), for an empty file, and as
    `read_lines`; ValueError for folders and archives of something else.
    """
    if is_release(path):
        if list_sighan(path):
            return "sighan"
        raise ValueError(
            f"{path}: no file of the SIGHAN 2005 release (training/pku_training.utf8, …) in it; "
            "name its folder icwb2-data or its zip archive, or a file; for a folder of trees, name "
            "the format brackets"
        )
    name = Path(path)
    suffix = (name.with_suffix("") if name.suffix.lower() in COMPRESSED else name).suffix
    if named := EXTENSIONS.get(suffix.lower()):
        return named
    lines: list[str] = []
    first_line = number = 1
    for number, line in read_lines(path, encoding=encoding):
        if WORD.search(line):
            if not lines:
                first_line = number
            lines.append(line[:MOST_CHARACTERS])
            if len(lines) == MOST_LINES:
                break
    if not lines:
        raise CorpusError(path, number, "no text in the file; name a corpus")
    if guessed := _guess(lines):
        return guessed
    raise CorpusError(
        path,
        first_line,
        f"the format cannot be told from the beginning of the file: {_untold(lines)}; if it is a "
        "corpus, name its format",
    )


def _untold(lines: list[str]) -> str:
    """The reason why `_guess` found nothing."""
    if _is_numbered(lines):
        return "the lines are numbered, but have no ten columns as those of CoNLL-U"
    if _looks_like_columns(lines):
        return "each line seems to be one word with its label"
    if any(HAN_PAIR.search(line) for line in lines):
        return "the text does not seem to be segmented"
    return "most lines have no white space"


def _guess(lines: list[str]) -> CorpusFormat | None:
    """The format of the first lines of a file, if it can be told."""
    rows = [line for line in lines if not line.startswith("#")]
    if rows and _share(CONLLU_ROW, rows) >= HALF:
        return "conllu"
    if TREE.match(after_markup(lines)):
        return "brackets"
    if sum(map(is_partial_line, lines)) >= MOST * len(lines):
        return "partial"
    tokens = [token for line in lines for token in WORD.findall(line)]
    forms: list[tuple[CorpusFormat, re.Pattern[str], list[str]]] = [
        ("sinica", SINICA_ROW, lines),
        ("pfr", PFR_TOKEN, tokens),
        ("tagged", TAGGED_TOKEN, tokens),
    ]
    for name, pattern, items in forms:
        if _share(pattern, items) >= MOST:
            return name
    if _is_numbered(lines) or _looks_like_columns(lines):
        return None
    with_han = [line for line in lines if HAN_PAIR.search(line)]
    if with_han:
        n_separated = sum(bool(SPACED_HAN.search(line)) for line in with_han)
    else:
        n_separated = sum(len(WORD.findall(line)) > 1 for line in lines)
    return "segmented" if n_separated >= HALF * len(with_han or lines) else None


def _share(pattern: re.Pattern[str], items: list[str]) -> float:
    return sum(bool(pattern.fullmatch(item)) for item in items) / len(items)


def _is_numbered(lines: list[str]) -> bool:
    rows = [line for line in lines if not line.startswith("#")]
    return bool(rows) and _share(NUMBERED_ROW, rows) >= HALF


def _looks_like_columns(lines: list[str]) -> bool:
    """True if each line is a word with its label or head, as in CoNLL-2003, in equal columns."""
    rows = [WORD.findall(line) for line in lines]
    return (
        len(rows) >= LEAST_ROWS
        and len({len(row) for row in rows}) == 1
        and len(rows[0]) > 1
        and all(COLUMN_TAG.fullmatch(row[-1]) for row in rows)
    )


def check_raw_lines(lines: Iterable[str], file: StrPath) -> None:
    """Raise CorpusError when the spaces of a text give its word boundaries away.

    lines: of text that is to be segmented, or to stand as raw text beside gold words.
    file: where it comes from, for the error; its lines are counted from 1.

    Names, headings and verse have white space between Han characters in ordinary text, too. So a
    text is refused when this is so in two lines or more, and in one fifth or more of the lines that
    have two Han characters with nothing else than white space between them. Of the test sets of
    SIGHAN 2005, one line in 20,000 has it as raw text, and 97 of 100 when segmented.
    """
    with_han = spaced = first_spaced = 0
    for number, line in enumerate(lines, start=1):
        if not HAN_PAIR.search(line):
            continue
        with_han += 1
        if SPACED_HAN.search(line):
            spaced += 1
            first_spaced = first_spaced or number
    if spaced >= LEAST_SPACED_LINES and spaced >= SPACED_SHARE * with_han:
        raise CorpusError(
            file,
            first_spaced,
            f"white space between Han characters here and in {spaced} of {with_han} lines gives "
            "word boundaries away; remove it, or name the format as segmented text",
        )
