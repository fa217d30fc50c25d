"""The scorer of tags: ``spacy_structreg.tagging_scorer.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from spacy.training import Example

from spacy_structreg.metrics.joint import JointScorer
from spacy_structreg.metrics.tagging import TaggingScorer
from spacy_structreg.pipeline.documents import tagged_words
from spacy_structreg.pipeline.tagging.tagger import Attribute


def make_tagging_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.tagging_scorer.v1``."""
    return score_tags


def score_tags(
    examples: Iterable[Example], *, attribute: Attribute = "tag", **kwargs: Any
) -> dict[str, Any]:
    """Score the tags of Docs, as fractions of 1, under ``tag`` and, or, ``pos``.

    If all words are those of the reference: ``tag_acc``, the share of words with the right tag;
    words whose gold tag is not known do not count. If not: ``tag_p``, ``tag_r`` and ``tag_f`` of
    words that have both their place and their tag right, in Docs whose gold tags are all known.
    The other figures are None, so that none stands for another.
    """
    examples = list(examples)
    kinds: tuple[Literal["tag", "pos"], ...] = (
        ("tag", "pos") if attribute == "both" else (attribute,)
    )
    figures: dict[str, Any] = {}
    for kind in kinds:
        pairs = [
            (tagged_words(example.reference, kind), tagged_words(example.predicted, kind))
            for example in examples
        ]
        accuracy = precision = recall = f_score = None
        if all(_words(gold) == _words(predicted) for gold, predicted in pairs):
            words = TaggingScorer()
            for gold, predicted in pairs:
                words.add(gold, [tag for _, tag in predicted])
            accuracy = words.scores().tag_acc
        else:
            spans = JointScorer()
            for gold, predicted in pairs:
                if "".join(_words(gold)) == "".join(_words(predicted)):
                    spans.add(gold, predicted)
            scores = spans.scores()
            precision, recall, f_score = scores.joint_p, scores.joint_r, scores.joint_f
        figures |= {
            f"{kind}_acc": accuracy,
            f"{kind}_p": precision,
            f"{kind}_r": recall,
            f"{kind}_f": f_score,
        }
    return figures


def _words(pairs: list[tuple[str, str]]) -> list[str]:
    return [word for word, _ in pairs]
