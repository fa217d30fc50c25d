r"""Plain segmented text: one sentence a line, words separated by white space.

White space is the space, the tab and U+3000 (ideographic space), and runs of them. Every other
character, the no-break space and the line separators of Unicode included, belongs to a word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, logger, warn_of_digits
from spacy_structreg.corpora.files import check_line_end, read_lines, replace_text

__all__ = ["read_segmented", "write_segmented"]

WORD = re.compile("[^ \t\u3000]+")
UNWRITABLE = re.compile("[ \t\u3000\n\r\0\ud800-\udfff]")

# Han characters: the unified and compatibility ideographs, the radicals, 々 〇, planes 2 and 3.
HAN = "\u2e80-\u2fd5\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
SPACED_HAN = re.compile(f"[{HAN}][ \t\u3000]+(?=[{HAN}])")

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
    count = 0
    with replace_text(path, encoding=encoding) as stream:
        for sentence in sentences:
            check_writable(sentence, count)
            stream.write(" ".join(sentence) + "\n")
            count += 1
        if not count:
            raise ValueError("there is no sentence to write")
    return count


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
