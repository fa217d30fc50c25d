"""The corpora of a grid: three lists of sentences each, from the folder of real corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from spacy_structreg.corpora.conllu import segmented_sentences
from spacy_structreg.corpora.pfr import segmented_paragraphs
from spacy_structreg.corpora.segmented import read_segmented

Sentences: TypeAlias = "list[list[str]]"

READERS: Final[dict[str, Callable[..., Iterable[Sequence[str]]]]] = {
    "conllu": segmented_sentences,
    "segmented": read_segmented,
    "pfr": segmented_paragraphs,
}


@dataclass(frozen=True)
class Corpus:
    """What a study trains on, chooses on and scores on, and the words of the training part."""

    train: Sentences
    dev: Sentences
    test: Sentences
    vocabulary: frozenset[str]


def read_corpus(name: str, entry: Mapping[str, Any], folder: Path) -> Corpus:
    """Read a corpus as its entry in the grid says; without "dev", the last tenth of "train" is it.

    Raises ValueError for an entry that is not sound or a corpus that is too small, and what the
    readers raise; OSError for files that cannot be read.
    """
    if entry.get("reader") not in READERS:
        raise ValueError(f"the corpus {name} has no reader; choose from {', '.join(READERS)}")
    read = READERS[entry["reader"]]

    def part(which: str) -> Sentences:
        given = entry[which]
        path, days = (given, None) if isinstance(given, str) else (given["file"], given["days"])
        reader = read
        if days is not None:
            reader = partial(read, days=range(int(days[0]), int(days[1]) + 1))
        sentences = [list(words) for words in reader(folder / path)]
        if not sentences:
            raise ValueError(f"the corpus {name} has no sentence in its part {which!r}")
        return sentences

    train, test = part("train"), part("test")
    if "dev" in entry:
        dev = part("dev")
    else:
        kept = len(train) * 9 // 10
        train, dev = train[:kept], train[kept:]
        if not train:
            raise ValueError(f"the corpus {name} is too small to take a tenth of")
    vocabulary = frozenset("".join(word.split()) for sentence in train for word in sentence)
    return Corpus(train, dev, test, vocabulary)
