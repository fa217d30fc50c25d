"""Extension attributes that lead through the trees of a Doc, with the names that benepar gave them.

They read the span group (`constituency_documents`) at each call, and keep nothing. A node is a span
that one or several constituents cover exactly, or a word. spaCy imports this module whenever any
pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from spacy.tokens import Doc, Span, SpanGroup, Token

from spacy_structreg.pipeline.constituency_documents import SPANS_KEY

_NOTHING: Final = "_"


def register_attributes(prefix: str = "", spans_key: str = SPANS_KEY) -> None:
    """Register the attributes on Doc, Span and Token; once more does nothing.

    The component ``structreg_constituency`` does so when it is made. Call it for Docs that come
    from elsewhere, a DocBin for example.

    On Span and Token: ``labels``, of the constituents over exactly this span, the outermost first
    (none for most words); ``constituents``, the nodes from this one on in pre-order; ``children``;
    ``parent``, None above a tree; ``parse_string``, the tree in bracket notation with the tags of
    its words, those without one having ``_``. On Doc: ``constituents``, of all its trees. White
    space at the ends of a span does not count, and is no node: alone it has no labels, children,
    constituents or parent, and an empty string. All raise ValueError for a Doc without trees, and
    for a span of words that is no node.

    prefix: of the names. spans_key: of the span group. Raises ValueError if there are other
    attributes of these names, those for another span group included.
    """
    for kind, names in (
        (Doc, ("constituents",)),
        (Span, ("labels", "constituents", "children", "parent", "parse_string")),
        (Token, ("labels", "constituents", "children", "parent", "parse_string")),
    ):
        for name in names:
            getter, known = _Getter(name, spans_key), f"{prefix}{name}"
            if not kind.has_extension(known):
                kind.set_extension(known, getter=getter, setter=_refuse)
            elif kind.get_extension(known)[2] != getter:
                raise ValueError(
                    f"{kind.__name__}._.{known} is taken by another extension, or for another span "
                    "group; set extension_prefix of the component, such as 'tree_', or give "
                    "register_attributes a prefix"
                )


def trees_in_brackets(doc: Doc, spans_key: str = SPANS_KEY) -> Iterator[tuple[int, str]]:
    """Yield the first token of each tree of a Doc, and the tree in brackets (`parse_string`).

    Raises ValueError if the spans of the group are out of order or overlap.
    """
    trees = _Trees(doc, doc.spans[spans_key])
    end = 0
    for span in doc.spans[spans_key]:
        if span.start >= end:
            end = span.end
            yield span.start, trees.parse_string(trees.node(span.start, end))


@dataclass(frozen=True)
class _Getter:
    """The getter of an attribute; equal for equal settings, also in another process."""

    name: str
    spans_key: str

    def __call__(self, of: Doc | Span | Token) -> Any:
        if self.spans_key not in of.doc.spans:
            raise ValueError(
                f"the Doc has no constituents under doc.spans[{self.spans_key!r}]; add the pipe "
                "structreg_constituency, trained, to the pipeline"
            )
        trees = _Trees(of.doc, of.doc.spans[self.spans_key])
        if isinstance(of, Doc):
            return trees.nodes(0, len(of), 0)
        start, end = (of.i, of.i + 1) if isinstance(of, Token) else (of.start, of.end)
        node = trees.node(start, end)
        found: Callable[[_Node], Any] = getattr(trees, self.name)
        return found(node)


def _refuse(of: Doc | Span | Token, value: object) -> None:
    raise AttributeError(
        "the attributes of constituents are read from doc.spans, and cannot be set"
    )


@dataclass(frozen=True)
class _Node:
    """Tokens from `begin` to before `end`, and where their constituents stand in the group."""

    begin: int
    end: int
    first: int
    last: int


class _Trees:
    """The trees of a Doc, as its span group has them: in pre-order, so that places are searched."""

    def __init__(self, doc: Doc, group: SpanGroup) -> None:
        self._doc = doc
        self._n = len(group)
        # A group of ours would look at all tokens for each span.
        self._span = partial(SpanGroup.__getitem__, group)

    def node(self, start: int, end: int) -> _Node:
        """The node over the words of a span, an empty one if there are none.

        Raises ValueError for words that are no node.
        """
        begin, stop = start, end
        while begin < stop and self._doc[begin].text.isspace():
            begin += 1
        while begin < stop and self._doc[stop - 1].text.isspace():
            stop -= 1
        if begin == stop:
            return _Node(begin, begin, 0, 0)
        first = last = self._place(begin, stop)
        while last < self._n:
            span = self._span(last)
            if (span.start, span.end) != (begin, stop):
                break
            last += 1
        if first == last and stop - begin != 1:
            self._check_order()
            if self._are_trees(begin, stop):
                raise ValueError(
                    f"{self._doc[start:end].text!r:.60} is no constituent, but several trees; take "
                    "the spans of doc._.constituents whose parent is None. If it is one sentence "
                    "of the Doc, the pipe has cut it at punctuation: with sentences = 'doc', the "
                    "pipe gives it one tree"
                )
            raise ValueError(
                f"{self._doc[start:end].text!r:.60} is no constituent; begin with a sentence or a "
                "word, and go on by constituents, children and parent"
            )
        return _Node(begin, stop, first, last)

    def _are_trees(self, begin: int, stop: int) -> bool:
        """True if there are constituents among these tokens, and none goes beyond them."""
        inside = [
            span
            for span in map(self._span, range(self._n))
            if span.start < stop and span.end > begin
        ]
        return bool(inside) and all(begin <= span.start and span.end <= stop for span in inside)

    def labels(self, node: _Node) -> tuple[str, ...]:
        return tuple(self._span(i).label_ for i in range(node.first, node.last))

    def constituents(self, node: _Node) -> Iterator[Span]:
        return self.nodes(node.begin, node.end, node.first)

    def nodes(self, begin: int, end: int, first: int) -> Iterator[Span]:
        """The nodes from one token to before another, in pre-order.

        first: where the first constituent stands that begins there.
        """
        at = first
        # Where the constituents that are open end, the innermost last.
        ends = [end]
        for i in range(begin, end):
            while len(ends) > 1 and ends[-1] <= i:
                ends.pop()
            stop = 0
            while at < self._n and (span := self._span(at)).start <= i:
                if span.start < i or span.end > ends[-1]:
                    raise self._not_nested(span)
                if span.end != stop:
                    stop = span.end
                    ends.append(stop)
                    yield self._doc[i:stop]
                at += 1
            if stop != i + 1 and not self._doc[i].text.isspace():
                yield self._doc[i : i + 1]

    def children(self, node: _Node) -> Iterator[Span]:
        i, at = node.begin, node.last
        if node.end - i <= 1:
            return
        while i < node.end:
            if at < self._n and (span := self._span(at)).start <= i:
                if span.start < i or span.end > node.end:
                    raise self._not_nested(span)
                yield self._doc[i : span.end]
                i = span.end
                at = self._place(i, len(self._doc))
            else:
                if not self._doc[i].text.isspace():
                    yield self._doc[i : i + 1]
                i += 1

    def parent(self, node: _Node) -> Span | None:
        for at in reversed(range(node.first)):
            span = self._span(at)
            if span.end >= node.end:
                if span.start > node.begin:
                    raise self._not_nested(span)
                return self._doc[span.start : span.end]
        return None

    def parse_string(self, node: _Node) -> str:
        parts: list[str] = []
        opened: list[str] = []
        ends = [node.end]
        at = node.first
        for i in range(node.begin, node.end):
            while ends[-1] <= i:
                ends.pop()
                parts.append(")")
            token = self._doc[i]
            while at < self._n and (span := self._span(at)).start <= i:
                if span.start < i or span.end > ends[-1]:
                    raise self._not_nested(span)
                ends.append(span.end)
                opened.append(f"({_escaped(span.label_) or _NOTHING} ")
                at += 1
            if token.text.isspace():
                continue
            tag = _escaped(token.tag_ or token.pos_) or _NOTHING
            if parts:
                parts.append(" ")
            parts += [*opened, f"({tag} {_escaped(token.text)})"]
            opened.clear()
        return "".join(parts) + ")" * (len(ends) - 1)

    def _place(self, start: int, end: int) -> int:
        """The place of the first constituent from `start` to before `end`, or where it would be."""

        def key(at: int) -> tuple[int, int]:
            span = self._span(at)
            return span.start, -span.end

        return bisect_left(range(self._n), (start, -end), key=key)

    def _check_order(self) -> None:
        before = (-1, 0)
        for span in map(self._span, range(self._n)):
            if (span.start, -span.end) < before:
                raise self._not_nested(span)
            before = span.start, -span.end

    def _not_nested(self, span: Span) -> ValueError:
        return ValueError(
            f"{span.label_} over {span.text!r:.40} is out of order among the constituents, or "
            "overlaps with another; they must stand in pre-order, sentence by sentence"
        )


def _escaped(text: str) -> str:
    """A word or label as bracket notation can hold it: without white space and brackets."""
    from spacy_structreg.corpora.trees import escaped_word

    return escaped_word("".join(text.split()))
