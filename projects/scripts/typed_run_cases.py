"""Typed runs, such as URLs, measures and emoticons: cases of them, and how many are cut rightly.

A case is a short text in which the words of some pieces are known by their form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, shown
from spacy_structreg.corpora.files import check_line_end, read_lines
from spacy_structreg.metrics.segmentation import word_ends

OPENS, CUTS, CLOSES = "⟦", "|", "⟧"
WITHIN_WORDS: Final = frozenset({"number", "numeral"})
"""Kinds whose runs may be part of a longer word."""

_RUN: Final = re.compile(f"{OPENS}([^{OPENS}{CLOSES}]*){CLOSES}")


class TypedRunCase(NamedTuple):
    """A text with runs of a kind.

    runs: for each the offsets in the text where it begins, where it is cut, and where it ends.
    """

    kind: str
    text: str
    runs: list[list[int]]

    @property
    def whole(self) -> bool:
        """True if words have to begin and end where the runs do."""
        return self.kind not in WITHIN_WORDS


def read_typed_runs(path: StrPath) -> Iterator[TypedRunCase]:
    """Yield the cases of a file; see `read_lines` for files.

    A line is a kind, a tab and a text, as in ``measure<TAB>这箱重⟦35|kg⟧左右``: runs stand between
    the brackets, and are cut into words by ``|``. Blank lines, and those that begin with ``# ``,
    are skipped. Raises CorpusError for other lines and if there is no case, and as `read_lines`.
    """
    number = n_cases = 0
    for number, line in read_lines(path):
        check_line_end(line, path, number)
        if not line.strip() or line.startswith("# "):
            continue
        try:
            yield _case(line)
        except ValueError as error:
            raise CorpusError(path, number, str(error)) from error
        n_cases += 1
    if not n_cases:
        raise CorpusError(path, max(number, 1), "no case before the end of the file; write some")


def _case(line: str) -> TypedRunCase:
    kind, tab, marked = line.partition("\t")
    if not kind.strip() or not tab:
        raise ValueError(
            f"{shown(line)} is no kind, tab and text; write such as `time	⟦15:30⟧开会`"
        )
    text = ""
    runs = []
    # Text and runs by turns.
    for index, part in enumerate(_RUN.split(marked)):
        if index % 2 == 0:
            if OPENS in part or CLOSES in part:
                raise ValueError(f"the marks of {shown(marked)} are not in pairs; correct them")
            text += part
            continue
        bounds = [len(text)]
        for piece in part.split(CUTS):
            if not piece.strip():
                raise ValueError(f"a word of {shown(marked)} is empty; correct the marks")
            text += piece
            bounds.append(len(text))
        runs.append(bounds)
    if not runs:
        raise ValueError(f"{shown(marked)} marks no run; put one between {OPENS} and {CLOSES}")
    return TypedRunCase(kind.strip(), text, runs)


def has_right_runs(
    text: str, runs: Iterable[Sequence[int]], words: Sequence[str], *, whole: bool = True
) -> bool:
    """True if words begin and end at the bounds of every run, and nowhere else within it.

    runs: for each the offsets in the text of its beginning, its cuts and its end. words: of the
    text, without white space, which counts nowhere. whole: if not, words may begin before a run,
    reach over its cuts and end after it, and only must not begin or end elsewhere within it.
    Raises ValueError if the words are of another text.
    """
    if "".join(words) != "".join(text.split()):
        raise ValueError(f"the words {' '.join(words)!r:.60} are not those of {text!r:.60}")
    before = list(accumulate((not character.isspace() for character in text), initial=0))
    ends = {0, *word_ends(words)}
    for offsets in runs:
        bounds = {before[offset] for offset in offsets}
        within = {end for end in ends if min(bounds) <= end <= max(bounds)}
        if within != bounds if whole else not within <= bounds:
            return False
    return True
