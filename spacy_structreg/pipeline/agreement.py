"""Sentences that several pipelines annotate alike, to be learned from without gold annotation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat, takewhile, zip_longest
from operator import attrgetter, ne
from typing import NamedTuple, TypeAlias

from spacy.tokens import Doc, Span, SpanGroup, Token

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.pipeline.component import sentence_bounds
from spacy_structreg.pipeline.constituency_documents import HEADS
from spacy_structreg.pipeline.gold_docs import doc_of_sentence


class GroupedSpan(NamedTuple):
    """A span of a sentence, with tokens counted from its first one.

    group: the name of its span group; "" for entities. head: of a constituent; None if unknown.
    """

    group: str
    begin: int
    end: int
    label: str
    head: int | None


Annotation: TypeAlias = tuple[tuple[Hashable, ...], tuple[GroupedSpan, ...]]
"""The annotation of the tokens of a sentence, and its spans, group by group."""


def texts_of_all(inputs: Sequence[Iterable[Doc]]) -> Iterator[tuple[Doc, ...]]:
    """Yield the Docs of each text that all inputs have.

    inputs: of each pipeline the Docs of the same texts in the same order. Where `annotate` has kept
    from which record of which file a Doc is, a text may be missing from some of them. Raises
    ValueError for other Docs if one input has more than another.
    """
    waiting: list[dict[Hashable, Doc]] = [{} for _ in inputs]
    for number, docs in enumerate(zip_longest(*inputs), start=1):
        keys: list[Hashable] = []
        for known, doc in zip(waiting, docs, strict=True):
            if doc is not None:
                keys.append(_record(doc) or number)
                known[keys[-1]] = doc
        if None in docs and number in keys:
            raise ValueError(
                f"the inputs have different numbers of texts: one ends before text {number:,}"
            )
        for key in keys:
            if all(key in known for known in waiting):
                yield tuple(known[key] for known in waiting)
                # What stands before it in one input, and is not in all, never will be.
                for known in waiting:
                    passed = [*takewhile(partial(ne, key), known), key]
                    for each in passed:
                        del known[each]


def _record(doc: Doc) -> tuple[str, str] | None:
    """The file and the record that `annotate` has read a Doc from; None if that is not known."""
    if "record" not in doc.user_data:
        return None
    # Whatever a file says they are.
    return str(doc.user_data.get("file")), str(doc.user_data["record"])


def agreed_sentences(versions: Sequence[Doc]) -> tuple[list[Doc], int]:
    """The sentences of a text of which all versions say the same, each as a Doc.

    versions: the Docs of several pipelines. Sentences are alike if they have the same characters,
    words, tags, heads, labels, entities and spans, and none of these goes beyond its sentence.
    Sentences of nothing but white space are left out. Returned with the number of all sentences of
    the first version. Raises ValueError for Docs of different texts.
    """
    first, *others = versions
    for other in others:
        if other.text != first.text:
            raise ValueError(
                f"a text is {first.text[:20]!r} in one input and {other.text[:20]!r} in another; "
                "annotate the same texts in the same order"
            )
    known = [set(_annotations(other)) for other in others]
    found = _annotations(first)
    has = {name: first.has_annotation(name) for name in ("DEP", "ENT_IOB")}
    kept = [
        _doc_of(first[begin:end], spans, has_heads=has["DEP"], has_entities=has["ENT_IOB"])
        for (tokens, spans), (begin, end) in found.items()
        if all((tokens, spans) in of_other for of_other in known)
    ]
    return kept, sum(1 for _ in sentence_bounds(first))


def _annotations(doc: Doc) -> dict[Annotation, tuple[int, int]]:
    """The annotation of each whole sentence of a Doc: its bounds, by its tokens and spans."""
    bounds = [*sentence_bounds(doc)]
    tokens = [*map(_annotation, doc)]
    begins = [begin for begin, _ in bounds]
    spans: list[list[GroupedSpan]] = [[] for _ in bounds]
    broken = set[int]()
    for group, span, head in _grouped_spans(doc):
        place = bisect_right(begins, span.start) - 1
        begin, end = bounds[place]
        inner = None if head is None else head - begin
        found_span = GroupedSpan(group, span.start - begin, span.end - begin, span.label_, inner)
        spans[place].append(found_span)
        if span.end > end:
            broken.update(range(place, bisect_right(begins, span.end - 1)))
    found: dict[Annotation, tuple[int, int]] = {}
    for place, (begin, end) in enumerate(bounds):
        is_whole = all(begin <= token.head.i < end for token in doc[begin:end])
        if place not in broken and is_whole and doc[begin:end].text.strip():
            # Within a group, of constituents over the same tokens the outermost comes first.
            grouped = sorted(spans[place], key=attrgetter("group"))
            found[tuple(tokens[begin:end]), tuple(grouped)] = begin, end
    return found


def _annotation(token: Token) -> Hashable:
    head = token.head.idx
    return token.idx, token.text, token.tag_, token.pos_, head, token.dep_, token.ent_iob_ or "O"


def _grouped_spans(doc: Doc) -> Iterator[tuple[str, Span, int | None]]:
    """Yield entities and the spans of all groups, with the token that is the head, if known."""
    yield from (("", entity, None) for entity in doc.ents)
    for name, group in doc.spans.items():
        heads = group.attrs.get(HEADS)
        is_headed = isinstance(heads, (list, tuple)) and len(heads) == len(group)
        for span, head in zip(group, heads if is_headed else repeat(None), strict=False):
            yield name, span, head if isinstance(head, int) else None


def _doc_of(
    sentence: Span, spans: Iterable[GroupedSpan], *, has_heads: bool, has_entities: bool
) -> Doc:
    """A sentence as a Doc of its own, with what `save_docs` writes."""
    begin = sentence.start
    heads = tuple(ROOT if token.head == token else token.head.i - begin for token in sentence)
    groups: dict[str, list[GroupedSpan]] = {}
    for span in spans:
        groups.setdefault(span.group, []).append(span)
    entities = [(each.begin, each.end, each.label) for each in groups.pop("", [])]
    made = doc_of_sentence(
        sentence.doc.vocab,
        Sentence(
            words=tuple(token.text for token in sentence),
            tags=tuple(token.tag_ for token in sentence),
            heads=heads if has_heads else (),
            labels=tuple(token.dep_ for token in sentence) if has_heads else (),
            pos=tuple(token.pos_ for token in sentence),
            spaces=tuple(bool(token.whitespace_) for token in sentence),
            entities=entities if has_entities else None,
        ),
    )
    for name, group in groups.items():
        inner = [Span(made, each.begin, each.end, label=each.label) for each in group]
        heads_of = [each.head for each in group]
        attrs = {} if None in heads_of else {HEADS: heads_of}
        made.spans[name] = SpanGroup(made, name=name, attrs=attrs, spans=inner)
    return made
