"""What is read off spaCy's Docs, in plain Python objects."""

from __future__ import annotations

from spacy.tokens import Doc


def gold_words(doc: Doc) -> list[str]:
    """The words of a Doc, without white space around or in them; tokens of white space drop out."""
    return [word for word in ("".join(token.text.split()) for token in doc) if word]
