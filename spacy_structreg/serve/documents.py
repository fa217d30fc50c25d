"""Docs as the API gives them: JSON and CoNLL-U."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_structreg.pipeline.analyses import analyses_of
from spacy_structreg.pipeline.component import sentence_bounds
from spacy_structreg.pipeline.constituency_attributes import trees_in_brackets
from spacy_structreg.pipeline.display import drawn_styles
from spacy_structreg.pipeline.documents import visible_tokens
from spacy_structreg.pipeline.task import TaskPart

__all__ = ["conllu_of", "json_of", "pictures_of"]

# What a token may have besides its place, by the names in the API.
_STRINGS = {"tag": "tag_", "pos": "pos_", "morph": "morph", "lemma": "lemma_"}


def json_of(doc: Doc, constituents: str) -> dict[str, Any]:
    """A Doc as an object of JSON. constituents: the span group of its trees."""
    bounds = [each for each in sentence_bounds(doc) if each[0] < each[1]]
    found: dict[str, Any] = {
        "text": doc.text,
        "tokens": list(_tokens(doc)),
        "sentences": [{"start": start, "end": end} for start, end in bounds],
    }
    if constituents in doc.spans:
        _add_trees(doc, constituents, found["sentences"])
    if doc.has_annotation("ENT_IOB"):
        found["entities"] = [_labeled(span) for span in doc.ents]
    groups = {
        name: [_labeled(span) for span in group]
        for name, group in doc.spans.items()
        if name != constituents
    }
    if groups:
        found["spans"] = groups
    if doc.cats:
        found["categories"] = {name: float(score) for name, score in doc.cats.items()}
    return found | _analyses(doc)


def _tokens(doc: Doc) -> Iterator[dict[str, Any]]:
    strings = {
        name: attribute for name, attribute in _STRINGS.items() if doc.has_annotation(name.upper())
    }
    is_parsed = doc.has_annotation("DEP")
    for token in doc:
        of_token: dict[str, Any] = {"start": token.idx, "end": token.idx + len(token)}
        for name, attribute in strings.items():
            if value := str(getattr(token, attribute)):
                of_token[name] = value
        if is_parsed and token.has_head():
            of_token["dep"] = token.dep_
            of_token["head"] = token.head.i
        yield of_token


def _labeled(span: Span) -> dict[str, Any]:
    return {"label": span.label_, "start": span.start, "end": span.end}


def _add_trees(doc: Doc, key: str, sentences: list[dict[str, Any]]) -> None:
    """Add constituents, and trees in brackets, to sentences."""
    starts = [sentence["start"] for sentence in sentences]
    for sentence in sentences:
        sentence["constituents"] = []
    for span in doc.spans[key]:
        at = bisect_right(starts, span.start) - 1
        sentences[at]["constituents"].append(_labeled(span))
    try:
        trees = list(trees_in_brackets(doc, key))
    except ValueError:
        # The spans of another's pipe, which make no trees.
        return
    for start, brackets in trees:
        sentence = sentences[bisect_right(starts, start) - 1]
        before = sentence.get("brackets")
        sentence["brackets"] = brackets if before is None else f"{before} {brackets}"


def _first_tokens(doc: Doc, lengths: list[int]) -> Iterator[int]:
    """The first tokens of stretches of so many visible words."""
    places = [token.i for token in visible_tokens(doc)]
    at = 0
    for length in lengths:
        yield places[at] if at < len(places) else len(doc)
        at += length


def _analyses(doc: Doc) -> dict[str, Any]:
    """Alternatives, and probabilities or margins, as far as they were kept."""
    analyses = analyses_of(doc)
    found: dict[str, Any] = {}
    for kind, confidence in analyses.confidence.items():
        if kind == "boundaries":
            continue
        if confidence.probabilities is None:
            found.setdefault("margins", {})[kind] = _finite(confidence.margins)
        else:
            found.setdefault("confidence", {})[kind] = _finite(confidence.probabilities)
    if analyses.alternatives:
        found["alternatives"] = {
            kind: [[each._asdict() for each in of_sentence] for of_sentence in listed]
            for kind, listed in analyses.alternatives.items()
        }
    return found


def _finite(numbers: Any) -> list[float | None]:
    return [float(each) if np.isfinite(each) else None for each in numbers]


# Pictures ----------------------------------------------------------------------------------------


def pictures_of(doc: Doc, nlp: Language) -> list[dict[str, Any]]:
    """The pictures of the sentences of a Doc in all styles that they have, by sentences."""
    bounds = [each for each in sentence_bounds(doc) if each[0] < each[1]]
    starts = [start for start, _ in bounds]
    pictures = []
    for style, task in drawn_styles().items():
        names = task.parts(nlp)
        if not names:
            continue
        drawn = task.draw(doc, style, None, TaskPart(nlp, names[0]))
        firsts = _first_tokens(doc, [n_words for n_words, _ in drawn])
        pictures += [
            {
                "sentence": max(0, bisect_right(starts, first) - 1),
                "start": first,
                "style": style,
                "svg": svg,
            }
            for first, (_, svg) in zip(firsts, drawn, strict=True)
            if svg is not None
        ]
    return sorted(pictures, key=lambda each: each["sentence"])


# CoNLL-U -----------------------------------------------------------------------------------------


def conllu_of(doc: Doc) -> str:
    """The sentences of a Doc in CoNLL-U."""
    from spacy_structreg.corpora.formats.conllu import sentence_text, treebank_sentences
    from spacy_structreg.pipeline.gold_docs import sentence_of_doc

    tokens = visible_tokens(doc)
    if not tokens:
        return ""
    # Which spaCy makes anew whenever it is asked for.
    text = doc.text
    ends = [token.idx + len(token) for token in tokens]
    spaces = tuple(text[end : end + 1].isspace() for end in ends)
    sentence = replace(sentence_of_doc(doc), spaces=spaces)
    return "".join(sentence_text(each) for each in treebank_sentences(sentence))
