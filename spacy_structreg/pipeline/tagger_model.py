"""The architecture of the tagger's model: ``spacy_structreg.Tagger.v1``."""

from __future__ import annotations

from typing import Any, Literal

from thinc.api import Model

from spacy_structreg.estimators.tagger import Tagger
from spacy_structreg.learn.settings import Learning
from spacy_structreg.pipeline.shim import estimator_model


def create_tagger_model(
    *,
    templates: str | list[str] = "words",
    half_width: bool = True,
    beam: int | None = 4,
    decode_beam: int | None = 2,
    update: Literal["early", "max_violation", "plain", "every"] = "early",
    dictionary: int | None = 5,
    learning: Learning | None = None,
    seed: int | None = None,
) -> Model[Any, Any]:
    """Make a model that holds an untrained `Tagger`.

    The settings are those of the class. learning: from ``spacy_structreg.Learning.v1``; None takes
    the default of the class. seed: None takes what ``[training] seed`` fixes.
    Raises ValueError for settings that do not exist.
    """
    tagger = Tagger(
        templates=templates,
        half_width=half_width,
        beam=beam,
        decode_beam=decode_beam,
        update=update,
        dictionary=dictionary,
        learning=learning,
        seed=seed,
    )
    return estimator_model("spacy_structreg.Tagger.v1", tagger)
