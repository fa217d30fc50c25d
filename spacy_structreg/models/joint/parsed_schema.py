"""Gold sentences of joint parsers: `Sentence`s, read off texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from spacy_structreg.corpora.dependencies import projectivize
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.models.dependencies.dependency_schema import DEPENDENCIES
from spacy_structreg.models.example_schema import TextSchema, squeeze
from spacy_structreg.models.tree_queries import without_blanks


class ParsedSchema(TextSchema[Sentence]):
    """`Sentence`s as parts of texts; none is cut, as trees reach over all cuts."""

    def checked(self, sentence: Any) -> Sentence:
        return DEPENDENCIES.checked(sentence)

    def layers(self, sentence: Sentence) -> tuple[list[str], ...]:
        return DEPENDENCIES.layers(sentence)

    def squeezed(self, sentence: Sentence) -> Sentence:
        visible = without_blanks(sentence)
        assert visible is not None
        return replace(visible, words=tuple(map(squeeze, visible.words)))

    def split(self, sentence: Sentence) -> Sequence[Sentence]:
        return [sentence]

    def with_words(self, sentence: Sentence, words: list[str]) -> Sentence:
        return replace(sentence, words=tuple(words))

    def examples(self, sentence: Sentence, *, split: bool) -> Sequence[Sentence]:
        if without_blanks(sentence) is None:
            return []
        squeezed = self.squeezed(sentence)
        if None in squeezed.heads:
            return [squeezed]
        return [replace(squeezed, heads=projectivize(squeezed.heads))]


PARSED: Final = ParsedSchema()
