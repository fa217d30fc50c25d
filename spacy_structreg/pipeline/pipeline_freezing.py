"""Pipelines for prediction only: their models of ours are frozen, all else stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from spacy.language import Language

from spacy_structreg.learn.freezing import Bits
from spacy_structreg.pipeline.task import TOKENIZER, parts_of
from spacy_structreg.pipeline.tokenizer_trainer import TokenizerTrainer


def models_to_freeze(nlp: Language) -> dict[str, Any]:
    """The models of ours in a pipeline, by the names of their places.

    Raises ValueError, naming the place, if there is none, or one cannot be frozen.
    """
    models = {place: part.estimator for place, part in parts_of(nlp)}
    if not models:
        raise ValueError("the pipeline has no model of spacy_structreg to freeze")
    for place, model in models.items():
        if not model.is_trained:
            raise ValueError(f"the {place} of the pipeline has not been trained")
        if model.is_frozen:
            raise ValueError(f"the {place} of the pipeline is frozen; use the one it was made of")
    return models


def put_frozen(
    nlp: Language, models: Mapping[str, Any], bits: Bits, prune: Mapping[str, float]
) -> None:
    """Put frozen models into a pipeline in the places of others.

    models: not frozen, by place. prune: of each place (`StoredModel.freeze`). If one of them cannot
    be frozen, ValueError is raised and nothing is changed. Pipes that train a tokenizer are removed
    with that.
    """
    frozen = {}
    for place, model in models.items():
        try:
            frozen[place] = model.freeze(bits=bits, prune=prune[place])
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
    for place, part in parts_of(nlp):
        if place in frozen:
            part.estimator = frozen[place]
    if TOKENIZER in frozen:
        for name, pipe in nlp.components:
            if isinstance(pipe, TokenizerTrainer):
                nlp.remove_pipe(name)


def weight_of_share(model: Any, share: float) -> float:
    """The absolute weight up to which lies a share, from 0 to 1, of all weights that are not 0."""
    _, arrays = model.contents()
    weights = [
        np.abs(array[array != 0]).ravel()
        for name, array in arrays.items()
        if f".{name}".endswith(".values") and array.dtype == np.float32
    ]
    if not share or not sum(map(len, weights)):
        return 0.0
    return float(np.quantile(np.concatenate(weights), share))
