"""Gold sentences of labelers: tokens, or items known by features, with their labels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from spacy_structreg.models.example_schema import ExampleSchema, as_list, check_names, is_row

LabeledTokens: TypeAlias = Sequence[tuple[str, ...]]
LabeledFeatures: TypeAlias = Sequence[tuple[dict[str, float], str]]


class LabeledSchema(ExampleSchema[LabeledTokens]):
    """Tokens as tuples: the word, any further columns, the label."""

    def checked(self, sentence: Any) -> LabeledTokens:
        listed = as_list(sentence)
        if listed is None or not all(map(is_row, listed)):
            raise ValueError(
                f"{sentence!r:.60} is not a list of tuples of strings, each a word, its other "
                "columns if any, and its label"
            )
        check_names(row[-1] for row in listed)
        for row in listed:
            if len(row) != len(listed[0]):
                raise ValueError(
                    f"the token {row!r:.60} has {len(row)} columns, the first one "
                    f"{len(listed[0])}; give each the same"
                )
            if not row[-1].strip():
                raise ValueError(f"the word {row[0]!r:.60} has no label")
        return [tuple(row) for row in listed]

    def layers(self, sentence: LabeledTokens) -> tuple[list[str], ...]:
        # A sentence without tokens has words and labels, too, but none.
        return tuple(map(list, zip(*sentence, strict=True))) or ([], [])

    def check_corpus(self, sentences: Iterable[Any], purpose: str) -> list[LabeledTokens]:
        """As of other kinds; sentences also have as many columns as each other."""
        checked = super().check_corpus(sentences, purpose)
        n_columns = next(len(sentence[0]) for sentence in checked if sentence)
        for number, sentence in enumerate(checked, 1):
            if sentence and len(sentence[0]) != n_columns:
                raise ValueError(
                    f"sentence {number} of the {purpose} corpus: its tokens have "
                    f"{len(sentence[0])} columns, those before {n_columns}; give each the same"
                )
        return checked


class FeaturedSchema(ExampleSchema[LabeledFeatures]):
    """Pairs of the features of an item (`tasks.feature_dictionaries`) and its label."""

    def checked(self, sentence: Any) -> LabeledFeatures:
        from spacy_structreg.tasks.feature_dictionaries import flatten_features

        listed = as_list(sentence)
        if listed is None or not all(
            isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[1], str)
            for item in listed
        ):
            raise ValueError(
                f"{sentence!r:.60} is not a list of pairs of the features of an item and its label"
            )
        check_names(label for _, label in listed)
        if not all(label.strip() for _, label in listed):
            raise ValueError("an item has no label")
        return [(flatten_features(features), label) for features, label in listed]

    def layers(self, sentence: LabeledFeatures) -> tuple[list[str], ...]:
        # ASCII alone: names may be such that UTF-8 cannot encode them, which is found out later.
        return [json.dumps(features) for features, _ in sentence], [label for _, label in sentence]


LABELED: Final[ExampleSchema[LabeledTokens]] = LabeledSchema()
FEATURED: Final[ExampleSchema[LabeledFeatures]] = FeaturedSchema()
