"""Labels of items that are known by features alone: of words, of sensors, of anything in a row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Final

from spacy_structreg.corpora.label_schemes import Scheme
from spacy_structreg.estimators.base import Estimator
from spacy_structreg.estimators.gold import FEATURED, LabelledFeatures
from spacy_structreg.estimators.label_chain import Labeler, Split
from spacy_structreg.estimators.settings import strings
from spacy_structreg.learn.averaging import Mean
from spacy_structreg.learn.settings import AnyLearning, LogLinear
from spacy_structreg.tasks.feature_dictionaries import DictionaryFeatures

__all__ = ["DEFAULT_LEARNING", "FeatureLabeler"]

DEFAULT_LEARNING: Final = LogLinear()
"""How a model is trained unless told otherwise."""


class FeatureLabeler(Labeler[LabelledFeatures]):
    """Labels the items of sequences by features that users compute themselves.

    edges: names of features, up to their first ``:``, that go with each pair of labels, too (rich
        edge features, Sun 2014).
    scheme: ``"bio"``, ``"bioes"`` or ``"io"``, in which a chain of labels stands for spans: gold
        labels and predictions are in BIO, whatever it is, and predictions always stand for spans.
        None for labels that may follow one another freely.
    learning: `Learning` for a structured perceptron, `LogLinear` for a conditional random field;
        None for `DEFAULT_LEARNING`.
    epochs, patience, n_models, mean, seed: see `base.Estimator`.

    Gold sequences are lists of pairs of the features of an item, in the forms of
    `tasks.feature_dictionaries`, and its label. What is predicted from are lists of features.
    Raises ValueError for settings that do not exist or contradict each other.
    """

    TASK = "feature_labeler"
    GOLD = FEATURED
    MUST_AGREE = ("edges", "scheme", "labels")
    SETTINGS: ClassVar = {
        "edges": (list,),
        "scheme": (str, type(None)),
        **Estimator.SETTINGS,
    }

    def __init__(
        self,
        *,
        edges: Collection[str] = (),
        scheme: Scheme | None = None,
        learning: AnyLearning | None = None,
        epochs: int = 15,
        patience: int | None = None,
        n_models: int = 1,
        mean: Mean = "nonzero",
        seed: int | None = 0,
    ) -> None:
        self._take_scheme(scheme)
        self._seen: DictionaryFeatures = DictionaryFeatures(edges)
        self.edges = self._seen.edges
        super().__init__(
            learning=DEFAULT_LEARNING if learning is None else learning,
            epochs=epochs,
            patience=patience,
            n_models=n_models,
            mean=mean,
            seed=seed,
        )

    # Hooks of the base classes -------------------------------------------------------------------

    @staticmethod
    def _split(sentence: LabelledFeatures) -> Split:
        return [features for features, _ in sentence], [label for _, label in sentence]

    def _items(self, given: Any) -> Sequence[Any]:
        return list(given)

    def _settings(self) -> dict[str, Any]:
        return {"edges": list(self.edges), "scheme": self.scheme, **super()._settings()}

    @classmethod
    def _arguments(cls, settings: dict[str, Any]) -> dict[str, Any]:
        arguments = super()._arguments(settings)
        arguments["edges"] = strings("edges", settings["edges"])
        return arguments
