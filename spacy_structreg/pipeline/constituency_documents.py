"""Constituents in spaCy's Docs: a span group, with the head words among its attributes.

The group holds the constituents of all sentences, those of each in pre-order, so that of several
over the same tokens the outermost stands first. ``attrs["heads"]`` has the token that is the head
of each. White space belongs to no constituent that it is not inside of.

Both are in ``Doc.to_bytes``, ``DocBin`` and ``Doc.copy``. ``Doc.to_json`` and ``Doc.from_docs``
drop what is among the attributes of a group, so the heads, and ``Span.as_doc`` the group.

A group that `write_phrases` has written follows ``Doc.retokenize`` (`Constituents`). spaCy makes
groups of its own of stored Docs, which do not; delete them before such Docs are retokenized.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final

# Not srsly's: that makes arrays of some mappings, and leaves Python's collector off after an error.
import msgpack
import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span, SpanGroup

from spacy_structreg.corpora.sentence import Phrase
from spacy_structreg.pipeline.component import sentence_bounds
from spacy_structreg.pipeline.documents import is_visible, visible_tokens, word_of

if TYPE_CHECKING:
    from spacy_structreg.corpora.constituents import ConstituencySentence

SPANS_KEY: Final = "constituents"
"""Default name of the span group of constituents."""
HEADS: Final = "heads"
"""Key, among the attributes of the span group, of the head words."""

_ATTRS: Final[Any] = SpanGroup.__dict__["attrs"]
_DOC: Final[Any] = SpanGroup.__dict__["doc"]
# A span as the bytes of a group have it: three ids, then tokens and characters.
_SPAN: Final = struct.Struct(">QQQllll")


class Constituents(SpanGroup):
    """A span group of constituents that follows its tokens when they are merged or split.

    spaCy leaves groups as they are then, so that spans lie elsewhere or beyond the Doc. A
    constituent is found again here by its characters. One that does not begin and end with a token
    any more is dropped, as is one inside of a token; a head is the token that its word is in.
    Spans from arrays are made when the group is first looked at: most texts are parsed for the
    sake of heads, or to be stored.
    """

    # Labels and places of spans that are not made yet.
    _unmade: tuple[NDArray[np.uint64], NDArray[np.int64]] | None = None

    def __init__(
        self, doc: Doc, *, characters: NDArray[np.int64] | None = None, **settings: Any
    ) -> None:
        # Begins and lengths of the tokens.
        self._characters = _columns(doc, "IDX", "LENGTH") if characters is None else characters
        super().__init__(doc, **settings)

    def add_later(self, labels: NDArray[np.uint64], places: NDArray[np.int64]) -> None:
        """Give a new group its constituents; arguments as of `write_constituents`."""
        self._unmade = labels, places

    @property
    def doc(self) -> Doc:
        """The Doc of the group."""
        # spaCy asks for it before it takes the spans of another group.
        self._make()
        doc: Doc = _DOC.__get__(self)
        return doc

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of the group, heads among them."""
        self._follow()
        attrs: dict[str, Any] = _ATTRS.__get__(self)
        return attrs

    @attrs.setter
    def attrs(self, attrs: dict[str, Any]) -> None:
        self._make()
        _ATTRS.__set__(self, attrs)

    def __len__(self) -> int:
        self._follow()
        return super().__len__()

    def __getitem__(self, i: int) -> Span:
        self._follow()
        return super().__getitem__(i)

    def __iter__(self) -> Iterator[Span]:
        # Once for all.
        self._follow()
        return map(super().__getitem__, range(super().__len__()))

    def __setitem__(self, i: int, span: Span) -> None:
        self._follow()
        super().__setitem__(i, span)  # type: ignore[misc]  # the stub leaves it out

    def __delitem__(self, i: int) -> None:
        self._follow()
        super().__delitem__(i)  # type: ignore[misc]  # the stub leaves it out

    def __iadd__(self, other: Any) -> Any:
        self._follow()
        return super().__iadd__(other)  # type: ignore[misc]  # the stub leaves it out

    def append(self, span: Span) -> None:
        """Add a span, which is one without a head."""
        self._follow()
        super().append(span)

    def extend(self, spans: Any) -> None:
        """Add the spans of a group or another iterable."""
        self._follow()
        super().extend(spans)

    def to_bytes(self) -> bytes:
        """The group as bytes."""
        self._follow()
        return super().to_bytes()

    def from_bytes(self, bytes_data: bytes) -> Constituents:
        """Replace the content of the group by that of bytes."""
        self._unmade = None
        super().from_bytes(bytes_data)
        return self

    def copy(self, doc: Doc | None = None) -> Constituents:
        """The group as one of another Doc of the same tokens; None for the same Doc."""
        spans = super().copy(doc)
        return Constituents(spans.doc, name=spans.name, attrs=spans.attrs, spans=list(spans))

    def _make(self) -> None:
        """Make the spans of arrays, by the tokens as they were then."""
        if self._unmade is None:
            return
        keys, places = self._unmade
        self._unmade = None
        labels = keys.tolist()
        attrs = {HEADS: places[:, 2].tolist()}
        tokens = places[:, :2].tolist()
        doc: Doc | None = self._doc_ref()  # type: ignore[attr-defined]  # the stub leaves it out
        if doc is not None and np.array_equal(_columns(doc, "IDX")[0], self._characters[0]):
            made = [
                Span(doc, begin, end, label=label)
                for label, (begin, end) in zip(labels, tokens, strict=True)
            ]
            super().__init__(doc, name=self.name, attrs=attrs, spans=made)
            return
        begins = self._characters[0, places[:, 0]].tolist()
        ends = self._characters.sum(axis=0)[places[:, 1] - 1].tolist()
        spans = [
            _SPAN.pack(0, 0, label, *of_tokens, begin, end)
            for label, of_tokens, begin, end in zip(labels, tokens, begins, ends, strict=True)
        ]
        self.from_bytes(msgpack.packb({"name": self.name, "attrs": attrs, "spans": spans}))

    def _follow(self) -> None:
        """Find all spans and heads again if the tokens of the Doc have changed."""
        self._make()
        doc: Doc | None = self._doc_ref()  # type: ignore[attr-defined]  # the stub leaves it out
        before = self._characters[0]
        if doc is None:
            # What needs a Doc says so.
            return
        self._characters = begins, lengths = _columns(doc, "IDX", "LENGTH")
        if np.array_equal(begins, before):
            return
        first = {begin: i for i, begin in enumerate(begins.tolist())}
        last = {end: i for i, end in enumerate((begins + lengths).tolist(), 1)}
        # What does not fit cannot be read in any other way.
        content = msgpack.unpackb(super().to_bytes())
        spans = content["spans"]
        heads = content["attrs"].pop(HEADS, ())
        if len(heads) != len(spans):
            heads = [None] * len(spans)
        moved = dict(enumerate((np.searchsorted(begins, before, "right") - 1).tolist()))
        kept = []
        for packed, head in zip(spans, heads, strict=True):
            *ids, _, _, start, end = _SPAN.unpack(packed)
            if start in first and end in last and first[start] < last[end]:
                kept.append((_SPAN.pack(*ids, first[start], last[end], start, end), head))
        content["spans"] = [packed for packed, _ in kept]
        if all(head in moved for _, head in kept):
            content["attrs"][HEADS] = [moved[head] for _, head in kept]
        self.from_bytes(msgpack.packb(content))


