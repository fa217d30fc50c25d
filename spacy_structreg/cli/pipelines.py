"""Pipelines by their names on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language


def load_pipeline(name: str) -> Language:
    """Load a pipeline from a folder or an installed package.

    Raises ValueError or OSError if there is none of that name, or it cannot be loaded.
    """
    import spacy

    try:
        return spacy.load(name)
    except ImportError as error:
        raise ValueError(f"the pipeline {name} cannot be loaded: {error}") from error
