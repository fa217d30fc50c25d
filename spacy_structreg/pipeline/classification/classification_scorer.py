"""The scorer of categories: ``spacy_structreg.classification_scorer.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.metrics.classification import score_classification
from spacy_structreg.metrics.figures import Scores
from spacy_structreg.pipeline.documents import category_of


def make_classification_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.classification_scorer.v1``."""
    return score_categories


def score_categories(
    examples: Iterable[Example], *, labels: Iterable[str] = (), **kwargs: Any
) -> dict[str, Any]:
    """Score the categories of Docs, of one category each, as fractions of 1.

    Returns the figures of spaCy (``cats_micro_f``, ``cats_macro_f``, ``cats_f_per_type`` and the
    like), and ``cats_acc``, the share of Docs of the right category. References without a category
    do not count; ``cats_acc`` is None if no other is left.
    labels: the categories of the model; those of the references are added.
    """
    known = [each for each in examples if category_of(each.reference) is not None]
    categories = {*labels, *(str(category_of(each.reference)) for each in known)}

    def cats(doc: Doc, attribute: str) -> dict[str, float]:
        # Where there is nothing at all, spaCy's scorer fails.
        return {**dict.fromkeys(sorted(categories), 0.0), **doc.cats}

    figures: dict[str, Any] = dict(
        Scorer.score_cats(known, "cats", getter=cats, labels=sorted(categories), multi_label=False)
    )
    pairs = [(example.reference, example.predicted) for example in known]
    return {**figures, **score_categories_of_docs(pairs).as_dict("cats_acc")}


def score_categories_of_docs(pairs: Iterable[tuple[Doc, Doc]]) -> Scores:
    """Score the likeliest category of predicted Docs against that of their references.

    References without a category do not count.
    """
    gold: list[str] = []
    found: list[str] = []
    for reference, predicted in pairs:
        category = category_of(reference)
        if category is not None:
            gold.append(category)
            found.append(max(predicted.cats, key=predicted.cats.__getitem__, default=""))
    return score_classification(gold, found)
