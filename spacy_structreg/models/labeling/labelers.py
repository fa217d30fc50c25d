"""Labels of tokens, or of items that are known by features alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.learn.model_file import field
from spacy_structreg.learn.setting_fields import from_settings, setting
from spacy_structreg.models.gold import as_list, check_names, is_row
from spacy_structreg.models.knowledge import (
    contents_of_words,
    read_words,
    restored_words,
    unread_words,
    word_tables,
)
from spacy_structreg.models.label_chain import (
    KnownFeatures,
    LabelChainSpec,
    Labeler,
    LabelerSettings,
    SpanScheme,
    Split,
)
from spacy_structreg.models.model_spec import StoredSpec
from spacy_structreg.models.settings import CompleteTemplates, WordSettings, complete, joined
from spacy_structreg.tasks.tokens import TokenFeatures, TokenRows
from spacy_structreg.tasks.word_fields import WordFields

if TYPE_CHECKING:
    from typing_extensions import Self

    from spacy_structreg.tasks.feature_dictionaries import DictionaryFeatures

LabeledTokens: TypeAlias = Sequence[tuple[str, ...]]
LabeledFeatures: TypeAlias = Sequence[tuple[dict[str, float], str]]


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

    def features(self, known: WordFields | None = None) -> TokenFeatures:
        """The features of tokens; None leaves out what files of knowledge say."""
        return TokenFeatures(
            joined(self.templates, *word_tables(self)),
            self.columns,
            self.gazetteers if isinstance(self.gazetteers, Gazetteers) else None,
            known or unread_words(self),
        )


class SequenceLabelerSpec(LabelChainSpec[LabeledTokens]):
    """Tokens as tuples of the word, any further columns and the label; labels; features."""

    @classmethod
    def checked(cls, sentence: Any) -> LabeledTokens:
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

    @classmethod
    def layers(cls, sentence: LabeledTokens) -> tuple[list[str], ...]:
        # A sentence without tokens has words and labels, too, but none.
        return tuple(map(list, zip(*sentence, strict=True))) or ([], [])

    @classmethod
    def check_corpus(cls, sentences: Iterable[Any], purpose: str) -> list[LabeledTokens]:
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

    @classmethod
    def items_and_labels(cls, sentence: LabeledTokens) -> Split:
        return [tuple(row[:-1]) for row in sentence], [row[-1] for row in sentence]

    @classmethod
    def new_features(cls, settings: SequenceLabelerSettings) -> KnownFeatures:
        known = read_words(settings)
        return settings.features(known), *contents_of_words(known)

    @classmethod
    def stored_features(
        cls, settings: SequenceLabelerSettings, stored: StoredSpec
    ) -> KnownFeatures:
        known = restored_words(settings, stored.entries, stored.arrays)
        return settings.features(known), *contents_of_words(known)


class SequenceLabeler(Labeler[LabeledTokens]):
    """Labels the tokens of sentences: names, phrases, or anything that tokens have one of.

    Gold sentences are lists of rows: the columns of a token, and its label. What is predicted from
    are lists of rows without labels, or of words if there is no other column.

    Examples
    --------
    >>> from spacy_structreg import SequenceLabeler
    >>> gold = [
    ...     [("我", "O"), ("在", "O"), ("北京", "B-GPE")],
    ...     [("上海", "B-GPE"), ("很", "O"), ("大", "O")],
    ... ]
    >>> SequenceLabeler(epochs=5).fit(gold).predict(["我", "在", "上海"])
    ['O', 'O', 'B-GPE']
    """

    KIND = "sequence_labeler"
    FEATURES = 2
    SPEC = SequenceLabelerSpec
    GIVEN_WORDS = True
    MUST_AGREE = ("templates", "columns", "scheme", "gazetteers", "labels", "script")
    SETTINGS = SequenceLabelerSettings
    settings: SequenceLabelerSettings

    @from_settings(SequenceLabelerSettings)
    def __init__(self, settings: SequenceLabelerSettings) -> None:
        lists = settings.gazetteers
        if lists is not None and not isinstance(lists, Gazetteers):
            settings = replace(settings, gazetteers=Gazetteers(lists))
        self._seen = settings.features()
        super().__init__(replace(settings, templates=complete(self._seen.all_templates)))

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

    def _items(self, given: Any) -> Sequence[Any]:
        if isinstance(given, str):
            raise ValueError(f"{given!r:.60} is a text; give a list of tokens")
        if isinstance(given, TokenRows):
            return given
        rows = list(given)
        if len(self.settings.columns) == 1:
            rows = [(row,) if isinstance(row, str) else row for row in rows]
        # Before any is indexed; what cells are is looked at with their features.
        self._seen.check_rows(rows)
        return rows

    @staticmethod
    def _places(items: Sequence[Any]) -> list[str]:
        return [row[0] for row in items]


class FeatureLabelerSettings(LabelerSettings):
    """Settings of a `FeatureLabeler`."""

    DEFAULT_LEARNING: ClassVar[LogLinear] = LogLinear()

    edges: Collection[str] = setting(
        (),
        "Names of features, up to their first colon, that go with each pair of labels, too (rich "
        "edge features, Sun 2014).",
    )

    def features(self) -> DictionaryFeatures:
        """The features of items."""
        from spacy_structreg.tasks.feature_dictionaries import DictionaryFeatures

        return DictionaryFeatures(self.edges)


class FeatureLabelerSpec(LabelChainSpec[LabeledFeatures]):
    """Pairs of the features of an item (`tasks.feature_dictionaries`) and its label; labels."""

    @classmethod
    def checked(cls, sentence: Any) -> LabeledFeatures:
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

    @classmethod
    def layers(cls, sentence: LabeledFeatures) -> tuple[list[str], ...]:
        # ASCII alone: names may be such that UTF-8 cannot encode them, which is found out later.
        return [json.dumps(features) for features, _ in sentence], [label for _, label in sentence]

    @classmethod
    def items_and_labels(cls, sentence: LabeledFeatures) -> Split:
        return [features for features, _ in sentence], [label for _, label in sentence]


class FeatureLabeler(Labeler[LabeledFeatures]):
    """Labels the items of sequences by features that users compute themselves.

    Gold sequences are lists of pairs of the features of an item, in the forms of
    `tasks.feature_dictionaries`, and its label. What is predicted from are lists of features.

    Examples
    --------
    >>> from spacy_structreg import FeatureLabeler
    >>> gold = [[({"speed": 0.2, "indoors": True}, "rest"), ({"speed": 2.9}, "run")]]
    >>> FeatureLabeler(epochs=5).fit(gold).predict([{"speed": 3.1}, {"indoors": True}])
    ['run', 'rest']
    """

    KIND = "feature_labeler"
    SPEC = FeatureLabelerSpec
    MUST_AGREE = ("edges", "scheme", "labels")
    SETTINGS = FeatureLabelerSettings
    settings: FeatureLabelerSettings

    @from_settings(FeatureLabelerSettings)
    def __init__(self, settings: FeatureLabelerSettings) -> None:
        self._seen = settings.features()
        super().__init__(replace(settings, edges=self._seen.edges))

    # Hooks of the base classes -------------------------------------------------------------------

    def _items(self, given: Any) -> Sequence[Any]:
        return list(given)
