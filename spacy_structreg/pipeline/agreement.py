"""Sentences that several pipelines annotate alike, to be learned from without gold annotation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import takewhile, zip_longest
from operator import ne

from spacy.tokens import Doc, Span, Token

from spacy_structreg.pipeline.component import sentence_bounds

__all__ = ["agreed_sentences", "texts_of_all"]

NamedSpan = tuple[str, int, int, str]
"""Group, "" for entities; first token in the sentence, and the one after the last; label."""


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
    layers = {name for name in ("DEP", "ENT_IOB") if first.has_annotation(name)}
    kept = [
        _doc_of(first, bounds, annotation[1], layers)
        for annotation, bounds in found.items()
        if all(annotation in of_other for of_other in known)
    ]
    return kept, sum(1 for _ in sentence_bounds(first))


Annotation = tuple[tuple[Hashable, ...], tuple[NamedSpan, ...]]


def _annotations(doc: Doc) -> dict[Annotation, tuple[int, int]]:
    """What a Doc says of each sentence that is whole, and where the sentence stands."""
    bounds = [*sentence_bounds(doc)]
    tokens = [*map(_annotation, doc)]
    begins = [begin for begin, _ in bounds]
    spans: list[list[NamedSpan]] = [[] for _ in bounds]
    broken = set[int]()
    for name, span in _named_spans(doc):
        place = bisect_right(begins, span.start) - 1
        begin = begins[place]
        spans[place].append((name, span.start - begin, span.end - begin, span.label_))
        broken.update(range(place + 1, bisect_right(begins, span.end - 1)))
        if span.end > bounds[place][1]:
            broken.add(place)
    found: dict[Annotation, tuple[int, int]] = {}
    for place, (begin, end) in enumerate(bounds):
        is_whole = all(begin <= token.head.i < end for token in doc[begin:end])
        if place not in broken and is_whole and doc[begin:end].text.strip():
            found[tuple(tokens[begin:end]), tuple(sorted(spans[place]))] = begin, end
    return found


def _annotation(token: Token) -> Hashable:
    head = token.head.idx
    return token.idx, token.text, token.tag_, token.pos_, head, token.dep_, token.ent_iob_ or "O"


def _named_spans(doc: Doc) -> Iterator[tuple[str, Span]]:
    yield from (("", entity) for entity in doc.ents)
    for name, group in doc.spans.items():
        yield from ((name, span) for span in group)


def _doc_of(
    doc: Doc, bounds: tuple[int, int], spans: Iterable[NamedSpan], layers: AbstractSet[str]
) -> Doc:
    """A sentence as a Doc of its own, of what `save_docs` writes.

    layers: which of "DEP" and "ENT_IOB" the Doc has.
    """
    begin, end = bounds
    tokens = doc[begin:end]
    has_heads = "DEP" in layers
    made = Doc(
        doc.vocab,
        words=[token.text for token in tokens],
        spaces=[bool(token.whitespace_) for token in tokens],
        tags=[token.tag_ for token in tokens],
        pos=[token.pos_ for token in tokens],
        heads=[token.head.i - begin for token in tokens] if has_heads else None,
        deps=[token.dep_ for token in tokens] if has_heads else None,
        sent_starts=None if has_heads else [token.i == begin for token in tokens],
    )
    groups: dict[str, list[Span]] = {}
    for name, first, after, label in spans:
        groups.setdefault(name, []).append(Span(made, first, after, label=label))
    default = "outside" if "ENT_IOB" in layers else "missing"
    made.set_ents(groups.pop("", []), default=default)
    for name, group in groups.items():
        made.spans[name] = group
    return made
