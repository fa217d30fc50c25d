r"""Column files, as those of the CoNLL tasks: a token a line, with what is said of it in columns.

    我们   PN  B-PER
    去     VV  O

A blank line ends a sentence. Cells are separated by a tab each, or by runs of spaces and tabs;
every other character, the no-break space included, belongs to a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, shown, warn_of_digits
from spacy_structreg.corpora.corpus_format import Format, universal_tags
from spacy_structreg.corpora.corpus_options import (
    COLUMNS,
    LABEL,
    SKIPPED,
    WORD,
    CorpusOptions,
    SchemeName,
    Spaces,
)
from spacy_structreg.corpora.files import check_line_end, read_lines, write_texts
from spacy_structreg.corpora.labeling import Scheme, detect_scheme, spans_of
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.spacing import spaces_between
from spacy_structreg.corpora.trees import bracket_of

Separator: TypeAlias = Literal["\t", " "]
"""Characters that may stand between columns."""

DOCUMENT_START = "-DOCSTART-"
"""First column of a line that begins a document, and is skipped."""

# Columns of these names must say something in every row.
NOT_EMPTY = ("word", "label")
BLANKS = " \t"
RUN = re.compile("[ \t]+")
UNWRITABLE = {
    "\t": re.compile("[\t\n\r\0\ud800-\udfff]"),
    " ": re.compile("[ \t\n\r\0\ud800-\udfff]"),
}


def read_columns(
    path: StrPath,
    columns: Sequence[str],
    *,
    separator: Separator | None = None,
    comments: str | None = None,
    document_start: str | None = DOCUMENT_START,
    blank_words: bool = True,
    no_rows_error: str = "no token in the file; column files have a token with its columns a line",
    encoding: str = "utf-8",
) -> Iterator[list[tuple[str, ...]]]:
    r"""Yield the tokens of each sentence: of each, the cells of the named columns, in their order.

    columns: a name for each column of the file; `_` for one that is skipped, so that
        `("word", "_", "label")` gives pairs. Cells of `word` and `label` are never empty, those of
        others may be, where tabs separate them.
    separator: a tab, so that cells may be empty and hold spaces; or a space, for runs of spaces and
        tabs. None looks at the first token: tabs, if they give it as many cells as there are
        columns, else runs.
    comments: how comments begin, such as `"# "`. Lines before the first token of a sentence that
        begin so are skipped; within a sentence they are tokens, as `#` may be a word. By default,
        there are none.
    document_start: the first cell of lines that part documents; they end a sentence and are
        skipped. None takes them for tokens.

    blank_words: whether cells of `word` and `label` may be nothing but white space, such as an
        ideographic space; if not, they count as empty.
    no_rows_error: the message for a file without a token.

    Words beside other columns that name a bracket, as `-LRB-`, are that bracket. Lines of nothing
    but spaces and tabs are blank. See `read_lines` for files and encodings.

    Raises CorpusError, besides the errors of `read_lines`, for a token with more or fewer cells
    than there are columns, an empty cell of `word` or `label`, a comment that has the cells of a
    token between tabs, a carriage return within a line, and a file without a token; ValueError for
    columns of which none is named, or with an empty name or the same one twice, and for other
    separators and empty beginnings of comments. Warns as `warn_of_digits` of a column `word`.
    """
    _check_separator(separator)
    kept = _kept_columns(columns)
    if comments is not None and not comments.strip(BLANKS):
        raise ValueError(f"comments cannot begin with {comments!r}; give a visible beginning")
    filled = [i for i in kept if columns[i] in NOT_EMPTY]
    word = columns.index("word") if "word" in columns else None
    rows: list[tuple[str, ...]] = []
    number = 1
    n_tokens = n_digits = 0
    for number, line in _token_lines(
        path,
        encoding,
        n_columns=len(columns),
        separator=separator,
        comments=comments,
        document_start=document_start,
    ):
        if not line:
            if rows:
                yield rows
                rows = []
            continue
        by_tabs = line.split("\t")
        if separator is None:
            separator = "\t" if 1 < len(by_tabs) == len(columns) else " "
        cells = by_tabs if separator == "\t" else RUN.split(line.strip(BLANKS))
        if len(cells) != len(columns):
            fault = _wrong_number(line, len(cells), len(columns), separator, comments)
            raise CorpusError(path, number, fault)
        for i in filled:
            if not (cells[i] if blank_words else cells[i].strip()):
                raise CorpusError(
                    path,
                    number,
                    f"the column {columns[i]!r} of {shown(line)} is empty; fill it, or remove the "
                    "line",
                )
        if word is not None and len(columns) > 1:
            cells[word] = bracket_of(cells[word])
        rows.append(tuple([cells[i] for i in kept]))
        n_tokens += 1
        n_digits += word is not None and cells[word][-1:].isdigit()
    if rows:
        yield rows
    warn_of_digits(path, n_tokens, n_digits)
    if not n_tokens:
        raise CorpusError(path, number, no_rows_error)


def write_columns(
    path: StrPath,
    sentences: Iterable[Sequence[Sequence[str]]],
    *,
    separator: Separator = "\t",
    encoding: str = "utf-8",
) -> int:
    """Write sentences so that `read_columns` reads them back equal; return their number.

    sentences: of tokens, each a sequence of as many cells as every other one.

    The file is written in one step (`replace_text`). Raises ValueError for what could not be read
    back: no sentences, a sentence without tokens, tokens without cells or with another number of
    them, cells with tabs, line breaks, NUL or lone surrogates in them, tokens of nothing but spaces
    or that begin as the start of a document; between spaces, also empty cells and spaces in cells.
    """
    if separator is None:
        raise ValueError("there is no separator; choose a tab or a space")
    _check_separator(separator)

    def texts() -> Iterator[str]:
        n_columns = 0
        for number, sentence in enumerate(sentences):
            if not sentence:
                raise ValueError(f"sentence {number} has no tokens; leave it out")
            n_columns = n_columns or len(sentence[0])
            for row in sentence:
                try:
                    _check_row(row, n_columns, separator)
                except ValueError as error:
                    raise ValueError(f"sentence {number} cannot be written: {error}") from error
            if number == 0 and sentence[0][0].startswith("\ufeff"):
                raise ValueError(
                    "sentence 0 starts with U+FEFF, which readers drop as a byte order mark; "
                    "remove it"
                )
            yield "".join(separator.join(row) + "\n" for row in sentence) + "\n"

    return write_texts(path, texts(), encoding=encoding)


def _token_lines(
    path: StrPath,
    encoding: str,
    *,
    n_columns: int,
    separator: Separator | None,
    comments: str | None,
    document_start: str | None,
) -> Iterator[tuple[int, str]]:
    """(line number, line) of tokens, and an empty line where a sentence may end."""
    within = False
    for number, line in read_lines(path, encoding=encoding):
        check_line_end(line, path, number)
        if comments is not None and not within and line.startswith(comments):
            if separator != " " and line.count("\t") + 1 == n_columns > 1:
                raise CorpusError(
                    path,
                    number,
                    f"{shown(line)} begins as a comment and has the cells of a token; give a "
                    "longer beginning of comments, or mend the line",
                )
            continue
        text = line.strip(BLANKS)
        within = bool(text) and RUN.split(text, 1)[0] != document_start
        yield number, line if within else ""


def _check_separator(separator: str | None) -> None:
    if separator not in (None, *UNWRITABLE):
        raise ValueError(f"{separator!r} cannot separate columns; choose a tab or a space")


def _kept_columns(columns: Sequence[str]) -> list[int]:
    """The indices of the columns that are not skipped; ValueError for faulty names."""
    if isinstance(columns, str):
        raise ValueError(f"{columns!r} is one string; give a list of the names of the columns")
    kept = [i for i, name in enumerate(columns) if name != SKIPPED]
    names = [columns[i] for i in kept]
    if not names or "" in names or len({*names}) < len(names):
        raise ValueError(
            f"the columns {', '.join(map(repr, columns))} cannot be told apart; give each its own "
            f"name, and {SKIPPED} to those that are skipped, which cannot be all"
        )
    return kept


def _wrong_number(
    line: str, n_cells: int, n_columns: int, separator: Separator, comments: str | None
) -> str:
    between = "tabs" if separator == "\t" else "white space"
    advice = "mend the line, or name each column of the file (_ for one that is skipped)"
    if separator == "\t" and len(RUN.split(line.strip(BLANKS))) == n_columns:
        advice = "mend the line, or choose a space as the separator"
    elif separator == " " and len(line.split("\t")) == n_columns:
        advice = "mend the line, or choose a tab as the separator"
    elif comments is None and line.startswith("#"):
        advice = "mend the line, or say how comments begin"
    return (
        f"{shown(line)} has {n_cells} {'cell' if n_cells == 1 else 'cells'} between {between}, "
        f"but there are {n_columns} columns; {advice}"
    )


def _check_row(row: Sequence[str], n_columns: int, separator: Separator) -> None:
    if isinstance(row, str) or len(row) != n_columns or not row:
        raise ValueError(
            f"the token {row!r:.60} is not a list of as many cells as the first token has "
            f"({n_columns})"
        )
    for cell in row:
        if UNWRITABLE[separator].search(cell) or (separator == " " and not cell):
            raise ValueError(
                f"the cell {cell!r:.60} holds white space, a line break, NUL or a lone surrogate, "
                "or is empty; change it, or choose another separator"
            )
    if not "".join(row).strip(BLANKS):
        raise ValueError(f"the line of the token {row!r:.60} would be blank; leave it out")
    if RUN.split(separator.join(row).strip(BLANKS), 1)[0] == DOCUMENT_START:
        raise ValueError(f"the token {row!r:.60} begins as the start of a document; change it")


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the sentences of a column file.

    Raises ValueError if the options name no columns, for labels that stand for no spans, and as
    `read_columns`.
    """
    names = options.columns
    if names is None:
        raise ValueError(f"{path}: name its columns, as in --columns word,tag,label")
    kept = [name for name in names if name != SKIPPED]
    corpus = [
        dict(zip(kept, zip(*rows, strict=True), strict=True))
        for rows in read_columns(path, names, comments=options.comments, encoding=options.encoding)
    ]
    scheme = find_scheme(path, corpus, options.scheme) if LABEL in kept else None
    # Corpora of characters part letters, too, which have no spaces between them.
    of_characters = all(len(word) == 1 for columns in corpus for word in columns[WORD])
    is_spaced = options.spaces is not Spaces.none and not of_characters
    for columns in corpus:
        words = columns[WORD]
        spans = None
        if scheme is not None:
            try:
                spans = spans_of(columns[LABEL], scheme)
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from error
        pos, bad_pos = universal_tags(columns.get("pos", ()))
        yield Sentence(
            words,
            columns.get("tag", ()),
            pos=pos,
            spaces=tuple(spaces_between(words)) if is_spaced else (),
            bad_pos=bad_pos,
            entities=spans if options.spans_key is None else None,
            chunks=None if options.spans_key is None else spans,
            spans_key=options.spans_key,
            extra={name: list(columns[name]) for name in kept if name not in COLUMNS} or None,
        )


def find_scheme(
    path: Path, corpus: Iterable[dict[str, tuple[str, ...]]], name: SchemeName
) -> Scheme:
    """The scheme of the labels of a corpus. Raises ValueError if they stand for no spans."""
    if name is not SchemeName.auto:
        named: Scheme = name.value
        return named
    try:
        found = detect_scheme(columns[LABEL] for columns in corpus)
    except ValueError as error:
        raise ValueError(f"{path}: {error} with --scheme") from error
    if found is None:
        raise ValueError(
            f"{path}: the labels do not stand for spans: there is no O among them; name the column "
            "tag, or the scheme with --scheme"
        )
    return found


FORMAT: Final = Format(
    "columns",
    "a token a line, with what --columns names",
    rank=20,
    read=read,
    is_named=lambda path, options: options.columns is not None,
    options=("columns", "scheme", "comments"),
    grouped=True,
)
"""Name, recognition, reader and writer of the format."""
