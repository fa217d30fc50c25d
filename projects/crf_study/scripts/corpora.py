"""The corpora of a grid: gold sentences to train on, to choose on and to score on, in splits."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

from grid import ESTIMATORS
from studies.corpora import read_part, reader

from spacy_structreg.corpora.checksum import corpus_checksum

SPLITS: Final = ("given", "halves", "thirds")


@dataclass(frozen=True)
class Parts:
    """What one training is given. rest: sentences whose labels are not looked at."""

    train: list[Any]
    dev: list[Any]
    test: list[Any]
    rest: list[Any]


class Corpus:
    """The gold sentences of a corpus, and how they are split.

    Raises ValueError for an entry of the grid that is not sound or a part without sentences, and
    what the readers raise; OSError for files that cannot be read.
    """

    def __init__(self, name: str, entry: Mapping[str, Any], folder: Path) -> None:
        self.name = name
        self._split = entry.get("split", "given")
        read = partial(reader(name, entry), **entry.get("options", {}))
        if self._split not in SPLITS:
            raise ValueError(
                f"the corpus {name} is split by {self._split!r}; choose from {', '.join(SPLITS)}"
            )

        def sentences(files: Iterable[Any]) -> Iterable[Any]:
            return chain.from_iterable(_sentences(read, given, folder) for given in files)

        self._parts = {
            part: read_part(name, entry, part, sentences)
            for part in ("train", "dev", "test")
            if part in entry
        }
        layers = ESTIMATORS[entry["kind"]].SPEC.layers
        said = chain.from_iterable(map(layers, chain.from_iterable(self._parts.values())))
        self.checksum = corpus_checksum(said)[:12]

    def parts(self, seed: int) -> Parts:
        """What the training of this seed is given.

        As the files are, all seeds alike; in halves, to train on and to test on, or in thirds, of
        which the labels of one are not looked at, of all sentences in an order of the seed. Where
        nothing is there to choose on, that is the last tenth of what there is to train on.
        """
        if self._split == "given":
            train, test, rest = self._parts["train"], self._parts["test"], []
        else:
            mixed = list(chain.from_iterable(self._parts.values()))
            random.Random(seed).shuffle(mixed)
            n_parts = 1 + SPLITS.index(self._split)
            size = len(mixed) // n_parts
            train, test, rest = mixed[:size], mixed[size : 2 * size], mixed[2 * size : 3 * size]
        if self._split == "given" and "dev" in self._parts:
            dev = self._parts["dev"]
        else:
            kept = len(train) * 9 // 10
            train, dev = train[:kept], train[kept:]
        if not (train and dev and test):
            raise ValueError(f"the corpus {self.name} is too small to be split")
        return Parts(train, dev, test, rest)


def _sentences(
    read: Callable[[Path], Iterable[Any]], given: str | Mapping[str, Any], folder: Path
) -> Sequence[Any]:
    """The sentences of a file, or of a share of it; as pairs with its category, if it has one."""
    if isinstance(given, str):
        return list(read(folder / given))
    sentences = list(read(folder / given["file"]))
    if "category" in given:
        sentences = [(words, str(given["category"])) for words in sentences]
    start, stop = given.get("from", 0), given.get("to", 1)
    return sentences[round(start * len(sentences)) : round(stop * len(sentences))]


read_corpus = Corpus
