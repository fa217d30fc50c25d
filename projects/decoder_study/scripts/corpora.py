"""The corpora of a grid: three lists of sentences each, from the folder of real corpora."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from spacy_structreg.corpora.conllu import dependency_sentences, segmented_sentences
from spacy_structreg.corpora.constituents import ConstituencySentence, constituency_sentences
from spacy_structreg.corpora.dependencies import DependencySentence
from spacy_structreg.corpora.segmented import read_segmented
from spacy_structreg.corpora.splits import fold_bounds
from spacy_structreg.corpora.tagged import read_tagged_sentences
from spacy_structreg.estimators.gold import CONSTITUENTS, DEPENDENCIES

Words: TypeAlias = "list[str]"
TaggedWords: TypeAlias = "list[tuple[str, str]]"

READERS: Final = {"conllu": segmented_sentences, "segmented": read_segmented}


@dataclass(frozen=True)
class Part:
    """Sentences as lists of words; and as words with tags, or as trees, if the corpus has them.

    trees: of dependencies. constituents: phrase structure trees.
    """

    words: list[Words]
    tagged: list[TaggedWords] | None = None
    trees: list[DependencySentence] | None = None
    constituents: list[ConstituencySentence] | None = None

    @property
    def texts(self) -> list[str]:
        """The characters of each sentence."""
        return list(map("".join, self.words))

    def cut(self, start: int, stop: int) -> Part:
        """Some of the sentences."""
        return Part(
            self.words[start:stop],
            None if self.tagged is None else self.tagged[start:stop],
            None if self.trees is None else self.trees[start:stop],
            None if self.constituents is None else self.constituents[start:stop],
        )

    def layers(self) -> Iterator[Sequence[str]]:
        """All that the sentences say, for a checksum."""
        if self.trees is not None:
            for tree in self.trees:
                yield from DEPENDENCIES.layers(tree)
            return
        if self.constituents is not None:
            for phrases in self.constituents:
                yield from CONSTITUENTS.layers(phrases)
            return
        yield from self.words
        for sentence in self.tagged or []:
            yield [tag for _, tag in sentence]


@dataclass(frozen=True)
class Corpus:
    """What a study trains on, chooses on and scores on, and the words of the training part."""

    train: Part
    dev: Part
    test: Part
    vocabulary: frozenset[str]


def read_corpus(name: str, entry: Mapping[str, Any], folder: Path) -> Corpus:
    """Read a corpus as its entry in the grid says; without "dev", the last tenth of "train" is it.

    Of a corpus in one file, "whole", the last tenth is the test set, the one before it "dev".
    Raises ValueError for an entry that is not sound or a corpus that is too small, and what the
    readers raise; OSError for files that cannot be read.
    """
    if entry.get("reader") not in READERS and not entry.get("constituents"):
        raise ValueError(f"the corpus {name} has no reader; choose from {', '.join(READERS)}")

    def part(which: str) -> Part:
        path = folder / entry[which]
        if entry.get("trees"):
            trees = list(dependency_sentences(path))
            return Part([list(tree.words) for tree in trees], trees=trees)
        if entry.get("constituents"):
            phrases = list(constituency_sentences(path, entry["constituents"]))
            return Part([list(tree.words) for tree in phrases], constituents=phrases)
        tagged = list(read_tagged_sentences(path)) if entry.get("tags") else None
        if tagged is None:
            found = _part(READERS[entry["reader"]](path))
        else:
            tagged = [[(_squeezed(word), tag) for word, tag in sentence] for sentence in tagged]
            found = Part([[word for word, _ in sentence] for sentence in tagged], tagged)
        return found

    def filled(which: str) -> Part:
        found = part(which)
        if not found.words:
            raise ValueError(f"the corpus {name} has no sentence in its part {which!r}")
        return found

    if "whole" in entry:
        whole = filled("whole")
        *_, held_out, tested = fold_bounds(len(whole.words))
        train = whole.cut(0, held_out[0])
        dev, test = whole.cut(*held_out), whole.cut(*tested)
    elif "dev" in entry:
        train, dev, test = filled("train"), filled("dev"), filled("test")
    else:
        train, test = filled("train"), filled("test")
        kept = len(train.words) * 9 // 10
        train, dev = train.cut(0, kept), train.cut(kept, len(train.words))
        if not train.words:
            raise ValueError(f"the corpus {name} is too small to take a tenth of")
    vocabulary = frozenset(word for sentence in train.words for word in sentence)
    return Corpus(train, dev, test, vocabulary)


def _part(sentences: Iterable[Sequence[str]]) -> Part:
    return Part([[_squeezed(word) for word in sentence] for sentence in sentences])


def _squeezed(word: str) -> str:
    return "".join(word.split())
