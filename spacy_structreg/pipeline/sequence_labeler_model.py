"""What a sequence labeller is made of: its model, ``spacy_structreg.SequenceLabeler.v1``, and
``spacy_structreg.Gazetteers.v1``."""

from __future__ import annotations

from typing import Any, Literal

from thinc.api import Model

from spacy_structreg.estimators.sequence_labeler import SequenceLabeler
from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.learn.settings import AnyLearning
from spacy_structreg.pipeline.shim import estimator_model

WORD = "w"


def create_sequence_labeler_model(
    *,
    templates: str | list[str] = "ner",
    columns: list[str] | None = None,
    scheme: Literal["bio", "bioes", "io"] | None = "bioes",
    learning: AnyLearning | None = None,
    seed: int | None = None,
) -> Model[Any, Any]:
    """Make a model that holds an untrained `SequenceLabeler`.

    The settings are those of the class. columns: what is known of a token besides its word, by the
    names that templates have for it, such as ``["tag"]``. learning: from
    ``spacy_structreg.LogLinear.v1`` or ``spacy_structreg.Learning.v1``; None takes the default of
    the class. seed: None takes what ``[training] seed`` fixes. Gazetteers are given to the
    component when it is initialized.
    Raises ValueError for settings that do not exist or contradict each other.
    """
    labeler = SequenceLabeler(
        templates=templates,
        columns=(WORD, *(columns or ())),
        scheme=scheme,
        learning=learning,
        seed=seed,
    )
    return estimator_model("spacy_structreg.SequenceLabeler.v1", labeler)


def create_gazetteers(
    lists: dict[str, str | list[str]],
    lower: bool = False,
    characters: bool = False,
    encoding: str = "utf-8",
) -> Gazetteers:
    """Make lists of phrases for ``[initialize.components.<name>.gazetteers]``.

    lists: of each name, a file with a phrase a line, or the phrases themselves. lower, characters:
    see `features.gazetteers.Gazetteers`. encoding: of the files.
    Raises ValueError for faulty files and lists; OSError for files that cannot be read.
    """
    paths = {name: given for name, given in lists.items() if isinstance(given, str)}
    found: dict[str, list[str]] = {
        name: given for name, given in lists.items() if not isinstance(given, str)
    }
    if paths:
        read = Gazetteers.from_files(paths, lower=lower, characters=characters, encoding=encoding)
        found |= read.to_lists()["lists"]
    return Gazetteers(found, lower=lower, characters=characters)
