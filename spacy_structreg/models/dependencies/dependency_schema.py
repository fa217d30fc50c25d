"""Gold sentences of dependency parsers: `Sentence`s with tags, heads and labels."""

from __future__ import annotations

from typing import Any, Final

from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.models.example_schema import ExampleSchema, check_names


class DependencySchema(ExampleSchema[Sentence]):
    """`Sentence`s with tags, heads and labels."""

    def checked(self, sentence: Any) -> Sentence:
        if not isinstance(sentence, Sentence):
            raise ValueError(f"{sentence!r:.60} is not a Sentence")
        for name in ("tags", "heads", "labels"):
            if not getattr(sentence, name):
                raise ValueError(
                    f"the sentence {' '.join(sentence.words)[:40]!r} has no {name}; give one for "
                    "each word"
                )
        check_names([*sentence.tags, *sentence.labels])
        return sentence

    def layers(self, sentence: Sentence) -> tuple[list[str], ...]:
        return (
            list(sentence.words),
            list(sentence.tags),
            ["" if head is None else str(head) for head in sentence.heads],
            [label or "" for label in sentence.labels],
        )


DEPENDENCIES: Final[ExampleSchema[Sentence]] = DependencySchema()
