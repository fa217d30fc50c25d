"""The tokenizer that segments text by a model of ours: ``spacy_structreg.Segmenter.v1``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spacy.training import Example

from spacy_structreg.estimators.tokenizer_model import TokenizerModel
from spacy_structreg.pipeline.tokenizer import FoundWords, ModelTokenizer, tokenizer_factory
from spacy_structreg.pipeline.tokenizer_tasks import score_segmentation
from spacy_structreg.tasks.segmentation.given_spans import AnySpan
from spacy_structreg.tasks.segmentation.user_words import CompiledWords


class Segmenter(ModelTokenizer[TokenizerModel]):
    """A tokenizer that finds words; see `ModelTokenizer`. Tags of listed words play no part."""

    NAME = "spacy_structreg.Segmenter.v1"
    TASK = "segmentation"
    MARGINS = ("boundaries", "words")

    def _score(self, examples: list[Example]) -> dict[str, Any]:
        """Score the words, by spaCy's figures and by those of the bakeoffs."""
        return score_segmentation(examples)

    def _predict(self, text: str, listed: CompiledWords, spans: Sequence[AnySpan]) -> FoundWords:
        return FoundWords(self.model.predict_spans(text, listed, spans=spans))

    def _stream(
        self, texts: Iterable[str], listed: CompiledWords, n_threads: int
    ) -> Iterator[FoundWords]:
        found = self.model.predict_spans_stream(texts, n_threads=n_threads, user_words=listed)
        return map(FoundWords, found)


create_segmenter = tokenizer_factory(Segmenter)
