"""Models for the tokenizers, as the config's ``@architectures`` name them."""

from __future__ import annotations

from typing import Literal

from spacy_structreg.estimators.character_segmenter import CharacterSegmenter


def create_character_segmenter(
    *,
    templates: str | list[str] = "zhang2014",
    types: str | None = "extended",
    half_width: bool = True,
    skip_bigram: bool = False,
    sentences: Literal["punctuation", "doc"] = "punctuation",
    seed: int | None = None,
) -> CharacterSegmenter:
    """Make an untrained `CharacterSegmenter`: ``spacy_structreg.CharacterSegmenter.v1``.

    The settings are those of the class. seed: None takes what ``[training] seed`` fixes.
    Raises ValueError for settings that do not exist.
    """
    return CharacterSegmenter(
        templates=templates,
        types=types,
        half_width=half_width,
        skip_bigram=skip_bigram,
        sentences=sentences,
        seed=seed,
    )
