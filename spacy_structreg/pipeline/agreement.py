"""Sentences that several pipelines annotate alike, to be learned from without gold annotation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from spacy.tokens import Doc, Span, Token

__all__ = ["agreed_sentences", "sentences_of"]


def agreed_sentences(versions: Iterable[Sequence[Doc]]) -> Iterator[Doc]:
    """Yield the sentences of which all versions of a text say the same, each as a Doc.

    versions: of each text the Docs of several pipelines. Sentences are alike if they have the same
    characters, words, tags, heads, labels and entities. What is yielded is that of the first
    version. Raises ValueError, with the number of the text, for Docs of different texts.
    """
    for number, docs in enumerate(versions, start=1):
        first, *others = docs
        for other in others:
            if other.text != first.text:
                raise ValueError(
                    f"text {number} is {first.text[:20]!r} in one file and {other.text[:20]!r} in "
                    "another; annotate the same texts in the same order"
                )
        known = [{_annotation(sentence) for sentence in sentences_of(other)} for other in others]
        for sentence in sentences_of(first):
            annotation = _annotation(sentence)
            if all(annotation in of_other for of_other in known):
                yield sentence.as_doc()


def sentences_of(doc: Doc) -> Iterator[Span]:
    """Yield the sentences of a Doc; all of it where none are set."""
    if doc.has_annotation("SENT_START"):
        yield from doc.sents
    elif len(doc):
        yield doc[:]


def _annotation(sentence: Span) -> tuple[Hashable, ...]:
    def of_token(token: Token) -> Hashable:
        return (
            token.idx,
            token.text,
            token.tag,
            token.pos,
            token.head.idx,
            token.dep,
            token.ent_iob_ or "O",
            token.ent_type,
        )

    return tuple(map(of_token, sentence))
