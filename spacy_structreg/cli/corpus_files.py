"""Gold sentences from files of any format that the commands read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

__all__ = ["CorpusFormat", "Sentence", "detect_format", "read_sentences"]


class CorpusFormat(str, Enum):
    """How a corpus is written; `auto` looks at the file."""

    auto = "auto"
    segmented = "segmented"
    brackets = "brackets"
    spacy = "spacy"


class Sentence(NamedTuple):
    """A gold sentence: its words, and the tag of each if the format has tags."""

    words: list[str]
    tags: list[str] | None = None


# Two brackets with at most a label between, `( (IP` or `(IP (NP`, or a tree of one leaf. Segmented
# text may begin with brackets too, but then white space follows them.
TREE = re.compile(r"\s*\((?:\s*[^\s()]*\s*\([^\s()]|[A-Z]+\s+[^\s()]+\s*\))")
MARKUP = re.compile(r"\s*<[^()]*>\s*")
BEGINNING = 200


def detect_format(path: Path, *, encoding: str = "utf-8") -> CorpusFormat:
    """The format of a corpus: spaCy's by its name, brackets by how the text begins, or segmented.

    Raises CorpusError and OSError as `corpora.files.read_lines`.
    """
    from spacy_structreg.corpora.files import read_lines

    if path.suffix == ".spacy":
        return CorpusFormat.spacy
    beginning = ""
    for _, line in read_lines(path, encoding=encoding):
        if line.strip() and not MARKUP.fullmatch(line):
            beginning += line[:BEGINNING] + "\n"
            if len(beginning) >= BEGINNING:
                break
    return CorpusFormat.brackets if TREE.match(beginning) else CorpusFormat.segmented


def read_sentences(
    path: Path, format: CorpusFormat = CorpusFormat.auto, *, encoding: str = "utf-8"
) -> Iterator[Sentence]:
    """Yield the sentences of a corpus; those of a `.spacy` file are its Docs.

    White space within the tokens of Docs, and tokens of nothing else, are left out.

    Raises ValueError (CorpusError with file and line, for text) for files that are not of the
    format or have no sentence, some of it at the end of the file only; OSError as `open`.
    """
    if format is CorpusFormat.auto:
        format = detect_format(path, encoding=encoding)
    if format is CorpusFormat.spacy:
        yield from read_docs(path)
    elif format is CorpusFormat.brackets:
        from spacy_structreg.corpora.brackets import tagged_sentences

        for pairs in tagged_sentences(path, encoding=encoding):
            yield Sentence([word for word, _ in pairs], [tag for _, tag in pairs])
    else:
        from spacy_structreg.corpora.segmented import read_segmented

        yield from map(Sentence, read_segmented(path, encoding=encoding))


def read_docs(path: Path) -> Iterator[Sentence]:
    """Yield the words of each Doc of a `.spacy` file that has any; raises as `read_sentences`."""
    import zlib

    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    from spacy_structreg.pipeline.documents import gold_words

    data = path.read_bytes()
    try:
        docs = list(DocBin().from_bytes(data).get_docs(Vocab()))
    except (ValueError, KeyError, TypeError, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path}: not a corpus in spaCy's binary format ({error}); make one with "
            "'python -m spacy structreg convert'"
        ) from error
    sentences = [words for words in map(gold_words, docs) if words]
    if not sentences:
        raise ValueError(f"{path}: no Doc of the file has a word")
    yield from map(Sentence, sentences)
