"""Features of texts for classifiers: words and n-grams, and how often they occur.

A feature is known by its name: ``w2=New York`` for two words, ``c2=ab`` for two characters, and
`INTERCEPT`, which every text has.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.features.knowledge import CORPUS
from spacy_structreg.features.template_compiler import Shape
from spacy_structreg.features.word_fields import lower_case
from spacy_structreg.tasks.feature_dictionaries import feature_list, no_streams
from spacy_structreg.tasks.tokens import LABEL, FeatureList

Values: TypeAlias = Literal["binary", "counts", "log"]

INTERCEPT: Final = "intercept"
LONGEST_NGRAM: Final = 8
"""Most words or characters of an n-gram."""

VALUES: Final[Mapping[Values, Callable[[int], float]]] = {
    "binary": lambda count: 1.0,
    "counts": float,
    "log": lambda count: 1.0 + math.log(count),
}
"""Feature value of an n-gram by its count in a text."""


class WordBag:
    """The n-grams of a text.

    ngrams: n-grams of one up to so many words, from 0 to `LONGEST_NGRAM`. characters: of so many
        characters, too, the words put together without anything between, so that they do not
        depend on how a text was segmented. lower: without case.
    values: 1 for each n-gram in the text (``"binary"``), its count, or 1 + log count (``"log"``).
    normalize: scale the values so that the sum of their squares is 1.

    Besides, every text has the intercept, of value 1. Words of nothing but white space are passed
    over. Attributes are those of `tasks.tokens.TokenFeatures`; there are no streams.
    """

    shapes: tuple[Shape, ...] = ()
    lists: tuple[str, ...] = (LABEL,)

    def __init__(
        self,
        ngrams: int = 1,
        characters: Sequence[int] = (),
        *,
        lower: bool = True,
        values: Values = "binary",
        normalize: bool = False,
    ) -> None:
        self.atoms: dict[str, int] = {}
        self.ngrams = ngrams
        self.characters = tuple(characters)
        self.lower = lower
        self.normalize = normalize
        self._value = VALUES[values]

    def features(self, words: Sequence[str]) -> dict[str, float]:
        """The features of a text and their values."""
        counts = Counter(self._names(words))
        found = {name: self._value(count) for name, count in counts.items()}
        if self.normalize and found:
            length = math.hypot(*found.values())
            found = {name: value / length for name, value in found.items()}
        return {INTERCEPT: 1.0, **found}

    def extract(
        self, sequences: Sequence[Sequence[Sequence[str]]], reach: int = 0
    ) -> tuple[NDArray[np.uint64], tuple[FeatureList, ...]]:
        """Extract features of texts, each the words of one position, as `TokenFeatures.extract`.

        A key is the MurmurHash64A of a name. Raises ValueError for words that UTF-8 cannot encode.
        """
        texts = list(chain.from_iterable(sequences))
        symbols = no_streams(len(texts), len(sequences), reach)
        return symbols, (feature_list(map(self.features, texts)),)

    def named_lists(self, items: Sequence[Sequence[str]]) -> list[list[list[tuple[str, str, str]]]]:
        """Return the named features that `extract` hashes, as `TokenFeatures.named_lists`."""
        return [
            [
                [
                    (template, value, CORPUS)
                    for template, _, value in (name.partition("=") for name in self.features(words))
                ]
                for words in items
            ]
        ]

    def _names(self, words: Sequence[str]) -> Iterator[str]:
        seen = [word for word in words if word and not word.isspace()]
        if self.lower:
            seen = [lower_case(word) for word in seen]
        for size in range(1, self.ngrams + 1):
            for start in range(len(seen) - size + 1):
                yield f"w{size}={' '.join(seen[start : start + size])}"
        text = "".join(seen)
        for size in self.characters:
            for start in range(len(text) - size + 1):
                yield f"c{size}={text[start : start + size]}"
