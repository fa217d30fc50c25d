"""The corpora of a grid: three lists of sentences each, from the folder of real corpora."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from spacy_structreg.corpora.conllu import segmented_sentences
from spacy_structreg.corpora.segmented import read_segmented
from spacy_structreg.corpora.tagged import read_tagged_sentences

Words: TypeAlias = "list[str]"
TaggedWords: TypeAlias = "list[tuple[str, str]]"

VARIABLE: Final = "STRUCTREG_DATA"
READERS: Final = {"conllu": segmented_sentences, "segmented": read_segmented}


@dataclass(frozen=True)
class Part:
    """Sentences as lists of words; and as lists of words with tags, if the corpus has tags."""

    words: list[Words]
    tagged: list[TaggedWords] | None

    @property
    def texts(self) -> list[str]:
        """The characters of each sentence."""
        return list(map("".join, self.words))


@dataclass(frozen=True)
class Corpus:
    """What a study trains on, chooses on and scores on, and the words of the training part."""

    train: Part
    dev: Part
    test: Part
    vocabulary: frozenset[str]


def data_folder() -> Path:
    """The folder of corpora. Raises ValueError, with what to do, if none is named."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise ValueError(
            f"no corpora: set the environment variable {VARIABLE} to the folder that holds those "
            "that the grid names (see the project's README.md)"
        )
    folder = Path(named)
    if not folder.is_dir():
        raise ValueError(f"{VARIABLE} names a folder that does not exist: {folder}")
    return folder


def read_corpus(name: str, entry: Mapping[str, Any], folder: Path) -> Corpus:
    """Read a corpus as its entry in the grid says; without "dev", the last tenth of "train" is it.

    Raises ValueError for an entry that is not sound or a corpus that is too small, and what the
    readers raise; OSError for files that cannot be read.
    """
    if entry.get("reader") not in READERS:
        raise ValueError(f"the corpus {name} has no reader; choose from {', '.join(READERS)}")

    def part(which: str) -> Part:
        path = folder / entry[which]
        tagged = list(read_tagged_sentences(path)) if entry.get("tags") else None
        if tagged is None:
            found = _part(READERS[entry["reader"]](path))
        else:
            tagged = [[(_squeezed(word), tag) for word, tag in sentence] for sentence in tagged]
            found = Part([[word for word, _ in sentence] for sentence in tagged], tagged)
        if not found.words:
            raise ValueError(f"the corpus {name} has no sentence in its part {which!r}")
        return found

    train, test = part("train"), part("test")
    if "dev" in entry:
        dev = part("dev")
    else:
        kept = len(train.words) * 9 // 10
        tags = train.tagged
        dev = Part(train.words[kept:], None if tags is None else tags[kept:])
        train = Part(train.words[:kept], None if tags is None else tags[:kept])
        if not train.words:
            raise ValueError(f"the corpus {name} is too small to take a tenth of")
    vocabulary = frozenset(word for sentence in train.words for word in sentence)
    return Corpus(train, dev, test, vocabulary)


def _part(sentences: Iterable[Sequence[str]]) -> Part:
    return Part([[_squeezed(word) for word in sentence] for sentence in sentences], None)


def _squeezed(word: str) -> str:
    return "".join(word.split())
