"""The average of pipelines: of their models of ours, with all else from the first."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.language import Language

from spacy_structreg.learn.learning_settings import Mean
from spacy_structreg.pipeline.task import TOKENIZER, parts_of


def average_pipelines(pipelines: Sequence[Language], mean: Mean = "nonzero") -> Language:
    """Put the average of each model of ours into the first pipeline, and return it.

    These are the models of tokenizers and of components. mean: see
    `learn.model_average.average_rows`.
    Raises ValueError if there is no pipeline, none has a model of ours, or the models of the same
    place differ in what they see; the message names the place and the difference. Nothing is
    changed then.
    """
    if not pipelines:
        raise ValueError("there is no pipeline to average")
    first, *others = pipelines
    places = dict(parts_of(first))
    if not places:
        raise ValueError("the first pipeline has no model of spacy_structreg to average")
    holders = [places]
    for number, nlp in enumerate(others, 2):
        found = dict(parts_of(nlp))
        for place in sorted(places.keys() ^ found.keys()):
            if place == TOKENIZER:
                raise ValueError(f"pipeline {number} has another tokenizer than the first")
            raise ValueError(
                f"the first pipeline or pipeline {number} has a pipe {place!r} of "
                "spacy_structreg, but the other one has not"
            )
        holders.append(found)
    averages = {}
    for place in places:
        models = [found[place].estimator for found in holders]
        for number, model in enumerate(models, 1):
            if not model.is_trained:
                raise ValueError(f"the {place} of pipeline {number} has not been trained")
        try:
            averages[place] = type(models[0]).average(models, mean)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
    for place, model in averages.items():
        places[place].estimator = model
    return first
