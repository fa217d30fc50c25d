"""The pictures of Docs, as the API gives them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.pipeline.component import sentence_bounds
from spacy_structreg.pipeline.display import drawn_styles
from spacy_structreg.pipeline.documents import visible_tokens
from spacy_structreg.pipeline.task import TaskPart


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


def _first_tokens(doc: Doc, lengths: list[int]) -> Iterator[int]:
    """The first tokens of stretches of so many visible words."""
    places = [token.i for token in visible_tokens(doc)]
    at = 0
    for length in lengths:
        yield places[at] if at < len(places) else len(doc)
        at += length
