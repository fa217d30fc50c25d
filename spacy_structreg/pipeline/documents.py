"""Readers of spaCy's Docs, which give plain Python objects."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise, starmap
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from spacy.parts_of_speech import IDS  # type: ignore[import-not-found]  # has no stub
from spacy.strings import StringStore
from spacy.tokens import Doc, Token

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.pipeline.component import sentence_bounds

if TYPE_CHECKING:
    from spacy_structreg.corpora.partial_sentence import PartialSentence

UNKNOWN_WORDS: Final = "unknown_words"
"""The span group of a gold Doc in which it is not known whether a word ends between two tokens."""

SPACE_TAG: Final = "_SP"
"""The tag of tokens that are white space, as in spaCy."""

# So many strings are kept for the Docs to come.
_MOST_STRINGS: Final = 50_000


class AttributeReader:
    """Reads attributes of all tokens of Docs at once, and looks up each string once.

    change: is applied to each string. Threads may read side by side. A key is the hash of its
    string, which means the same to every vocabulary, also after the end of a memory zone.
    """

    def __init__(self, change: Callable[[str], str] = str) -> None:
        self._change = change
        self._known: dict[int, str] = {}

    def read(self, doc: Doc, attribute: str) -> list[str]:
        """The strings of an attribute, such as ``"ORTH"`` or ``"TAG"``, of each token of a Doc."""
        return self.strings([doc], doc.to_array(attribute).tolist())

    def read_all(self, docs: Sequence[Doc], attributes: list[int | str]) -> list[list[str]]:
        """Read several attributes of the tokens of all Docs, one Doc after the other."""
        arrays: list[Any] = [doc.to_array(attributes).ravel() for doc in docs]
        keys = np.concatenate([np.empty(0, np.uint64), *arrays])
        return [
            self.strings(docs, of_all) for of_all in keys.reshape(-1, len(attributes)).T.tolist()
        ]

    def strings(self, docs: Iterable[Doc], keys: list[int]) -> list[str]:
        """The strings of keys, each of which the vocabulary of one of the Docs has."""
        known = self._known
        try:
            return list(map(known.__getitem__, keys))
        except KeyError:
            pass
        if len(known) > _MOST_STRINGS:
            # Another thread may go on with the old ones.
            self._known = known = {}
        # The difference of sets would go through all that is known.
        new = {key for key in keys if key not in known}
        stores: dict[int, Any] = {id(doc.vocab): doc.vocab.strings for doc in docs}
        for strings in stores.values():
            known.update({key: self._change(strings[key]) for key in new if key in strings})
        return [known[key] for key in keys]


class TagWriter:
    """Writes an attribute of all tokens of Docs at once; to be used for one batch.

    Strings may last no longer than a memory zone, so each batch adds those that it writes.
    attribute: ``"TAG"`` or ``"POS"``. overwrite: also where there is a value.
    space: of white space that gets no other value.
    """

    def __init__(self, attribute: Literal["TAG", "POS"], space: str, *, overwrite: bool) -> None:
        self._attribute = attribute
        self._space = space
        self._overwrite = overwrite
        self._strings: StringStore | None = None
        self._keys: dict[str, int] = {}

    def write(self, doc: Doc, values: Sequence[str]) -> None:
        """Write a value for each token; ``""`` leaves it as it is.

        Raises KeyError for what is no universal tag, and ValueError if there are more or fewer
        values than tokens.
        """
        if self._strings is not doc.vocab.strings:
            self._strings = doc.vocab.strings
            self._keys = {"": 0}
        try:
            keys = [self._keys[value] for value in values]
        except KeyError:
            self._keys |= {value: self._key(value) for value in {*values} - self._keys.keys()}
            keys = [self._keys[value] for value in values]
        if not keys and not len(doc):
            return
        # Of all ways to an array of 64-bit numbers the fastest.
        column: Any = np.frombuffer(array("Q", keys), dtype=np.uint64)
        has_gaps = 0 in keys
        if has_gaps or (not self._overwrite and doc.has_annotation(self._attribute)):
            before = doc.to_array(self._attribute)
            if has_gaps:
                is_space = (column == 0) & (doc.to_array("IS_SPACE") != 0)
                if is_space.any():
                    column = np.where(is_space, np.uint64(self._key(self._space)), column)
            kept = (column == 0) | ((before != 0) & (not self._overwrite))
            column = np.where(kept, before, column)
        doc.from_array([self._attribute], column)

    def _key(self, value: str) -> int:
        assert self._strings is not None
        return int(self._strings.add(value) if self._attribute == "TAG" else IDS[value])


def is_visible(token: Token) -> bool:
    """True if a token is more than white space: what is none is shown to no model."""
    return not token.text.isspace()


def visible_tokens(tokens: Iterable[Token]) -> list[Token]:
    """The tokens of a Doc, or of a part of it, that are no white space."""
    return [token for token in tokens if not token.text.isspace()]


def visible_parts(words: Sequence[str], bounds: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The tokens of each part of a Doc that are no white space.

    words: all tokens. bounds: the first token of each part, and the first after it.
    """
    parts = list(starmap(range, bounds))
    if any(map(str.isspace, words)):
        return [[i for i in part if not words[i].isspace()] for part in parts]
    return list(map(list, parts))


def word_of(token: Token) -> str:
    """The text of a token without the white space in it."""
    return without_space(token.text)


def without_space(text: str) -> str:
    """A text without the white space in it."""
    return "".join(text.split())


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
    from spacy_structreg.corpora.partial_sentence import PartialSentence

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
                "of the tokenizer learns words with their tags; write them, as in 书_NN of "
                "segmented text, or choose a model of words alone"
            )
    return pairs


def gold_trees(doc: Doc, *, many_roots: bool = False) -> list[Sentence]:
    """The trees of the sentences of a gold Doc; many_roots: as one, with a root for each.

    Raises ValueError if no word has a head, or none has a tag.
    """
    words = gold_words(doc)
    trees = dependency_sentences(doc, [len(words)] if many_roots else None)
    for what, known in (
        ("head", any(head is not None for tree in trees for head in tree.heads)),
        ("tag", any(tag for tree in trees for tag in tree.tags)),
    ):
        if words and not known:
            raise ValueError(
                f"no word of the gold Doc {doc.text!r:.60} has a {what}, and the model of the "
                "tokenizer learns words, tags and trees; use a corpus of tagged dependency trees"
            )
    return trees


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
) -> list[Sentence]:
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
            Sentence(
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
