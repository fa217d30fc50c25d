"""What is read off spaCy's Docs, in plain Python objects."""

from __future__ import annotations

from spacy.tokens import Doc


def gold_words(doc: Doc) -> list[str]:
    """The words of a Doc, without white space around or in them; tokens of white space drop out."""
    return [word for word in ("".join(token.text.split()) for token in doc) if word]


def tagged_words(doc: Doc) -> list[tuple[str, str]]:
    """The words of a Doc as `gold_words` gives them, with their tags; "" where there is none."""
    pairs = (("".join(token.text.split()), token.tag_) for token in doc)
    return [(word, tag) for word, tag in pairs if word]


def gold_pairs(doc: Doc) -> list[tuple[str, str]]:
    """As `tagged_words`. Raises ValueError if a word has no tag."""
    pairs = tagged_words(doc)
    for word, tag in pairs:
        if not tag:
            raise ValueError(
                f"the word {word!r:.40} of the gold Doc {doc.text!r:.60} has no tag, and the model "
                "of the tokenizer learns words with their tags; use a corpus that is tagged "
                "throughout, or a model of words alone"
            )
    return pairs
