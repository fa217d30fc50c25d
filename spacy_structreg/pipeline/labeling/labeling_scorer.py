"""The scorer of labels and spans: ``spacy_structreg.labeling_scorer.v1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.labeling import labels_of
from spacy_structreg.metrics.figures import Scores
from spacy_structreg.metrics.labeling import SpanScorer, score_labels
from spacy_structreg.pipeline.documents import gold_words, visible_tokens, word_of
from spacy_structreg.pipeline.labeling.labeling_documents import (
    SPANS_KEY,
    known_tokens,
    spans_of_doc,
    stands_for_spans,
    value_of,
)


def make_labeling_scorer() -> Callable[..., dict[str, Any]]:
    """Make the scorer ``spacy_structreg.labeling_scorer.v1``."""
    return score_labeling


def score_labeling(
    examples: Iterable[Example],
    *,
    attribute: str = "ents",
    spans_key: str = SPANS_KEY,
    **kwargs: Any,
) -> dict[str, Any]:
    """Score what a sequence labeler writes, as fractions of 1.

    attribute, spans_key: as of the component. Of entities and spans: ``ents_p``, ``ents_r``,
    ``ents_f`` and ``ents_per_type``, under the keys of spaCy (`score_spans_of_docs`). Of anything
    else ``label_acc``, the share of words with the right label (`score_labels_of_docs`); None if
    words are not those of the reference.
    """
    pairs = [(example.reference, example.predicted) for example in examples]
    if stands_for_spans(attribute):
        scores = score_spans_of_docs(pairs, attribute, spans_key)
        return {**scores.as_dict(), "ents_per_type": scores.per_type()["ents_per_type"] or None}
    if any(gold_words(reference) != gold_words(predicted) for reference, predicted in pairs):
        return {"label_acc": None}
    return score_labels_of_docs(pairs, attribute).as_dict()


def score_spans_of_docs(
    pairs: Iterable[tuple[Doc, Doc]], attribute: str, spans_key: str = SPANS_KEY
) -> Scores:
    """Score the entities or spans of predicted Docs against those of their references.

    A span is right if a gold one has the same first and last character and the same label, whatever
    the words are; so tokens are characters here, without white space. References without any
    annotation of the kind or of another text do not count, nor do predicted spans that reach into
    tokens of which it is not known what they are in. Raises ValueError for gold spans that overlap.
    """
    scorer = SpanScorer()
    for reference, predicted in pairs:
        known = known_tokens(reference, attribute, spans_key)
        if not any(known) or gold_text(reference) != gold_text(predicted):
            continue
        bounds = _bounds(reference)
        unknown = {
            place
            for token, is_known in zip(reference, known, strict=True)
            if not is_known
            for place in range(bounds[token.i], bounds[token.i + 1])
        }
        gold = _by_characters(reference, attribute, spans_key)
        found = [
            (begin, end, label)
            for begin, end, label in _by_characters(predicted, attribute, spans_key)
            if unknown.isdisjoint(range(begin, end))
        ]
        # Of the gold spans, that they do not overlap; those that a pipe keeps may.
        labels_of(gold, bounds[-1])
        scorer.add_spans(gold, found, bounds[-1])
    return scorer.scores().without("label_acc")


def score_labels_of_docs(pairs: Iterable[tuple[Doc, Doc]], attribute: str) -> Scores:
    """Score an attribute of the tokens of predicted Docs against their references.

    Words whose gold label is not known do not count, nor does white space. Raises ValueError if the
    words are not those of the reference.
    """
    gold: list[list[str]] = []
    found: list[list[str]] = []
    for reference, predicted in pairs:
        values = zip(_values(reference, attribute), _values(predicted, attribute), strict=True)
        known = [(wanted, given or "") for wanted, given in values if wanted is not None]
        gold.append([wanted for wanted, _ in known])
        found.append([given for _, given in known])
    return score_labels(gold, found)


def gold_text(doc: Doc) -> str:
    """The characters of a Doc, without white space."""
    return "".join(gold_words(doc))


def _values(doc: Doc, attribute: str) -> list[str | None]:
    return [value_of(token, attribute) for token in visible_tokens(doc)]


def _bounds(doc: Doc) -> list[int]:
    """The first character of each token, white space left out; and the end."""
    return list(accumulate((len(word_of(token)) for token in doc), initial=0))


def _by_characters(doc: Doc, attribute: str, spans_key: str) -> list[tuple[int, int, str]]:
    bounds = _bounds(doc)
    return [
        (bounds[start], bounds[end], label)
        for start, end, label in spans_of_doc(doc, attribute, spans_key)
    ]
