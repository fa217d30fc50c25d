"""Readers of spaCy's Docs, which give plain Python objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, Literal

from spacy.tokens import Doc, Token

from spacy_structreg.corpora.dependencies import ROOT, DependencySentence
from spacy_structreg.pipeline.component import sentence_bounds

if TYPE_CHECKING:
    from spacy_structreg.corpora.partial_annotation import PartialSentence

UNKNOWN_WORDS: Final = "unknown_words"
"""The span group of a gold Doc in which it is not known whether a word ends between two tokens."""

SPACE_TAG: Final = "_SP"
"""The tag of tokens that are white space, as in spaCy."""


def is_visible(token: Token) -> bool:
    """True if a token is more than white space: what is none is shown to no model."""
    return not token.text.isspace()


def visible_tokens(tokens: Iterable[Token]) -> list[Token]:
    """The tokens of a Doc, or of a part of it, that are no white space."""
    return [token for token in tokens if not token.text.isspace()]


def word_of(token: Token) -> str:
    """The text of a token without the white space in it."""
    return "".join(token.text.split())


def gold_words(doc: Doc) -> list[str]:
    """The words of a Doc, without white space around or in them; tokens of white space drop out.

    Raises ValueError if they are known in part alone.
    """
    if UNKNOWN_WORDS in doc.spans and unknown_stretches(doc):
        raise ValueError(
            f"the words of the gold Doc {doc.text!r:.60} are known in part, by its span group "
            f"{UNKNOWN_WORDS!r}, and only tokenizers can learn from such; leave the Doc out here"
        )
    return list(map(word_of, visible_tokens(doc)))


def unknown_stretches(doc: Doc) -> list[tuple[int, int]]:
    """Stretches of visible tokens of a gold Doc between which words may end, or not.

    First token and first token after, of two tokens at least: the spans of the group
    `UNKNOWN_WORDS`.
    """
    if UNKNOWN_WORDS not in doc.spans:
        return []
    before = list(accumulate((is_visible(token) for token in doc), initial=0))
    found = ((before[span.start], before[span.end]) for span in doc.spans[UNKNOWN_WORDS])
    return [(begin, end) for begin, end in found if end - begin > 1]


def partial_sentence(doc: Doc) -> PartialSentence | None:
    """A gold Doc as a partial sentence; None if nothing is missing.

    Words without a tag are missing theirs if others have one, or not all words are known.
    """
    pairs = tagged_words(doc)
    unknown = unknown_stretches(doc)
    n_tagged = sum(tag != "" for _, tag in pairs)
    if not unknown and n_tagged in (0, len(pairs)):
        return None
    # Which spaCy need not import whenever it makes a pipeline.
    from spacy_structreg.corpora.partial_annotation import PartialSentence

    return PartialSentence.of_words([word for word, _ in pairs], [tag for _, tag in pairs], unknown)


def tagged_words(doc: Doc, kind: Literal["tag", "pos"] = "tag") -> list[tuple[str, str]]:
    """The words of a Doc as `gold_words` gives them, with their tags; "" where there is none.

    kind: fine-grained tags, or universal ones.
    """
    tokens = visible_tokens(doc)
    return [(word_of(token), token.tag_ if kind == "tag" else token.pos_) for token in tokens]


def is_tagged_throughout(doc: Doc) -> bool:
    """True if all words of a Doc have fine-grained tags, of which there are some."""
    pairs = tagged_words(doc)
    return bool(pairs) and all(tag for _, tag in pairs)


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
    tokens = visible_tokens(doc)
    place = {token.i: number for number, token in enumerate(tokens)}
    if lengths is None:
        lengths = [len(visible_tokens(doc[start:end])) for start, end in sentence_bounds(doc)]
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
                words=tuple(map(word_of, chosen)),
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
        if is_visible(above):
            return above
        below = above
    return None
