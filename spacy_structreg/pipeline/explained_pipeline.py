"""Explanations of what the parts of a pipeline decide about a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spacy.language import Language

from spacy_structreg.pipeline.documents import visible_tokens
from spacy_structreg.pipeline.task import TOKENIZER, is_ours

if TYPE_CHECKING:
    from spacy_structreg.models.explanation import Explanation


def explaining_parts(nlp: Language) -> list[str]:
    """The names of the parts of a pipeline whose decisions can be explained; `TOKENIZER` first."""
    # spaCy's tokenizers have another `explain`.
    found = [TOKENIZER] if hasattr(nlp.tokenizer, "explain") and is_ours(nlp.tokenizer) else []
    return found + [
        name for name, pipe in nlp.pipeline if hasattr(pipe, "explain") and is_ours(pipe)
    ]


def part_of(nlp: Language, name: str) -> Any:
    """The pipe of a name, or the tokenizer."""
    return nlp.tokenizer if name == TOKENIZER else nlp.get_pipe(name)


def explaining_part(nlp: Language, component: str | None = None) -> str:
    """The name of the part that explains: a pipe, or `TOKENIZER`; None for the first that does.

    Raises ValueError if there is no such part, it has no model of ours, or that has not been
    trained.
    """
    able = explaining_parts(nlp)
    if not able:
        raise ValueError("no part of the pipeline has a model that could be explained")
    name = able[0] if component is None else component
    if name not in able:
        raise ValueError(
            f"the pipeline has no part {name!r} that could be explained; choose {', '.join(able)}"
        )
    if not part_of(nlp, name).estimator.is_trained:
        raise ValueError(f"the part {name!r} of the pipeline has not been trained")
    return name


def explain_text(
    nlp: Language, text: str, component: str | None = None
) -> tuple[str, Explanation, list[tuple[int, int]]]:
    """Explain the decisions of a part of a pipeline about a text.

    Returns the name of the part, the explanation, and where in the text the items stand that it
    speaks of (`Decision.item`): begins and ends, none if items are neither characters nor tokens.

    component: as of `explaining_part`. Pipes see what those before them make of the text.
    Raises ValueError for lone surrogates in the text, and as `explaining_part`.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text is no UTF-8 at offset {error.start}; give it in UTF-8"
        ) from error
    name = explaining_part(nlp, component)
    part = part_of(nlp, name)
    if name == TOKENIZER:
        characters = [(i, i + 1) for i, each in enumerate(text) if not each.isspace()]
        return name, part.explain(text), characters
    doc = nlp.make_doc(text)
    for other, pipe in nlp.pipeline:
        if other == name:
            break
        doc = pipe(doc)
    explained = part.explain(doc)
    tokens = [(token.idx, token.idx + len(token)) for token in visible_tokens(doc)]
    # That of a classifier speaks of whole texts.
    return name, explained, tokens if explained.n_items == len(tokens) else []
