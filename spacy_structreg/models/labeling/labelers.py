"""Labels of tokens, or of items that are known by features alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.learn.model_file import Arrays, field
from spacy_structreg.learn.setting_fields import from_settings, setting
from spacy_structreg.models.gold import ExampleSchema, as_list, check_names, is_row
from spacy_structreg.models.label_chain import (
    LabelChainSpec,
    Labeler,
    LabelerSettings,
    SpanScheme,
    Split,
)
from spacy_structreg.models.settings import CompleteTemplates, WordSettings, complete, joined
from spacy_structreg.models.word_knowledge import WordKnowledge, further_tables
from spacy_structreg.tasks.feature_dictionaries import DictionaryFeatures
from spacy_structreg.tasks.tokens import TokenFeatures

if TYPE_CHECKING:
    from typing_extensions import Self

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


DEFAULT_LEARNING: Final = LogLinear(l2=0.0, noise="dropout", noise_level=0.3)
"""Default learning, chosen on the development sets of the corpora in `projects`. Without
noise, ``LogLinear()``, training takes half as long, and is worse by some tenths of a point."""


def _restored_gazetteers(stored: Any) -> Gazetteers | None:
    if stored is None:
        return None
    if not isinstance(stored, Mapping) or set(stored) != {"lists", "lower", "characters"}:
        raise ValueError("its gazetteers are not of the form that there is")
    field(stored, "lower", bool)
    field(stored, "characters", bool)
    return Gazetteers(**stored)


@dataclass(frozen=True, kw_only=True)
class SequenceLabelerSettings(WordSettings, LabelerSettings):
    """Settings of a `SequenceLabeler`."""

    DEFAULT_LEARNING: ClassVar[LogLinear] = DEFAULT_LEARNING

    templates: str | Sequence[str] = setting(
        "ner",
        'The features: a table, "ner", "bio", "chunking", "chunking-rich", "characters", "pos" or '
        '"pos-rich", or one of these with "+edges" behind it; or templates of one\'s own, such as '
        '"label: w-1 w0".',
        restore=CompleteTemplates.checked,
    )
    columns: Sequence[str] = setting(
        ("w",), "What templates see of a token, by name; the first is its word."
    )
    scheme: SpanScheme | None = "bioes"
    gazetteers: Gazetteers | Mapping[str, Iterable[str]] | None = setting(
        None,
        "Lists of phrases by name; without them, templates that read them do nothing.",
        restore=_restored_gazetteers,
        in_config=False,
    )


class SequenceLabeler(Labeler[LabeledTokens]):
    """Labels the tokens of sentences: names, phrases, or anything that tokens have one of.

    Gold sentences are lists of rows: the columns of a token, and its label. What is predicted from
    are lists of rows without labels, or of words if there is no other column. Raises ValueError
    for settings that do not exist or contradict each other.
    """

    TASK = "sequence_labeler"
    SCHEMA = LABELED
    GIVEN_WORDS = True
    MUST_AGREE = ("templates", "columns", "scheme", "gazetteers", "labels", "script")
    SETTINGS = SequenceLabelerSettings
    settings: SequenceLabelerSettings

    @from_settings(SequenceLabelerSettings)
    def __init__(self, settings: SequenceLabelerSettings) -> None:
        gazetteers = settings.gazetteers
        if gazetteers is not None and not isinstance(gazetteers, Gazetteers):
            gazetteers = Gazetteers(gazetteers)
        self._seen: TokenFeatures = TokenFeatures(
            joined(settings.templates, *further_tables(settings)),
            settings.columns,
            gazetteers,
            classes=WordKnowledge.unread(settings).word_classes,
        )
        templates = complete(self._seen.all_templates)
        super().__init__(replace(settings, templates=templates, gazetteers=gazetteers))

    def features(self, items: Iterable[Any]) -> list[list[str]]:
        """The names of the features of each token, for inspection and for other programs."""
        seen = self._spec.seen if isinstance(self._spec, LabelChainSpec) else self._seen
        assert isinstance(seen, TokenFeatures)
        return seen.names(self._items(items))

    def with_gazetteers(self, gazetteers: Gazetteers) -> Self:
        """An untrained labeler of the same settings, but with other gazetteers.

        Raises ValueError if no template reads them.
        """
        if not self._seen.reads_gazetteers():
            raise ValueError(
                "no feature template reads gazetteers; add 'label: gazetteers(w0)' to the "
                "templates, or leave the gazetteers out"
            )
        return self.of(replace(self.settings, gazetteers=gazetteers))

    # Hooks of the base classes -------------------------------------------------------------------

    def _new_features(self) -> tuple[TokenFeatures, dict[str, Any], Arrays]:
        return self._knowing(WordKnowledge.read(self.settings))

    def _stored_features(
        self, entries: dict[str, Any], arrays: Arrays
    ) -> tuple[TokenFeatures, dict[str, Any], Arrays]:
        return self._knowing(WordKnowledge.stored(self.settings, entries, arrays))

    def _knowing(self, known: WordKnowledge) -> tuple[TokenFeatures, dict[str, Any], Arrays]:
        if known.script is None and known.word_classes is None:
            return self._seen, {}, {}
        return self._seen.knowing(known.script, known.word_classes), *known.contents()

    @staticmethod
    def _split(sentence: LabeledTokens) -> Split:
        return [tuple(row[:-1]) for row in sentence], [row[-1] for row in sentence]

    def _items(self, given: Any) -> Sequence[Any]:
        if isinstance(given, str):
            raise ValueError(f"{given!r:.60} is a text; give a list of tokens")
        rows = list(given)
        if len(self.settings.columns) == 1:
            return [(row,) if isinstance(row, str) else row for row in rows]
        return rows

    @staticmethod
    def _places(items: Sequence[Any]) -> list[str]:
        return [row[0] for row in items]


@dataclass(frozen=True, kw_only=True)
class FeatureLabelerSettings(LabelerSettings):
    """Settings of a `FeatureLabeler`."""

    DEFAULT_LEARNING: ClassVar[LogLinear] = LogLinear()

    edges: Collection[str] = setting(
        (),
        "Names of features, up to their first colon, that go with each pair of labels, too (rich "
        "edge features, Sun 2014).",
    )


class FeatureLabeler(Labeler[LabeledFeatures]):
    """Labels the items of sequences by features that users compute themselves.

    Gold sequences are lists of pairs of the features of an item, in the forms of
    `tasks.feature_dictionaries`, and its label. What is predicted from are lists of features.
    Raises ValueError for settings that do not exist or contradict each other.
    """

    TASK = "feature_labeler"
    SCHEMA = FEATURED
    MUST_AGREE = ("edges", "scheme", "labels")
    SETTINGS = FeatureLabelerSettings
    settings: FeatureLabelerSettings

    @from_settings(FeatureLabelerSettings)
    def __init__(self, settings: FeatureLabelerSettings) -> None:
        self._seen: DictionaryFeatures = DictionaryFeatures(settings.edges)
        super().__init__(replace(settings, edges=self._seen.edges))

    # Hooks of the base classes -------------------------------------------------------------------

    @staticmethod
    def _split(sentence: LabeledFeatures) -> Split:
        return [features for features, _ in sentence], [label for _, label in sentence]

    def _items(self, given: Any) -> Sequence[Any]:
        return list(given)
