"""Gold sentences of segmenters: lists of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from spacy_structreg.corpora.sentences import split_words
from spacy_structreg.models.example_schema import TextSchema, Words, as_list, squeeze


class SegmentedSchema(TextSchema[Words]):
    """Lists of words."""

    def checked(self, sentence: Any) -> Words:
        listed = as_list(sentence)
        if listed is None or not all(isinstance(word, str) for word in listed):
            raise ValueError(f"{sentence!r:.60} is not a list of words")
        return listed

    def layers(self, sentence: Words) -> tuple[list[str], ...]:
        return (list(sentence),)

    def squeezed(self, sentence: Words) -> Words:
        return [word for word in map(squeeze, sentence) if word]

    def split(self, sentence: Words) -> Sequence[Words]:
        return split_words(sentence)


SEGMENTED: Final[TextSchema[Words]] = SegmentedSchema()
