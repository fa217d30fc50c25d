"""Counts of the words that a model has learned from, to tell whether others are like them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any, Final

from spacy_structreg.corpora.spacing import IDEOGRAPHS
from spacy_structreg.learn.model_file import field
from spacy_structreg.models.gold import ExampleSchema, GoldT

_HAN: Final = re.compile(
    f"[〇{IDEOGRAPHS}\uf900-\ufaff\U00020000-\U0002fa1f\U00030000-\U000323af]+"
)


def is_han(word: str) -> bool:
    """True if a word is made of Chinese characters alone."""
    return _HAN.fullmatch(word) is not None


@dataclass
class WordCounts:
    """Numbers of words, in all and of some kinds.

    words: that are not white space. annotated: of these, those that have something in the second
    layer of gold sentences (`ExampleSchema.layers`), which is that of tags, if there are any. han:
    of Chinese characters alone; long: of these, those of several.
    """

    words: int = 0
    annotated: int = 0
    han: int = 0
    long: int = 0

    @property
    def share_of_long(self) -> float:
        """The share of the words of Chinese characters that have several; 0 if there are none."""
        return self.long / self.han if self.han else 0.0

    def counting(
        self, kind: type[ExampleSchema[GoldT]], sentences: Iterable[GoldT]
    ) -> Iterator[GoldT]:
        """Pass sentences of a kind of two layers or more on, and count the words of each."""
        for sentence in sentences:
            words, second = kind.layers(sentence)[:2]
            for word, said in zip(words, second, strict=True):
                if not word.isspace():
                    self.words += 1
                    self.annotated += said != ""
                    if is_han(word):
                        self.han += 1
                        self.long += len(word) > 1
            yield sentence

    def __add__(self, other: WordCounts) -> WordCounts:
        return WordCounts(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def as_dict(self) -> dict[str, int]:
        """The counts by their names."""
        return asdict(self)

    @classmethod
    def from_dict(cls, counts: dict[str, Any]) -> WordCounts:
        """Make counts of what `as_dict` gave. Raises ValueError for anything else."""
        names = [each.name for each in fields(cls)]
        if set(counts) != set(names):
            raise ValueError(f"it counts {sorted(map(str, counts))}, not {names}")
        found = cls(**{name: field(counts, name, int) for name in names})
        if not 0 <= found.long <= found.han <= found.words >= found.annotated >= 0:
            raise ValueError(f"its counts of words, {counts}, contradict each other")
        return found
