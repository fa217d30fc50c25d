"""The architecture of the parser's model: ``spacy_structreg.DependencyParser.v1``."""

from __future__ import annotations

from typing import Any, Literal

from thinc.api import Model

from spacy_structreg.estimators.dependency_parser import DependencyParser
from spacy_structreg.learn.settings import Learning
from spacy_structreg.pipeline.shim import estimator_model


def create_parser_model(
    *,
    system: str = "arc_eager",
    templates: str | list[str] | None = None,
    labelled: bool = True,
    half_width: bool = True,
    beam: int | None = 16,
    merge: bool | None = None,
    update: Literal["early", "max_violation", "plain", "every"] | None = None,
    learning: Learning | None = None,
    seed: int | None = None,
) -> Model[Any, Any]:
    """Make a model that holds an untrained `DependencyParser`.

    The settings are those of the class. learning: from ``spacy_structreg.Learning.v1``; None takes
    the default of the class. seed: None takes what ``[training] seed`` fixes.
    Raises ValueError for settings that do not exist or contradict each other.
    """
    parser = DependencyParser(
        system=system,
        templates=templates,
        labelled=labelled,
        half_width=half_width,
        beam=beam,
        merge=merge,
        update=update,
        learning=learning,
        seed=seed,
    )
    return estimator_model("spacy_structreg.DependencyParser.v1", parser)
