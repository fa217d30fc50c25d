"""The scorer of words: ``spacy_structreg.segmentation_scorer.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import Scorer
from spacy.training import Example

from spacy_structreg.metrics.segmentation import SegmentationScorer
from spacy_structreg.pipeline.documents import gold_words


def make_segmentation_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.segmentation_scorer.v1``."""
    return score_segmentation


def score_segmentation(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Score the words of Docs, as fractions of 1.

    Returns spaCy's ``token_acc``, ``token_p``, ``token_r`` and ``token_f``, and ``seg_p``,
    ``seg_r`` and ``seg_f`` as the SIGHAN bakeoffs define them. Reference Docs that do not know
    their spaces are left out, as spaCy does: their text is not that of the source. Figures are
    None if nothing is left.
    """
    examples = list(examples)
    scorer = SegmentationScorer()
    for example in examples:
        if not example.reference.has_unknown_spaces:
            scorer.add(gold_words(example.reference), gold_words(example.predicted))
    figures = scorer.scores().as_dict("seg_p", "seg_r", "seg_f")
    return {**Scorer.score_tokenization(examples), **figures}
