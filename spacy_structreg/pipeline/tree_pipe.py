"""Base class of the components that build trees over tagged words.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from spacy.attrs import (  # type: ignore[import-not-found]  # has no stub
    DEP,
    HEAD,
    IDS,
    ORTH,
    SENT_START,
)
from spacy.strings import get_string_id
from spacy.tokens import Doc, Token
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentences
from spacy_structreg.learn.setting_fields import setting
from spacy_structreg.pipeline.component import (
    EstimatorPipe,
    PipeSettings,
    aligned,
    logger,
    model_bounds,
    punctuation_bounds,
    sentence_bounds,
)
from spacy_structreg.pipeline.documents import AttributeReader, visible_tokens, without_space
from spacy_structreg.pipeline.noun_chunks import give_noun_chunks

Attribute: TypeAlias = Literal["tag", "pos"]

HEADS_AND_LABELS: Final[Any] = [HEAD, DEP]

# The labels of white space: of what hangs on the word before it, and where there are no words.
ROOT_LABEL: Final = "ROOT"


class TreeTokens(NamedTuple):
    """The tokens of several Docs, one after the other, and the parts of them that get a tree each.

    words: without the white space in them. tags: of them. columns: the attributes that were asked
    for, of each token, shape (n_attributes, n_tokens). docs: the first token of each Doc, and the
    number of all. parts: the first token of each part, and the first after it, shape (n_parts, 2).
    of_docs: how many parts lie before each Doc, and how many there are. blanks: for each token,
    whether it is white space; None if none is.
    """

    words: list[str]
    tags: list[str]
    columns: NDArray[np.uint64]
    docs: NDArray[np.int64]
    parts: NDArray[np.int64]
    of_docs: NDArray[np.int64]
    blanks: NDArray[np.bool_] | None

    def per_doc(self, array: Any) -> list[Any]:
        """The items of each Doc of an array whose last axis are all tokens."""
        return [array[..., start:end] for start, end in pairwise(self.docs.tolist())]


class TreePipeSettings(PipeSettings):
    """Settings of components that build trees."""

    attribute: Attribute = setting(
        "tag",
        'Which tags of words the parser looks at: "tag", those of the corpus, or "pos", its '
        "universal tags.",
    )
    sentences: Sentences = setting(
        "doc",
        'What gets a tree of its own: "doc", each sentence that the Doc knows of, or all of it if '
        'it knows of none; "punctuation", these cut by punctuation and at line breaks; "wrapped", '
        "within paragraphs not at these.",
    )
    overwrite: bool | Literal["labels"] = setting(
        True,
        "Whether what is parsed already is parsed anew; false keeps what is there, and finds the "
        "rest to fit it.",
    )


class TreePipe(EstimatorPipe):
    """A component that gives each sentence a tree, by its words and their tags.

    A subclass says what of a tree holds tokens of a Doc together (`_held`) and what gold trees are
    (`_gold_sentences`).

    Parameters and errors are those of `EstimatorPipe`.
    """

    SETTINGS: ClassVar[type[TreePipeSettings]] = TreePipeSettings

    settings: TreePipeSettings

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._give_noun_chunks(self.vocab)
        # Without white space within words, as in training.
        self._texts = AttributeReader(lambda text: without_space(text) or text)
        self._tags = AttributeReader()
        # The store of strings to which these were added.
        self._added: tuple[Any, tuple[str, ...]] = None, ()

    # Prediction ----------------------------------------------------------------------------------

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Any]) -> None:
        """Write the predictions for each Doc, which has noun chunks then; see `EstimatorPipe`."""
        docs = list(docs)
        super().set_annotations(docs, scores)
        for doc in docs:
            # Of another pipeline, if that has this pipe from elsewhere.
            self._give_noun_chunks(doc)

    def _give_noun_chunks(self, of: Vocab | Doc) -> None:
        give_noun_chunks(of, getattr(self.settings, "spans_key", None))

    @abstractmethod
    def _held(self, doc: Doc) -> Iterator[tuple[int, int]]:
        """First and last token of what the trees that a Doc has hold together."""

    def _spans(self, doc: Doc) -> Iterable[tuple[int, int]]:
        """The first token of each part of a Doc that gets a tree, and the first after it."""
        if self.settings.sentences == "doc":
            return model_bounds(doc)
        held = None if self.settings.overwrite is True else _inside(self._held(doc), len(doc))
        wrapped = self.settings.sentences == "wrapped"
        return punctuation_bounds(doc, sentence_bounds(doc), held, wrapped=wrapped)

    def _check_docs(self, docs: list[Doc]) -> None:
        super()._check_docs(docs)
        self._check.tags(docs, self.estimator.word_counts, self.settings.attribute)

    def _words_and_tags(self, doc: Doc) -> tuple[list[str], list[str]]:
        """All tokens of a Doc, without the white space in words, and their tags."""
        return self._texts.read(doc, "ORTH"), self._tags.read(doc, self.settings.attribute.upper())

    def _read(self, docs: Sequence[Doc], *attributes: str) -> TreeTokens:
        """Read all tokens of Docs, each Doc once. attributes: others that are asked for."""
        ids = [ORTH, IDS[self.settings.attribute.upper()], SENT_START]
        ids += [IDS[name] for name in attributes]
        arrays: list[Any] = [doc.to_array(ids) for doc in docs]
        columns = np.concatenate([np.empty((0, len(ids)), np.uint64), *arrays]).T
        first = np.cumsum([0, *map(len, arrays)])
        words = self._texts.strings(docs, columns[0].tolist())
        is_blank = list(map(str.isspace, words))
        parts = self._parts(docs, first, columns[2])
        return TreeTokens(
            words,
            self._tags.strings(docs, columns[1].tolist()),
            columns[3:],
            first,
            parts,
            np.searchsorted(parts[:, 0], first),
            np.array(is_blank) if any(is_blank) else None,
        )

    def _parts(
        self, docs: Sequence[Doc], first: NDArray[np.int64], starts: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """The parts of Docs, as of `TreeTokens`. starts: the values of ``SENT_START``."""
        # It is compiled, and no pipeline but ours is to need what is.
        from spacy_structreg.corpora.sentences import LONGEST

        if self.settings.sentences == "doc" and not any("sents" in doc.user_hooks for doc in docs):
            # The end is one as well.
            is_start = np.append(starts == 1, True)
            is_start[first] = True
            places = np.flatnonzero(is_start)
            parts = np.stack([places[:-1], places[1:]], axis=1)
            if (parts[:, 1] - parts[:, 0] <= LONGEST).all():
                return parts
        bounds = [
            (at + start, at + end)
            for doc, at in zip(docs, first.tolist(), strict=False)
            for start, end in self._spans(doc)
        ]
        return np.array(bounds, np.int64).reshape(-1, 2)

    def _add(self, doc: Doc, labels: tuple[str, ...]) -> None:
        """Add labels to the vocabulary of a Doc, where they stay when a memory zone ends."""
        strings: Any = doc.vocab.strings
        if self._added[0] is not strings or self._added[1] is not labels:
            for label in labels:
                strings.add(label, allow_transient=False)
            self._added = strings, labels

    def _tag(self, token: Token) -> str:
        return str(token.tag_ if self.settings.attribute == "tag" else token.pos_)

    # Training ------------------------------------------------------------------------------------

    @abstractmethod
    def _gold_sentences(self, doc: Doc, tags: Sequence[str]) -> Iterable[tuple[int, Any]]:
        """The number of words of each sentence of a reference, white space not counted; its tree.

        tags: of all tokens. A tree is None if there is nothing to learn from.
        """

    def gold(self, example: Example) -> tuple[list[Any], int]:
        """The gold sentences that have trees and are of predicted words; how many others there are.

        Tags are those of the predicted side.
        """
        doc, tags = example.reference, self._seen(example)
        visible = [tags[token.i] for token in visible_tokens(doc)]
        kept: list[Any] = []
        n_others = start = 0
        for n_words, sentence in self._gold_sentences(doc, [tag or "" for tag in tags]):
            if sentence is None or None in visible[start : start + n_words]:
                n_others += 1
            else:
                kept.append(sentence)
            start += n_words
        return kept, n_others

    def _seen(self, example: Example) -> tuple[str | None, ...]:
        """For each token of the reference, the tag of the predicted one; None if there is none."""
        return tuple(aligned(example, list(map(self._tag, example.predicted))))

    def _prepare(self, gold: list[Any], labels: Iterable[str]) -> None:
        if gold and not any(tag for sentence in gold for tag in sentence.tags):
            logger.warning(
                "%s: no word of the training corpus has a tag to be looked at (attribute = %r); "
                'set gold = ["words", "tags"] of its reader, or name a tagger in '
                "annotating_components",
                self.name,
                self.settings.attribute,
            )
        super()._prepare(gold, labels)


def write_heads(doc: Doc, heads: ArrayLike, labels: Sequence[str]) -> None:
    """Set head and label of each token, and with them the starts of sentences.

    heads: indices of tokens, `ROOT` for a root.
    """
    add = doc.vocab.strings.add
    keys = {label: add(label) for label in set(labels)}
    above = np.asarray(heads, dtype=np.int64)
    values = head_columns(above, np.array([keys[label] for label in labels], np.uint64))
    doc.from_array(HEADS_AND_LABELS, values.T)


def head_columns(heads: NDArray[np.int64], labels: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The values of `HEADS_AND_LABELS` of each token, shape (2, n_tokens).

    heads: indices of tokens, `ROOT` for a root. labels: their hashes.
    """
    # Transposed, as spaCy reads it; heads relative to the token, in two's complement.
    columns = np.empty((2, len(heads)), dtype=np.uint64)
    columns[0] = np.where(heads == ROOT, 0, heads - np.arange(len(heads))).view(np.uint64)
    columns[1] = labels
    return columns


def hashes(labels: Iterable[str]) -> NDArray[np.uint64]:
    """The hashes of labels, which mean the same to every vocabulary."""
    return np.array([get_string_id(label) for label in labels], dtype=np.uint64)


def _inside(held: Iterable[tuple[int, int]], n_tokens: int) -> list[bool]:
    """For the place before each token, and that before the end: True inside what is held."""
    opened = [0] * (n_tokens + 1)
    for first, last in held:
        if first < last:
            opened[first + 1] += 1
            opened[last + 1] -= 1
    return [n_open > 0 for n_open in accumulate(opened)]
