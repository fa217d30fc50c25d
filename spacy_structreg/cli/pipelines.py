"""Pipelines, as far as the commands need them: by their tokenizers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["load_pipeline", "segmented"]


def load_pipeline(name: str) -> Language:
    """Load a pipeline from a folder or an installed package.

    Raises ValueError or OSError if there is none of that name, or it cannot be loaded.
    """
    import spacy

    try:
        return spacy.load(name)
    except ImportError as error:
        raise ValueError(f"the pipeline {name} cannot be loaded: {error}") from error


def segmented(nlp: Language, texts: Iterable[str], *, n_threads: int = 1) -> Iterator[list[str]]:
    """Yield the words of each text, without white space, in bounded memory.

    nlp: any pipeline. A tokenizer of ours segments without making Docs; only there, and no faster
        than there are cores, do threads help.
    Raises ValueError if a model of ours has not been trained, or a text is longer than the
    pipeline allows.
    """
    from spacy_structreg.pipeline.documents import gold_words
    from spacy_structreg.pipeline.tokenizer import ModelTokenizer

    if isinstance(nlp.tokenizer, ModelTokenizer):
        yield from nlp.tokenizer.words(texts, n_threads=n_threads)
    else:
        for text in texts:
            yield gold_words(nlp.make_doc(text))
