"""Files of word classes: a word and its class a line, or the paths of Brown clustering.

A line has a word, a tab, and the name of its class; or, in the format of the programs for Brown
clustering, a path of the bits 0 and 1, the word, and how often it was counted, with tabs between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, shown
from spacy_structreg.corpora.files import check_line_end, read_lines, replace_text

_DIGITS: Final = frozenset("0123456789")
_LONGEST_NAME: Final = 100


def read_word_classes(path: StrPath, *, encoding: str = "utf-8") -> Iterator[tuple[str, str]]:
    """Yield each word with the name of its class; blank lines are passed over.

    Names ending in .gz and .xz are decompressed. All lines are of the format of the first one.
    Raises CorpusError, besides the errors of `read_lines`, for lines of another number of cells,
    an empty word or class, names of more than 100 characters, paths and counts that are none, a
    word that stands there twice with different classes, and a file without a word.
    """
    classes: dict[str, str] = {}
    n_cells = 0
    for number, line in read_lines(path, encoding=encoding):
        if not line.strip():
            continue
        check_line_end(line, path, number)
        cells = line.split("\t")
        n_cells = n_cells or len(cells)
        if len(cells) != n_cells or n_cells not in (2, 3):
            raise CorpusError(
                path,
                number,
                f"{len(cells)} cells between tabs in {shown(line)}; write a word and its class, or "
                "a path of bits, a word and its count, the same on all lines",
            )
        if n_cells == 3:
            name, word, count = cells
            if not name or set(name) - {"0", "1"} or not count or set(count) - _DIGITS:
                raise CorpusError(
                    path,
                    number,
                    f"{shown(line)} is not a path of 0 and 1, a word and its count; write them so, "
                    "or a word and its class",
                )
        else:
            word, name = cells
        if not word.strip() or not name.strip() or len(name) > _LONGEST_NAME:
            raise CorpusError(
                path,
                number,
                f"no word, or no class of at most {_LONGEST_NAME} characters, in {shown(line)}; "
                "remove the line",
            )
        before = classes.setdefault(word, name)
        if before != name:
            raise CorpusError(
                path,
                number,
                f"the word {shown(word)} is of the class {shown(name)} here, and of "
                f"{shown(before)} before; remove one of the lines",
            )
        yield word, name
    if not classes:
        raise CorpusError(path, 1, "no word in the file; write a word, a tab and its class a line")


def write_word_classes(path: StrPath, words: Iterable[tuple[str, str, int]]) -> None:
    """Write words in the format of Brown clustering: (path of bits, word, count) each."""
    with replace_text(path) as stream:
        for name, word, count in words:
            stream.write(f"{name}\t{word}\t{count}\n")
