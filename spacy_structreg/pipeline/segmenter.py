"""The tokenizer that segments text by a model of ours: ``spacy_structreg.Segmenter.v1``."""

from __future__ import annotations

from typing import Any

from spacy.training import Example

from spacy_structreg.models.raw_text import RawTextPredictor
from spacy_structreg.pipeline.tokenizer import ModelTokenizer, tokenizer_factory


class Segmenter(ModelTokenizer[RawTextPredictor[Any]]):
    """A tokenizer that finds words; see `ModelTokenizer`. Tags of listed words play no part."""

    NAME = "spacy_structreg.Segmenter.v1"
    TASK = "segmentation"
    MARGINS = ("boundaries", "words")

    def _score(self, examples: list[Example]) -> dict[str, Any]:
        """Score the words, by spaCy's figures and by those of the bakeoffs."""
        from spacy_structreg.pipeline.tokenizer_tasks import score_segmentation

        return score_segmentation(examples)


create_segmenter = tokenizer_factory(Segmenter)
