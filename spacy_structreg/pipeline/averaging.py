"""The average of pipelines: of their models of ours, with all else from the first."""

from __future__ import annotations

from collections.abc import Sequence

from spacy.language import Language

from spacy_structreg.learn.averaging import Mean
from spacy_structreg.pipeline.tokenizer import ModelTokenizer


def average_pipelines(pipelines: Sequence[Language], mean: Mean = "nonzero") -> Language:
    """Put the average of each model of ours into the first pipeline, and return it.

    mean: see `learn.averaging.average_rows`.
    Raises ValueError if there is no pipeline, none has a model of ours, or the models of the same
    place differ in what they see; the message names the place and the difference.
    """
    if not pipelines:
        raise ValueError("there is no pipeline to average")
    first = pipelines[0]
    if not isinstance(first.tokenizer, ModelTokenizer):
        raise ValueError("the first pipeline has no model of spacy_structreg to average")
    models = []
    for number, nlp in enumerate(pipelines, 1):
        if not isinstance(nlp.tokenizer, ModelTokenizer):
            raise ValueError(f"pipeline {number} has another tokenizer than the first")
        if not nlp.tokenizer.model.is_trained:
            raise ValueError(f"the tokenizer of pipeline {number} has not been trained")
        models.append(nlp.tokenizer.model)
    try:
        first.tokenizer.model = first.tokenizer.model.average(models, mean)
    except ValueError as error:
        raise ValueError(f"tokenizer: {error}") from error
    return first
