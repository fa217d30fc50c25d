"""Labels of items that are known by features alone: of words, of sensors, of anything in a row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.learn.setting_fields import from_settings, setting
from spacy_structreg.models.label_chain import Labeler, LabelerSettings, Split
from spacy_structreg.models.labeling.labeled_schema import FEATURED, LabeledFeatures
from spacy_structreg.tasks.feature_dictionaries import DictionaryFeatures


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
