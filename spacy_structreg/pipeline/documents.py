"""What is read off spaCy's Docs, in plain Python objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from spacy.tokens import Doc, Token

from spacy_structreg.corpora.dependencies import ROOT, DependencySentence
from spacy_structreg.pipeline.component import sentence_bounds


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


def category_of(doc: Doc) -> str | None:
    """The category of a gold Doc: that which has 1 in ``doc.cats``; None if none has.

    Raises ValueError for several of them, and for other values than 0 and 1.
    """
    found = [category for category, value in doc.cats.items() if value == 1]
    if len(found) > 1 or any(value not in (0, 1) for value in doc.cats.values()):
        raise ValueError(
            f"doc.cats of {doc.text!r:.60} is {doc.cats!r:.80}; give 1 to its one category and 0 "
            "to all others, or take spaCy's textcat_multilabel"
        )
    return found[0] if found else None


def dependency_sentences(
    doc: Doc, lengths: Iterable[int] | None = None, tags: Sequence[str] | None = None
) -> list[DependencySentence]:
    """The sentences of a Doc, with what it has of their trees.

    Words are those that `gold_words` gives. What hangs on white space hangs on its head. A head in
    another sentence counts as unknown, and so does a label that is missing.

    lengths: how many words each sentence has; None for the sentences that the Doc knows of.
    tags: of all tokens; None for ``token.tag_``.
    """
    tokens = [token for token in doc if not token.text.isspace()]
    place = {token.i: number for number, token in enumerate(tokens)}
    if lengths is None:
        lengths = [
            sum(not doc[i].text.isspace() for i in range(start, end))
            for start, end in sentence_bounds(doc)
        ]
    sentences = []
    for start, end in pairwise(accumulate(lengths, initial=0)):
        if start == end:
            continue
        chosen = tokens[start:end]
        heads: list[int | None] = []
        for token in chosen:
            head = head_of(token)
            at = None if head is None else place[head.i]
            if at is not None:
                at = ROOT if head == token else at - start if start <= at < end else None
            heads.append(at)
        sentences.append(
            DependencySentence(
                words=tuple("".join(token.text.split()) for token in chosen),
                tags=tuple(token.tag_ if tags is None else tags[token.i] for token in chosen),
                heads=tuple(heads),
                labels=tuple(token.dep_ or None for token in chosen),
            )
        )
    return sentences


def head_of(token: Token) -> Token | None:
    """The head of a word, itself if it is a root; None if the Doc has none of it.

    White space is passed over: what is above it is the head.
    """
    below = token
    # No more steps than there are tokens: damaged Docs have heads that go in a circle.
    for _ in token.doc:
        if not below.has_head():
            break
        above = below.head
        if above.i == below.i:
            return token
        if not above.text.isspace():
            return above
        below = above
    return None
