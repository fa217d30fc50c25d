"""Reading and writing corpora of any format, named or detected."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final

from spacy_structreg.corpora import formats
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.corpus_format import Format
from spacy_structreg.corpora.corpus_options import AUTO, CorpusOptions, Spaces
from spacy_structreg.corpora.files import read_lines
from spacy_structreg.corpora.formats.segmented import unsegmented
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.sentences import latin_spaces
from spacy_structreg.corpora.spacing import WORD

# How much of a file tells its format.
MOST_LINES: Final = 200
MOST_CHARACTERS: Final = 100_000

# Formats without spaces have none in any case, and latin ones follow from the words.
ANYWHERE: Final = (Spaces.none, Spaces.latin)


@cache
def all_formats() -> Mapping[str, Format]:
    """All formats by their names, in the order of their ranks: one of each module of `formats`."""
    names = [module.name for module in pkgutil.iter_modules(formats.__path__)]
    found: list[Format] = [import_module(f"{formats.__name__}.{name}").FORMAT for name in names]
    return MappingProxyType({each.name: each for each in sorted(found, key=lambda each: each.rank)})


def find_format(path: Path, options: CorpusOptions | None = None) -> Format:
    """The format of a corpus, looked for in the file if the options do not name it.

    Options and the name of the file come first; the reader of the format says then if the file is
    none of it. Otherwise the first lines tell.

    Raises CorpusError when they do not (for raw text, say, one word a line with its label, or rows
    that are numbered as those of CoNLL-U and are none), for an empty file, and as `read_lines`;
    ValueError for folders and archives of something else, and for options that the format does not
    have; OSError as `open`.
    """
    options = options or CorpusOptions()
    if options.format == AUTO:
        format = named_format(path, options) or _sniffed_format(path, options.encoding)
    elif options.format in all_formats():
        format = all_formats()[options.format]
    else:
        raise ValueError(
            f"{options.format!r} is no format of corpora; they are {', '.join(all_formats())}"
        )
    _check_options(path, format, options)
    return format


def named_format(path: Path, options: CorpusOptions) -> Format | None:
    """The format that options and the name of a file say; None if its content is to tell.

    Raises ValueError and OSError for JSON lines that cannot be read.
    """
    for format in all_formats().values():
        if format.has_suffix(path) or (format.is_named and format.is_named(path, options)):
            return format
    return None


def _sniffed_format(path: Path, encoding: str) -> Format:
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
    for format in all_formats().values():
        if format.sniff and format.sniff(lines):
            return format
    raise CorpusError(
        path,
        first_line,
        f"the format cannot be told from the beginning of the file: {unsegmented(lines)}; if it is "
        "a corpus, name its format",
    )


def _check_options(path: Path, format: Format, options: CorpusOptions) -> None:
    for field in fields(CorpusOptions):
        owners = sorted(name for name, each in all_formats().items() if field.name in each.options)
        value = getattr(options, field.name)
        if owners and format.name not in owners and value not in (field.default, *ANYWHERE):
            shown = f" {value.value}" if isinstance(value, Enum) else ""
            raise ValueError(
                f"{path}: --{field.name.replace('_', '-')}{shown} is for the "
                f"format{'s' * (len(owners) > 1)} {' and '.join(owners)}, but the file is read as "
                f"{format.name}; leave the option out, or name the format with --format"
            )


def read_sentences(path: Path, options: CorpusOptions | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a corpus of any format but spaCy's own.

    `Spaces.latin` puts spaces between Latin words alone, in every format; else they are those of
    the format.

    Raises ValueError (CorpusError with file and line, for text) for files that are not of the
    format or have no sentence, some of it at the end of the file only, and as `find_format`;
    OSError as `open`.
    """
    options = options or CorpusOptions()
    read = find_format(path, options).read
    if read is None:
        raise ValueError(f"{path}: Docs are read by pipeline.gold_docs; use that")
    for sentence in read(path, options):
        if options.spaces is Spaces.latin:
            yield replace(sentence, spaces=tuple(latin_spaces(sentence.words)))
        else:
            yield sentence


def written_format(path: Path) -> Format:
    """The format that a file is to be written in, by its name. Raises ValueError for others."""
    for format in all_formats().values():
        if path.name.lower().endswith(format.written_suffixes):
            return format
    endings = sorted(each.written_suffix for each in all_formats().values() if each.write)
    raise ValueError(f"{path}: name an output that ends in .spacy, {' or '.join(endings)}")


def write_sentences(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write sentences in one step, by the name of the file.

    Raises ValueError for other names, for what the format cannot hold, and, but for partial
    annotation, for sentences whose words are known in part.
    """
    format = written_format(path)
    assert format.write is not None
    format.write(path, sentences if format.writes_unknown else map(_with_words, sentences))


def _with_words(sentence: Sentence) -> Sentence:
    if sentence.unknown:
        able = sorted(each.written_suffix for each in all_formats().values() if each.writes_unknown)
        raise ValueError(
            f"the words of {''.join(sentence.words)!r:.60} are known in part, which only .spacy "
            f"and {', '.join(able)} files can say; write one of these"
        )
    return sentence
