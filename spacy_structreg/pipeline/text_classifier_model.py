"""The architecture of the classifier's model: ``spacy_structreg.TextClassifier.v1``."""

from __future__ import annotations

from typing import Any, Literal

from thinc.api import Model

from spacy_structreg.estimators.text_classifier import TextClassifier
from spacy_structreg.learn.settings import AnyLearning
from spacy_structreg.pipeline.shim import estimator_model


def create_text_classifier_model(
    *,
    ngrams: int = 1,
    characters: list[int] | None = None,
    lower: bool = True,
    values: Literal["binary", "counts", "log"] = "binary",
    normalise: bool = False,
    learning: AnyLearning | None = None,
    seed: int | None = None,
) -> Model[Any, Any]:
    """Make a model that holds an untrained `TextClassifier`.

    The settings are those of the class. learning: from ``spacy_structreg.LogLinear.v1`` or
    ``spacy_structreg.Learning.v1``; None takes the default of the class. seed: None takes what
    ``[training] seed`` fixes.
    Raises ValueError for settings that do not exist or contradict each other.
    """
    classifier = TextClassifier(
        ngrams=ngrams,
        characters=characters,
        lower=lower,
        values=values,
        normalise=normalise,
        learning=learning,
        seed=seed,
    )
    return estimator_model("spacy_structreg.TextClassifier.v1", classifier)
