"""Word lists: those of jieba, HanLP and CC-CEDICT, and our own format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final, Literal, NamedTuple, TypeAlias

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath, shown
from spacy_structreg.corpora.files import check_line_end, read_lines
from spacy_structreg.corpora.lazy_pattern import lazy_pattern
from spacy_structreg.corpora.spacing import HAN
from spacy_structreg.corpora.tag_glossary import TAG_GLOSSARY
from spacy_structreg.corpora.tag_maps import LIST_FLAGS

WordListFormat: TypeAlias = Literal["cedict", "hanlp", "jieba", "words"]
"""Names of formats of word lists: CC-CEDICT's, HanLP's, jieba's, or a word a line."""

LONGEST_ENTRY: Final = 255
"""Most characters of a word, and of a tag."""

LONGEST_ENTRY_LINE: Final = 2 * LONGEST_ENTRY + 20
"""Most characters of a line of a dictionary of jieba: a word, a frequency and a tag."""

# So many lines show the format of a file.
_FIRST_LINES: Final = 20
_CEDICT: Final = re.compile(r"(\S+) (\S+) \[[^\]]*\] /.*/\s*")
_JIEBA: Final = re.compile(r"(\S+) ([0-9]{1,18})(?: (\S+))?\s*")
# Of user dictionaries, which may lack either.
_JIEBA_TAG: Final = (
    "(?:[a-z]|ad|ag|an|df|dg|eng|mg|mq|ng|nr|nrfg|nrt|ns|nt|nz|qg|rg|rr|rz|tg|ud|ug|uj|ul|uv|uz|"
    "vd|vg|vi|vn|vq|zg)"
)
_JIEBA_USER: Final = (
    lazy_pattern(rf"(\S+)(?: +([0-9]{{1,18}}))?(?: +({_JIEBA_TAG}))?\s*"),
    # A word with spaces; but no tag before the frequency.
    lazy_pattern(
        rf"(?!.* {_JIEBA_TAG} +[0-9]+\s*$)(\S.*?) +([0-9]{{1,18}})(?: +({_JIEBA_TAG}))?\s*"
    ),
)
_FLAG: Final = "(?:" + "|".join(sorted(LIST_FLAGS, key=len, reverse=True)) + ")"
_HAN: Final = f"[{HAN}]"
_HANLP: Final = lazy_pattern(rf"\S*{_HAN}\S*(?: +{_FLAG} +[0-9]{{1,18}})+\s*")
_WITH_BOTH: Final = lazy_pattern(rf".*{_HAN}.* [0-9]{{1,18}} +{_JIEBA_TAG}\s*")
# Of a line without a tab, or a word.
_CTB_TAG: Final = "(?:" + "|".join(tag for tag in TAG_GLOSSARY["CTB"] if tag.isalpha()) + ")"
# Of one letter behind a word, none can tell whether it is a tag: 维生素 a.
_WITH_EITHER: Final = lazy_pattern(
    rf"\S*{_HAN}\S* +(?:[0-9]+(?: +[a-z]+)?|(?![a-z]$){_JIEBA_TAG}|{_CTB_TAG})|"
    rf"\S+ +[0-9]+ +{_JIEBA_TAG}|"
    # A row of a table; of 大5,000 the comma belongs to a number.
    rf"[^,]*{_HAN}[^,]*(?<![0-9]),(?:(?:[0-9]+|{_JIEBA_TAG}|{_CTB_TAG})(?:,.*)?|,.*)"
)
_WITH_ONE: Final = lazy_pattern(
    rf"\S*{_HAN}\S* +(?:[0-9]{{1,18}}|{_JIEBA_TAG})\s*|\S+ +[0-9]{{1,18}} +{_JIEBA_TAG}\s*"
)


class ListedWord(NamedTuple):
    """A word of a list, its tags in the order of the file, and how frequent it is; 0 if unknown."""

    word: str
    tags: tuple[str, ...]
    frequency: int


def read_word_list(
    path: StrPath, *, format: WordListFormat | None = None, encoding: str = "utf-8"
) -> Iterator[ListedWord]:
    """Yield the words of a file, one entry after the other; see `read_lines` for files.

    format: None looks at the first lines.

    - ``"jieba"``: word, frequency and tag, parted by spaces; user dictionaries may lack either.
    - ``"hanlp"``: word, tag and frequency, parted by spaces or tabs; several pairs of these, or
      none.
    - ``"cedict"``: CC-CEDICT, of which a line gives two words, the traditional and the simplified
      one, if they differ. Lines that begin with ``#`` are comments.
    - ``"words"``: a word; or word, tab, tags parted by commas and, after another tab, frequency.
      So are the lists of pkuseg, thulac and LTP. A word may have spaces within; there are no
      comments, as ``#话题#`` is a word.

    Blank lines are skipped. Words may come again, with other tags too. Raises CorpusError for lines
    that are not of the format, for words and tags of more than `LONGEST_ENTRY` characters, and for
    a file without a word; ValueError for a format that does not exist; and as `read_lines`.
    """
    _, entries = numbered_word_list(path, format=format, encoding=encoding)
    for _, entry in entries:
        yield entry