def _columns(doc: Doc, *attributes: str) -> NDArray[np.int64]:
    """Attributes of all tokens of a Doc, of shape (n_attributes, n_tokens)."""
    values: Any = doc.to_array(list(attributes))
    columns: NDArray[np.int64] = values.astype(np.int64).reshape(len(doc), len(attributes)).T
    return columns


def write_phrases(doc: Doc, phrases: Iterable[Phrase], key: str = SPANS_KEY) -> None:
    """Put constituents into the span group of a Doc, instead of those that are there.

    phrases: over tokens, in pre-order, sentence by sentence. Without all heads, none is kept.
    """
    phrases = list(phrases)
    heads = [phrase.head for phrase in phrases]
    spans = [Span(doc, each.begin, each.end, label=each.label) for each in phrases]
    attrs = {} if None in heads else {HEADS: heads}
    doc.spans[key] = Constituents(doc, name=key, attrs=attrs, spans=spans)


def write_constituents(
    doc: Doc,
    labels: NDArray[np.uint64],
    places: NDArray[np.int64],
    key: str = SPANS_KEY,
    characters: NDArray[np.int64] | None = None,
) -> None:
    """Put constituents into the span group of a Doc, as `write_phrases` does.

    labels: their hashes. places: of each its first token, the first after it, and its head, shape
    (n_constituents, 3). characters: begins and lengths of all tokens of the Doc, shape
    (2, n_tokens); None to ask it. The arrays are kept.
    """
    group = Constituents(doc, name=key, characters=characters)
    # First, because spaCy looks at a group that it is given.
    doc.spans[key] = group
    group.add_later(labels, places)


