"""Models for the tokenizers, as the config's ``@architectures`` name them."""

from __future__ import annotations

from typing import Literal

from spacy_structreg.estimators.character_segmenter import CharacterSegmenter
from spacy_structreg.learn.settings import Clock, Learning, UpdateRule


def create_character_segmenter(
    *,
    templates: str | list[str] = "zhang2014",
    types: str | None = "extended",
    half_width: bool = True,
    skip_bigram: bool = False,
    sentences: Literal["punctuation", "doc"] = "punctuation",
    labels: Literal["bmes", "six"] = "bmes",
    learning: Learning | None = None,
    seed: int | None = None,
) -> CharacterSegmenter:
    """Make an untrained `CharacterSegmenter`: ``spacy_structreg.CharacterSegmenter.v1``.

    The settings are those of the class. learning: from ``spacy_structreg.Learning.v1``; None takes
    the default of the class. seed: None takes what ``[training] seed`` fixes.
    Raises ValueError for settings that do not exist.
    """
    return CharacterSegmenter(
        templates=templates,
        types=types,
        half_width=half_width,
        skip_bigram=skip_bigram,
        sentences=sentences,
        labels=labels,
        learning=learning,
        seed=seed,
    )


def create_learning(
    *,
    update: UpdateRule = "perceptron",
    aggressiveness: float = 1.0,
    l2: float = 0.0,
    l1: float = 0.0,
    cumulative_l1: float = 0.0,
    dropout: float = 0.0,
    hidden_dropout: float = 0.0,
    mini_sample: float | None = None,
    clock: Clock = "examples",
) -> Learning:
    """Make the settings of a learner and its regularisers: ``spacy_structreg.Learning.v1``.

    See `learn.settings.Learning`. Raises ValueError for settings that do not go together.
    """
    return Learning(
        update=update,
        aggressiveness=aggressiveness,
        l2=l2,
        l1=l1,
        cumulative_l1=cumulative_l1,
        dropout=dropout,
        hidden_dropout=hidden_dropout,
        mini_sample=mini_sample,
        clock=clock,
    )
