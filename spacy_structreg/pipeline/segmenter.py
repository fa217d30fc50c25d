"""The tokenizer that segments text by a model of ours: ``spacy_structreg.Segmenter.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from spacy.language import Language
from spacy.training import Example

from spacy_structreg.estimators.tokenizer_model import TokenizerModel
from spacy_structreg.pipeline.component import N_THREADS
from spacy_structreg.pipeline.tokenizer import FoundWords, ModelTokenizer
from spacy_structreg.pipeline.tokenizer_tasks import score_segmentation
from spacy_structreg.tasks.segmentation.given_spans import AnySpan
from spacy_structreg.tasks.segmentation.user_words import CompiledWords


def create_segmenter(
    model: TokenizerModel,
    n_threads: int = N_THREADS,
    alternatives: int = 0,
    confidence: bool = False,
    extension_prefix: str = "",
) -> Callable[[Language], Segmenter]:
    """Make the factory of a `Segmenter`, as ``[nlp.tokenizer]`` of a config asks for it.

    model: from an architecture such as ``spacy_structreg.CharacterSegmenter.v1``; or from one that
        tags as well, which learns from the tags of the corpus and then gives words alone.
    n_threads: how many threads decode side by side in streams; Docs do not depend on it.
    alternatives: how many of the best analyses are kept on the Doc; 0 for none.
    confidence: keep margins on the Doc, and probabilities once the pipeline is calibrated.
    extension_prefix: what the name of the attribute ``structreg`` of Docs begins with.
    """
    return Segmenter.factory(
        model,
        n_threads=n_threads,
        alternatives=alternatives,
        confidence=confidence,
        extension_prefix=extension_prefix,
    )


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
