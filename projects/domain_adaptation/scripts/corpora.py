"""The corpora of a target: its own parts, those of the source and of other standards, words."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from studies.corpora import hold_out, read_part, reader

from spacy_structreg.corpora.checksum import corpus_checksum
from spacy_structreg.corpora.corpus_errors import StrPath

Sentence = list[str]


class Parts:
    """The sentences of a corpus: lists of words.

    train, test: empty where the entry of the grid has no such part. dev: that of the corpus, or the
    last tenth of its training part, if some is to be held out; empty where it has neither.
    Raises ValueError for an entry that is not sound or a part without sentences, and what the
    readers raise; OSError for files that cannot be read.
    """

    def __init__(
        self, name: str, entry: Mapping[str, Any], folder: Path, *, holds_out: bool = True
    ) -> None:
        read = partial(reader(name, entry), **entry.get("options", {}))

        def sentences(file: str) -> list[Sentence]:
            squeezed = (["".join(word.split()) for word in words] for words in read(folder / file))
            return [words for each in squeezed if (words := [word for word in each if word])]

        self.train, self.dev, self.test = (
            read_part(name, entry, part, sentences) if part in entry else []
            for part in ("train", "dev", "test")
        )
        if self.train and not self.dev and holds_out:
            self.train, self.dev = hold_out(name, self.train)

    @property
    def texts(self) -> list[str]:
        """The characters of the training sentences; of those to be scored, if there are none."""
        return list(map("".join, self.train or self.test))

    @property
    def all_texts(self) -> list[str]:
        """The characters of the sentences of all parts."""
        return list(map("".join, [*self.train, *self.dev, *self.test]))


class Corpus:
    """All that systems are given for a target.

    own, source: the parts of the target, and of the source. others: training sentences of corpora
    of other standards, by their names. lexicon: the file of a word list, or None.
    Raises as `Parts`, and ValueError if there is no such file, or no part to score on.
    """

    def __init__(self, name: str, entry: Mapping[str, Any], folder: Path) -> None:
        self.name = name
        self.own = Parts(name, entry, folder)
        self.source = _source(_frozen(entry["source"]), folder)
        self.others = {
            other: Parts(other, given, folder).train for other, given in entry["guides"].items()
        }
        self.lexicon = None if entry["lexicon"] is None else find_list(entry["lexicon"], folder)
        if not self.own.test:
            raise ValueError(f"the corpus {name} has no part 'test'")
        self.vocabulary = frozenset(chain.from_iterable(self.source.train))
        parts = (self.source.train, self.own.train, self.own.dev, self.own.test)
        said = chain(*parts, *self.others.values())
        self.checksum = corpus_checksum(said)[:12]

    def drawn(self, n: int | str, seed: int) -> list[Sentence]:
        """So many training sentences of the target; those of a seed come in one order."""
        if n == "all":
            return self.own.train
        mixed = list(self.own.train)
        random.Random(seed).shuffle(mixed)
        return mixed[:n]


def find_list(name: str, folder: Path) -> Path:
    """The file of a word list: of the folder of corpora, or of a package, as ``package:file``.

    Raises ValueError, with what to do, if there is none.
    """
    package, colon, file = name.partition(":")
    if not colon:
        places: Sequence[StrPath] = [folder]
        file, missing = name, f"{folder} has no file {name}; put it there"
    else:
        spec = find_spec(package)
        places = [] if spec is None else spec.submodule_search_locations or []
        missing = f"there is no {name}; install the package: pip install '../..[words]'"
    found = next((path for place in places if (path := Path(place, file)).is_file()), None)
    if found is None:
        raise ValueError(f"no word list: {missing}, or leave lexicon out of the grid")
    return found


def _frozen(value: Any) -> Any:
    """A value of a grid that can be the key of a cache."""
    if isinstance(value, Mapping):
        return tuple((name, _frozen(each)) for name, each in value.items())
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


@cache
def _source(entry: Any, folder: Path) -> Parts:
    given = dict(entry)
    given["options"] = dict(given.get("options", ()))
    return Parts("source", given, folder, holds_out=False)


read_corpus = Corpus
