"""Gold sentences of constituency parsers: `ConstituencySentence`s."""

from __future__ import annotations

from typing import Any, Final

from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.models.example_schema import ExampleSchema, check_names


class ConstituentSchema(ExampleSchema[ConstituencySentence]):
    """`ConstituencySentence`s."""

    def checked(self, sentence: Any) -> ConstituencySentence:
        if not isinstance(sentence, ConstituencySentence):
            raise ValueError(f"{sentence!r:.60} is not a ConstituencySentence")
        check_names([*sentence.tags, *(each.label for each in sentence.constituents)])
        return sentence

    def layers(self, sentence: ConstituencySentence) -> tuple[list[str], ...]:
        # Of each word the phrases that begin with it, outer ones first.
        begun: list[list[str]] = [[] for _ in sentence.words]
        for each in sentence.constituents:
            begun[each.begin].append(f"{each.label} {each.end} {each.head}")
        return list(sentence.words), list(sentence.tags), ["\n".join(each) for each in begun]


CONSTITUENTS: Final[ExampleSchema[ConstituencySentence]] = ConstituentSchema()
