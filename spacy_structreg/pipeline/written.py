"""The annotation that a pipeline writes, by what its parts say of themselves."""

from __future__ import annotations

from typing import Any, Final

from spacy.attrs import IDS  # type: ignore[import-not-found]  # has no stub
from spacy.language import Language
from spacy.pipeline import AttributeRuler

from spacy_structreg.pipeline.constituency_documents import SPANS_KEY
from spacy_structreg.pipeline.task import TOKENIZER, TaskPart, pipes_writing, stem_of

ATTRIBUTES: Final = {
    "tags": "tag",
    "pos": "pos",
    "lemmas": "lemma",
    "morphs": "morph",
    "relations": "dep",
}
"""The attributes of tokens that are strings, by the names of `written_annotation`."""


def written_annotation(nlp: Language) -> set[str]:
    """The names of what the pipes and the tokenizer of a pipeline write, besides words.

    Of ``tags``, ``pos``, ``lemmas``, ``morphs``, ``heads``, ``relations``, ``sentences``,
    ``constituents``, ``entities``, ``spans`` (of other groups) and ``categories``.
    """
    return set().union(*(written_by(nlp, name) for name in (TOKENIZER, *nlp.pipe_names)))


def written_by(nlp: Language, name: str) -> set[str]:
    """The names of what a pipe, or `TOKENIZER`, writes, besides words; as `written_annotation`."""
    if name == TOKENIZER:
        pos = {"pos"} if getattr(nlp.tokenizer, "tag_map", None) else set()
        return {*getattr(nlp.tokenizer, "WRITES", ()), *pos}
    names = {
        each for each, attribute in ATTRIBUTES.items() if name in pipes_writing(nlp, attribute)
    }
    # Of a pipe that may find trees, and does not.
    names -= {"relations"}
    return names | _written(nlp.get_pipe(name), set(nlp.get_pipe_meta(name).assigns))


def constituents_key(nlp: Language) -> str:
    """The span group that a pipeline writes constituents into; the usual one if it writes none."""
    key = SPANS_KEY
    for name, pipe in nlp.pipeline:
        if _finds_constituents(pipe):
            key = TaskPart(nlp, name).setting("spans_key", key)
    return key


def _written(pipe: Any, assigned: set[str]) -> set[str]:
    """The annotation that a pipe writes, without that which `pipes_writing` knows of.

    assigned: what its factory says.
    """
    names = set()
    # What a pipe of ours writes of all that it might; others have no choice.
    chosen = getattr(pipe, "attribute", None)
    if _finds_constituents(pipe):
        names.add("constituents")
        if pipe.dependencies is None:
            assigned = assigned - {"token.head"}
    elif "doc.spans" in assigned and chosen in (None, "spans"):
        names.add("spans")
    if assigned & {"token.is_sent_start", "doc.sents"}:
        names.add("sentences")
    if "token.head" in assigned:
        names |= {"heads", "relations"}
    if "doc.ents" in assigned and chosen in (None, "ents"):
        names.add("entities")
    if "doc.cats" in assigned:
        names.add("categories")
    if chosen == "dep":
        names.add("relations")
    if isinstance(pipe, AttributeRuler):
        # It declares nothing; its patterns do.
        set_by_it = {each for attributes in pipe.attrs for each in attributes}
        for name, attribute in ATTRIBUTES.items():
            if {attribute.upper(), IDS[attribute.upper()]} & set_by_it:
                names.add(name)
    return names


def _finds_constituents(pipe: Any) -> bool:
    return stem_of(pipe) == "constituents"
