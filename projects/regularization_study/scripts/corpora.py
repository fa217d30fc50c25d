"""The corpora of the study: three lists of sentences each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from studies.corpora import read_parts, reader

from spacy_structreg.corpora.checksum import corpus_checksum

Sentences: TypeAlias = "list[list[str]]"


@dataclass(frozen=True)
class Corpus:
    """What a study trains on, chooses on and scores on, and the words of the training part."""

    train: Sentences
    dev: Sentences
    test: Sentences
    vocabulary: frozenset[str]
    checksum: str


def read_corpus(name: str, entry: Mapping[str, Any], folder: Path) -> Corpus:
    """Read a corpus as its entry in the grid says.

    Raises ValueError for an entry that is not sound or a corpus that is too small, and what the
    readers raise; OSError for files that cannot be read.
    """
    read = reader(name, entry)

    def sentences(given: str | Mapping[str, Any]) -> Iterable[list[str]]:
        if isinstance(given, str):
            return map(list, read(folder / given))
        first, last = map(int, given["days"])
        return map(list, partial(read, days=range(first, last + 1))(folder / given["file"]))

    train, dev, test = read_parts(name, entry, sentences)
    vocabulary = frozenset("".join(word.split()) for sentence in train for word in sentence)
    return Corpus(train, dev, test, vocabulary, corpus_checksum(train)[:12])
