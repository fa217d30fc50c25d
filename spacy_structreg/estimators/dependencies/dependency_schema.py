"""Gold sentences of dependency parsers: `DependencySentence`s."""

from __future__ import annotations

from typing import Any, Final

from spacy_structreg.corpora.dependencies import DependencySentence
from spacy_structreg.models.example_schema import ExampleSchema, check_names


class DependencySchema(ExampleSchema[DependencySentence]):
    """`DependencySentence`s."""

    def checked(self, sentence: Any) -> DependencySentence:
        if not isinstance(sentence, DependencySentence):
            raise ValueError(f"{sentence!r:.60} is not a DependencySentence")
        check_names([*sentence.tags, *sentence.labels])
        return sentence

    def layers(self, sentence: DependencySentence) -> tuple[list[str], ...]:
        return (
            list(sentence.words),
            list(sentence.tags),
            ["" if head is None else str(head) for head in sentence.heads],
            [label or "" for label in sentence.labels],
        )


DEPENDENCIES: Final[ExampleSchema[DependencySentence]] = DependencySchema()
