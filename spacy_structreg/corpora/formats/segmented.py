r"""Plain segmented text: one sentence a line, words separated by white space.

White space is the space, the tab and U+3000 (ideographic space), and runs of them. Every other
character, the no-break space and the line separators of Unicode included, belongs to a word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, logger, warn_of_digits
from spacy_structreg.corpora.corpus_format import HALF, Format, share_of
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.files import check_line_end, read_lines, write_texts
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.spacing import HAN_PAIR, SPACED_HAN, WORD

UNWRITABLE = re.compile("[ \t\u3000\n\r\0\ud800-\udfff]")

# Rows of other formats. Numbers are of any script: such rows are no text either.
NUMBERED_ROW = re.compile("\\d+\t.*", re.DOTALL)
COLUMN_TAG = re.compile("O|[BIESM](?:[-_].+)?|[A-Z]{1,5}|[0-9]{1,3}")
LEAST_ROWS = 5

# The rule by which text is not raw; see `check_raw_lines`.
LEAST_SPACED_LINES = 2
SPACED_SHARE = 0.2

# The rule by which a file counts as unsegmented; see `read_segmented`.
LONG_LINE = 10
LEAST_UNSEPARATED = 100
UNSEPARATED_SHARE = 0.8


def read_segmented(path: StrPath, *, encoding: str = "utf-8") -> Iterator[list[str]]:
    """Yield the words of each line that has any; see `read_lines` for files and encodings.

    Raises CorpusError, besides the errors of `read_lines`, for

    - a carriage return within a line (line ends of old Macintosh files, or doubled ones);
    - a file without a sentence;
    - a file that is not segmented. A line without a separator may be a sentence of one word, so the
      rule looks at the whole file: lines of 10 and more characters without any separator hold 100
      characters and more, and four fifths of all characters of the file. A list of single words
      passes, and so does any short file. This can only be seen at the end of the file, after its
      sentences have been yielded.

    Warns at the end of a file that has no separator at all, and as `warn_of_digits`.
    """
    characters = unseparated = first_unseparated = 0
    n_lines = n_words = n_digits = 0
    number = 1
    for number, line in read_lines(path, encoding=encoding):
        check_line_end(line, path, number)
        words = WORD.findall(line)
        if not words:
            continue
        length = sum(map(len, words))
        characters += length
        n_lines += 1
        n_words += len(words)
        n_digits += sum(word[-1].isdigit() for word in words)
        if len(words) == 1 and length >= LONG_LINE:
            unseparated += length
            first_unseparated = first_unseparated or number
        yield words
    if not characters:
        raise CorpusError(
            path,
            number,
            "no sentence in the file; segmented text has one sentence a line, its words separated "
            "by white space",
        )
    warn_of_digits(path, n_words, n_digits)
    if unseparated >= LEAST_UNSEPARATED and unseparated >= UNSEPARATED_SHARE * characters:
        raise CorpusError(
            path,
            first_unseparated,
            "the text is not segmented: this line and nearly all others have no white space "
            "between words; give a file with one sentence a line, its words separated by spaces",
        )
    if n_words == n_lines:
        logger.warning(
            "%s: no line has white space between words, so that each is taken for one word; make "
            "sure that the text is segmented",
            os.fspath(path),
        )


def write_segmented(
    path: StrPath, sentences: Iterable[Sequence[str]], *, encoding: str = "utf-8"
) -> int:
    """Write one sentence a line, its words separated by single spaces; return their number.

    The file is written in one step (`replace_text`). Raises ValueError for what `read_segmented`
    could not read back: no sentences, a sentence without words, an empty word, a word with white
    space, a line break, a NUL or a lone surrogate in it, a byte order mark at the very start.
    """

    def lines() -> Iterator[str]:
        for number, sentence in enumerate(sentences):
            check_writable(sentence, number)
            yield " ".join(sentence) + "\n"

    return write_texts(path, lines(), encoding=encoding)


def check_writable(sentence: Sequence[str], index: int) -> None:
    """Raise ValueError when a sentence has no form as segmented text; `index` counts from 0."""
    if not sentence:
        raise ValueError(f"sentence {index} has no words; leave it out")
    for word in sentence:
        if not word or UNWRITABLE.search(word):
            raise ValueError(
                f"sentence {index}: the word {word!r} cannot be written as segmented text; words "
                "must not be empty nor hold white space, line breaks, NUL or lone surrogates"
            )
    if index == 0 and sentence[0].startswith("\ufeff"):
        raise ValueError(
            "sentence 0 starts with U+FEFF, which readers drop as a byte order mark; remove it"
        )


def unsegmented(lines: Sequence[str]) -> str | None:
    """The reason why lines are not taken for segmented text; None if they are.

    White space separates Han characters in at least half of the lines that have two of them; in
    text without such lines, at least half of the lines have white space within.
    """
    rows = [line for line in lines if not line.startswith("#")]
    if rows and share_of(NUMBERED_ROW, rows) >= HALF:
        return "the lines are numbered, but have no ten columns as those of CoNLL-U"
    if _looks_like_columns(lines):
        return "each line seems to be one word with its label"
    with_han = [line for line in lines if HAN_PAIR.search(line)]
    if with_han:
        separated = sum(bool(SPACED_HAN.search(line)) for line in with_han)
        reason = "the text does not seem to be segmented"
    else:
        separated = sum(len(WORD.findall(line)) > 1 for line in lines)
        reason = "most lines have no white space"
    return None if separated >= HALF * len(with_han or lines) else reason


def _looks_like_columns(lines: Sequence[str]) -> bool:
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


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the sentences of segmented text; raises as `read_segmented`."""
    for words in read_segmented(path, encoding=options.encoding):
        yield Sentence(tuple(words))


def write(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write the words of sentences; raises as `write_segmented`."""
    write_segmented(path, (sentence.words for sentence in sentences))


FORMAT: Final = Format(
    "segmented",
    "one sentence a line, words separated by white space",
    rank=100,
    read=read,
    sniff=lambda lines: unsegmented(lines) is None,
    written_suffix=".txt",
    write=write,
)
"""Name, recognition, reader and writer of the format."""
