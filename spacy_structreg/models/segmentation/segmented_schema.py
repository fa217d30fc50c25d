"""Gold sentences of segmenters: lists of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from spacy_structreg.corpora.formats.partial import PartialSentence
from spacy_structreg.corpora.sentences import split_words
from spacy_structreg.models.example_schema import (
    SegmentedGold,
    TextSchema,
    Words,
    as_list,
    partial_layers,
    squeeze,
)


class SegmentedSchema(TextSchema[SegmentedGold]):
    """Lists of words; or a `PartialSentence`, whose tags play no part."""

    def checked(self, sentence: Any) -> SegmentedGold:
        if isinstance(sentence, PartialSentence):
            return sentence.pieces if sentence.has_words else replace(sentence, tags=())
        listed = as_list(sentence)
        if listed is None or not all(isinstance(word, str) for word in listed):
            raise ValueError(f"{sentence!r:.60} is not a list of words")
        return listed

    def layers(self, sentence: SegmentedGold) -> tuple[list[str], ...]:
        if isinstance(sentence, PartialSentence):
            return partial_layers(sentence)[:1]
        return (list(sentence),)

    def squeezed(self, sentence: SegmentedGold) -> Words:
        assert not isinstance(sentence, PartialSentence)
        return [word for word in map(squeeze, sentence) if word]

    def split(self, sentence: SegmentedGold) -> Sequence[Words]:
        assert not isinstance(sentence, PartialSentence)
        return split_words(sentence)

    def with_words(self, sentence: SegmentedGold, words: list[str]) -> Words:
        return words


SEGMENTED: Final = SegmentedSchema()
