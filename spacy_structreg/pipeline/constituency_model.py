"""The architecture of constituency parsers: ``spacy_structreg.ConstituencyParser.v1``."""

from __future__ import annotations

from typing import Any, Literal

from thinc.api import Model

from spacy_structreg.estimators.constituency_parser import ConstituencyParser
from spacy_structreg.learn.settings import Learning
from spacy_structreg.pipeline.shim import estimator_model


def create_constituency_model(
    *,
    templates: str | list[str] | None = None,
    half_width: bool = True,
    beam: int | None = 16,
    update: Literal["early", "max_violation", "plain", "every"] | None = None,
    learning: Learning | None = None,
    seed: int | None = None,
) -> Model[Any, Any]:
    """Make a model that holds an untrained `ConstituencyParser`.

    The settings are those of the class. learning: from ``spacy_structreg.Learning.v1``; None takes
    the default of the class. seed: None takes what ``[training] seed`` fixes.
    Raises ValueError for settings that do not exist or contradict each other.
    """
    parser = ConstituencyParser(
        templates=templates,
        half_width=half_width,
        beam=beam,
        update=update,
        learning=learning,
        seed=seed,
    )
    return estimator_model("spacy_structreg.ConstituencyParser.v1", parser)
