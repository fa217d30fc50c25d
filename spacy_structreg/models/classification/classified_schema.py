"""Gold texts of classifiers: pairs of a list of words and a category."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from spacy_structreg.models.example_schema import ExampleSchema, as_list, check_names

ClassifiedWords: TypeAlias = tuple[list[str], str]


class ClassifiedSchema(ExampleSchema[ClassifiedWords]):
    """Pairs of the words of a text and its category."""

    def checked(self, sentence: Any) -> ClassifiedWords:
        is_pair = isinstance(sentence, (tuple, list)) and len(sentence) == 2
        words = as_list(sentence[0]) if is_pair else None
        if (
            words is None
            or not all(isinstance(word, str) for word in words)
            or not isinstance(sentence[1], str)
        ):
            raise ValueError(f"{sentence!r:.60} is not a pair of a list of words and a category")
        category = sentence[1]
        check_names([category])
        if not category.strip():
            raise ValueError(f"the text {words!r:.60} has no category")
        return words, category

    def layers(self, sentence: ClassifiedWords) -> tuple[list[str], ...]:
        words, category = sentence
        return list(words), [category] * len(words)


CLASSIFIED: Final[ExampleSchema[ClassifiedWords]] = ClassifiedSchema()