def numbered_word_list(
    path: StrPath, *, format: WordListFormat | None = None, encoding: str = "utf-8"
) -> tuple[WordListFormat, Iterator[tuple[int, ListedWord]]]:
    """The format of a file, and its words, each with the number of its line.

    As `read_word_list`; faults of the first lines alone are raised at once.
    """
    parsers = {"cedict": _cedict, "hanlp": _hanlp, "jieba": _jieba, "words": _words}
    if format not in (None, *parsers):
        raise ValueError(
            f"unknown format {format!r} of word lists; choose {', '.join(sorted(parsers))}"
        )
    lines = ((number, line) for number, line in read_lines(path, encoding=encoding) if line.strip())
    first = list(islice(lines, _FIRST_LINES))
    found: WordListFormat = format or _format_of([line for _, line in first])
    is_guessed = format is None and found == "words"

    def entries() -> Iterator[tuple[int, ListedWord]]:
        empty = True
        for number, line in chain(first, lines):
            check_line_end(line, path, number)
            try:
                if is_guessed and "\t" not in line:
                    check_word_alone(line.strip())
                for entry in parsers[found](line):
                    empty = False
                    yield number, entry
            except ValueError as error:
                raise CorpusError(path, number, str(error)) from error
        if empty:
            raise CorpusError(path, 1, "no word in the list; write one a line")

    return found, entries()


def _format_of(lines: list[str]) -> WordListFormat:
    """Guess the format of a word list from its first non-blank lines."""
    if lines and lines[0].startswith("# CC-CEDICT"):
        return "cedict"
    if lines and all(map(_CEDICT.fullmatch, lines)):
        return "cedict"
    if any(len(line) <= LONGEST_ENTRY_LINE and _HANLP.fullmatch(line) for line in lines):
        return "hanlp"
    return "jieba" if lines and _looks_like_jieba(lines) else "words"


def _looks_like_jieba(lines: Sequence[str]) -> bool:
    """True if lines of a file, blank ones left out, seem to be of a dictionary of jieba.

    That is if one has a word, a frequency and a tag, or most have one of the two behind a word of
    Han characters, as in ``云计算 5`` and ``台中 ns``.
    """
    lines = [line if len(line) <= LONGEST_ENTRY_LINE else "" for line in lines]
    if any(map(has_frequency_and_tag, lines)):
        return True
    return 2 * sum(_WITH_ONE.fullmatch(line) is not None for line in lines) > len(lines)


def has_frequency_and_tag(line: str) -> bool:
    """True for a word of Han characters with a frequency and a tag behind it: ``创新办 3 i``."""
    may_be = " " in line and len(line) <= LONGEST_ENTRY_LINE
    return may_be and _WITH_BOTH.fullmatch(line) is not None


def check_word_alone(word: str) -> None:
    """Raise ValueError for a word with a frequency or a tag behind it: ``台中 ns``, ``台中,3``."""
    may_be = (" " in word or "," in word) and len(word) <= LONGEST_ENTRY_LINE
    if may_be and _WITH_EITHER.fullmatch(word):
        raise ValueError(
            f"the word {word!r} looks like an entry of a dictionary, with a frequency or a tag "
            "behind a space or comma; put a tab before the tag, and leave a frequency out. If all "
            "of it is a word, give it with its tag, or say format='words' of a file"
        )


def _cedict(line: str) -> Iterator[ListedWord]:
    if line.startswith("#"):
        return
    if (found := _CEDICT.fullmatch(line)) is None:
        raise ValueError(
            f"the line {shown(line)} is no entry such as `中國 中国 [Zhong1 guo2] /China/`; "
            "correct it"
        )
    for word in dict.fromkeys(found.groups()):
        yield ListedWord(_checked(word, "word"), (), 0)


def _jieba(line: str) -> Iterator[ListedWord]:
    ways = (_JIEBA, *_JIEBA_USER) if len(line) <= LONGEST_ENTRY_LINE else (_JIEBA,)
    found = next(filter(None, (each.fullmatch(line) for each in ways)), None)
    if found is None:
        raise ValueError(
            f"the line {shown(line)} is no entry such as `中国 34488 ns`, of a word, its frequency "
            "and its tag; correct it"
        )
    word, frequency, tag = found.groups()
    tags = () if tag is None else (_checked(tag, "tag"),)
    yield ListedWord(_checked(word, "word"), tags, int(frequency or 0))


def _hanlp(line: str) -> Iterator[ListedWord]:
    word, *rest = line.split()
    tags, numbers = rest[::2], rest[1::2]
    if len(tags) != len(numbers) or not all(re.fullmatch("[0-9]{1,18}", each) for each in numbers):
        raise ValueError(
            f"the line {shown(line)} is no entry such as `中国 ns 34488`, of a word, its tag "
            "and its frequency; correct it"
        )
    checked = tuple(_checked(tag, "tag") for tag in dict.fromkeys(tags))
    yield ListedWord(_checked(word, "word"), checked, sum(map(int, numbers)))


def _words(line: str) -> Iterator[ListedWord]:
    if "\t" not in line:
        # As most lines are, of long lists.
        yield ListedWord(_checked(line.strip(), "word"), (), 0)
        return
    word, *rest = (part.strip() for part in line.split("\t"))
    if len(rest) > 2:
        raise ValueError(
            f"{len(rest)} tabs; a line is a word, or a word, a tab and its tags, and after another "
            "tab its frequency"
        )
    if not word:
        raise ValueError("no word before the tab; write one, or remove the line")
    frequency = rest[1] if len(rest) > 1 else "0"
    if not re.fullmatch("[0-9]{1,18}", frequency):
        raise ValueError(f"the frequency {shown(frequency)} is no whole number; correct it")
    tags = [tag.strip() for tag in rest[0].split(",")] if rest and rest[0] else []
    if not all(tags):
        raise ValueError(f"an empty tag among {shown(rest[0])}; part tags by one comma")
    checked = tuple(_checked(tag, "tag") for tag in dict.fromkeys(tags))
    yield ListedWord(_checked(word, "word"), checked, int(frequency))


def _checked(text: str, what: str) -> str:
    if len(text) > LONGEST_ENTRY:
        raise ValueError(
            f"the {what} {text[:20]!r}… has {len(text):,} characters; {LONGEST_ENTRY} are the most"
        )
    return text