def read_phrases(doc: Doc, key: str = SPANS_KEY) -> list[Phrase] | None:
    """The constituents of a Doc over its visible words, which are counted from 0.

    Spans are taken in pre-order, whatever their order, and those of white space alone left out.
    None if there is no such group. Raises ValueError if the heads of a group are not those of its
    spans.
    """
    if key not in doc.spans:
        return None
    group = doc.spans[key]
    if not len(group):
        return []
    # How many visible words stand before each token, and before the end.
    before = list(accumulate(map(is_visible, doc), initial=0))
    heads: Sequence[object] = group.attrs.get(HEADS, [None] * len(group))
    if not isinstance(heads, (list, tuple)) or len(heads) != len(group):
        raise ValueError(
            f"the span group {key!r} of the Doc {doc.text!r:.60} has {len(group)} spans, and "
            f"attrs[{HEADS!r}] is {heads!r:.40}; give one head for each, or none at all"
        )
    phrases = []
    for span, head in zip(group, heads, strict=True):
        begin, end = before[span.start], before[span.end]
        if begin == end:
            continue
        word = None
        if head is not None:
            within = isinstance(head, int) and span.start <= head < span.end
            if not within or before[head] == before[head + 1]:
                raise ValueError(
                    f"the head of {span.label_} over {span.text!r:.40} in the span group {key!r} "
                    f"is {head!r}; it must be the index of a word between {span.start} and "
                    f"{span.end - 1}"
                )
            word = before[head]
        phrases.append(Phrase(span.label_, begin, end, word))
    # Stable: of several over the same words, the first stays the outermost.
    return sorted(phrases, key=lambda each: (each.begin, -each.end))


def constituency_sentences(
    doc: Doc,
    key: str = SPANS_KEY,
    *,
    tags: Sequence[str] | None = None,
    headed: bool = True,
) -> list[tuple[int, ConstituencySentence | None]]:
    """The number of visible words of each sentence of a Doc, and its tree; None if it has none.

    Sentences are those that the Doc knows of; if it knows of none, the trees are. Where the Doc has
    trees, a sentence of one word may be without a constituent.
    tags: of all tokens; None for ``token.tag_``. headed: whether heads are looked at; if not, the
    first word of each constituent stands for its head.
    Raises ValueError for constituents without head or label, for such as make no tree, and for
    those that go beyond a sentence.
    """
    from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent

    phrases = read_phrases(doc, key)
    visible = visible_tokens(doc)
    words = tuple(map(word_of, visible))
    chosen = tuple(token.tag_ if tags is None else tags[token.i] for token in visible)
    bounds = list(word_bounds(doc, phrases or []))
    if phrases is None:
        return [(end - begin, None) for begin, end in bounds]
    sentences: list[tuple[int, ConstituencySentence | None]] = []
    waiting = iter(phrases)
    phrase = next(waiting, None)
    for begin, end in bounds:
        inside: list[Constituent] = []
        while phrase is not None and phrase.begin < end:
            if phrase.end > end:
                raise ValueError(
                    f"{_shown(phrase, words)} goes beyond its sentence; correct the span group "
                    f"{key!r}, or the sentences"
                )
            head = phrase.head if headed else phrase.begin
            if head is None:
                raise ValueError(
                    f"{_shown(phrase, words)} has no head; give the index of the token in "
                    f"doc.spans[{key!r}].attrs[{HEADS!r}], as 'python -m spacy structreg convert "
                    "--head-rules' does"
                )
            inside.append(
                Constituent(phrase.label, phrase.begin - begin, phrase.end - begin, head - begin)
            )
            phrase = next(waiting, None)
        whole = inside[0].end - inside[0].begin == end - begin if inside else end - begin == 1
        tree = (
            ConstituencySentence(words[begin:end], chosen[begin:end], tuple(inside))
            if whole
            else None
        )
        sentences.append((end - begin, tree))
    return sentences


def word_bounds(doc: Doc, phrases: Sequence[Phrase]) -> Iterator[tuple[int, int]]:
    """The first visible word of each sentence, and the first after it.

    Sentences are those that the Doc knows of; if it knows of none, the trees of its `phrases`, and
    what lies between them.
    """
    ends = [0]
    if doc.has_annotation("SENT_START"):
        for start, stop in sentence_bounds(doc):
            ends.append(ends[-1] + len(visible_tokens(doc[start:stop])))
    else:
        # The outermost constituents, and what lies between them.
        for phrase in phrases:
            if phrase.begin >= ends[-1]:
                ends += [phrase.begin, phrase.end]
        ends.append(len(visible_tokens(doc)))
    yield from ((begin, end) for begin, end in pairwise(ends) if begin < end)


def _shown(phrase: Phrase, words: Sequence[str]) -> str:
    return f"{phrase.label} over {' '.join(words[phrase.begin : phrase.end])[:40]!r}"
