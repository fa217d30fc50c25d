"""The corpora of the study: sentences of words, with tags, or with trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from studies.corpora import read_parts, reader

from spacy_structreg.corpora.any_format import read_sentences
from spacy_structreg.corpora.checksum import corpus_checksum
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.corpora.formats.conllu import dependency_sentences
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.models.constituents import ConstituentSpec
from spacy_structreg.models.dependencies import DependencySpec
from spacy_structreg.models.tagging import with_found_tags

GOLD = ("trees", "constituents", "tags")


@dataclass(frozen=True)
class Part:
    """Gold sentences: lists of words, or of words with tags, or trees.

    kind: which of these, of `systems.SCORES`.
    """

    gold: list[Any]
    kind: str

    @property
    def words(self) -> list[list[str]]:
        """The words of each sentence."""
        if self.kind == "words":
            return self.gold
        if self.kind == "tags":
            return [[word for word, _ in sentence] for sentence in self.gold]
        return [list(tree.words) for tree in self.gold]

    @property
    def texts(self) -> list[str]:
        """The characters of each sentence."""
        return list(map("".join, self.words))

    @cached_property
    def with_found_tags(self) -> list[Sentence]:
        """Trees with tags by taggers of other folds."""
        return with_found_tags(self.gold)[0]

    def layers(self) -> Iterator[Sequence[str]]:
        """All that the sentences say, for a checksum."""
        if self.kind in ("trees", "constituents"):
            layers = (DependencySpec if self.kind == "trees" else ConstituentSpec).layers
            for tree in self.gold:
                yield from layers(tree)
            return
        yield from self.words
        if self.kind == "tags":
            for sentence in self.gold:
                yield [tag for _, tag in sentence]


@dataclass(frozen=True)
class Corpus:
    """The training, development and test part of a corpus, and the words of the training part."""

    train: Part
    dev: Part
    test: Part
    vocabulary: frozenset[str]
    checksum: str


def read_corpus(name: str, entry: Mapping[str, Any], folder: Path) -> Corpus:
    """Read a corpus as its entry in the grid says.

    Raises ValueError for an entry that is not sound or a corpus that is too small, and what the
    readers raise; OSError for files that cannot be read.
    """
    kind = next((each for each in GOLD if entry.get(each)), "words")
    words = reader(name, entry) if kind != "constituents" else None

    def read(file: str) -> Iterable[Any]:
        path = folder / file
        if kind == "trees":
            return dependency_sentences(path)
        if kind == "constituents":
            return constituency_sentences(path, entry["constituents"])
        if kind == "tags":
            return (
                [(squeezed(word), tag) for word, tag in each.pairs()]
                for each in read_sentences(path)
            )
        return (list(map(squeezed, each)) for each in words(path))

    train, dev, test = (Part(gold, kind) for gold in read_parts(name, entry, read))
    vocabulary = frozenset(word for sentence in train.words for word in sentence)
    checksum = corpus_checksum(train.layers())[:12]
    return Corpus(train, dev, test, vocabulary, checksum)


def squeezed(word: str) -> str:
    """A word without white space."""
    return "".join(word.split())
