"""The scorer of words with their tags: ``spacy_structreg.joint_scorer.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spacy.training import Example

from spacy_structreg.metrics.joint import JointScorer
from spacy_structreg.pipeline.documents import tagged_words
from spacy_structreg.pipeline.segmentation.segmentation_scorer import score_segmentation


def make_joint_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.joint_scorer.v1``."""
    return score_joint


def score_joint(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Score the words of Docs, and the words together with their tags, as fractions of 1.

    Returns what `score_segmentation` returns, and ``joint_p``, ``joint_r`` and ``joint_f``: a word
    is right if a gold word of the same tag has the same first and last character. spaCy's
    ``tag_acc`` looks at the words that were found alone, and is left out. Reference Docs in which a
    word has no tag do not count for the joint figures; these are None if no other is left.
    """
    examples = list(examples)
    scorer = JointScorer()
    for example in examples:
        if not example.reference.has_unknown_spaces:
            scorer.add(tagged_words(example.reference), tagged_words(example.predicted))
    figures = scorer.scores().as_dict("joint_p", "joint_r", "joint_f")
    return {**score_segmentation(examples), **figures}
