"""Labels of tokens in spaCy's Docs: entities, spans of a group, or an attribute of tokens.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup, Token

from spacy_structreg.corpora.sentence import LabeledSpan

ENTS: Final = "ents"
SPANS: Final = "spans"
SPANS_KEY: Final = "chunks"
ATTRIBUTES: Final = ("tag", "pos", "lemma", "morph", "dep")
"""Attributes of tokens that have one value, by their names in spaCy."""

# Is read, but not written: it belongs to entities.
ENT_TYPE: Final = "ent_type"
# What stands for no morphological features, as in CoNLL-U.
NO_FEATURES: Final = "_"
_EXTENSION: Final = re.compile(r"_\.(\w+)")
OUTSIDE: Final = "O"
# Values of token.ent_iob.
_MISSING: Final = 0
_BEGINS: Final = 3


def stands_for_spans(attribute: str) -> bool:
    """True if labels are those of spans, and not of tokens by themselves."""
    return attribute in (ENTS, SPANS)


def extension_of(attribute: str) -> str | None:
    """The name of the extension that an attribute such as ``_.chunk`` means; None if it is none."""
    found = _EXTENSION.fullmatch(attribute)
    return None if found is None or not found[1].isidentifier() else found[1]


def register_value(kind: type[Doc] | type[Token], name: str) -> None:
    """Register an extension that holds a value, None to begin with; once more does nothing.

    Raises ValueError if there is another one of this name.
    """
    if not kind.has_extension(name):
        kind.set_extension(name, default=None)
    elif kind.get_extension(name) != (None, None, None, None):
        raise ValueError(
            f"{kind.__name__}._.{name} is taken by another extension, or has another default than "
            "None; choose another name"
        )


# Tokens ------------------------------------------------------------------------------------------


def value_of(token: Token, attribute: str) -> str | None:
    """The value of an attribute of a token; None if it has none.

    attribute: of `ATTRIBUTES`, ``ent_type``, or an extension. Raises ValueError for an extension
    that is not registered.
    """
    if attribute == "morph":
        return (str(token.morph) or NO_FEATURES) if token.has_morph() else None
    if attribute == ENT_TYPE:
        # Most tokens are in no entity, and that is known of them.
        return str(token.ent_type_)
    if (name := extension_of(attribute)) is None:
        return str(getattr(token, f"{attribute}_")) or None
    if not token.has_extension(name):
        raise ValueError(
            f"tokens have no extension {name!r}; register it with Token.set_extension, or load the "
            "pipe that does"
        )
    value = token._.get(name)
    return None if value is None or value == "" else str(value)


def write_value(token: Token, attribute: str, value: str) -> None:
    """Set an attribute of `ATTRIBUTES`, or an extension."""
    if attribute == "morph":
        token.set_morph(value)  # type: ignore[attr-defined]  # missing from the stub
    elif (name := extension_of(attribute)) is None:
        setattr(token, f"{attribute}_", value)
    else:
        token._.set(name, value)


# Spans -------------------------------------------------------------------------------------------


def gold_labels(
    doc: Doc, sentences: Iterable[Sequence[int]], attribute: str, spans_key: str = SPANS_KEY
) -> list[list[str] | None]:
    """The gold labels of the tokens of each sentence, in BIO where they stand for spans.

    sentences: the places of tokens, without white space. None stands for a sentence of which not
    all is known: a token has no value; it is not known in which entity it is (``token.ent_iob`` is
    0), or there is no such group of spans; a span goes beyond the sentence.
    Raises ValueError for spans that overlap or have no label.
    """
    if not stands_for_spans(attribute):
        values = [[value_of(doc[i], attribute) for i in places] for places in sentences]
        return [None if None in labels else labels for labels in values]  # type: ignore[misc]
    from spacy_structreg.corpora.labeling import labels_of

    known = known_tokens(doc, attribute, spans_key)
    spans = spans_of_doc(doc, attribute, spans_key)
    # Docs may have many sentences, and each looks at its own spans only.
    spans_at: dict[int, list[int]] = {}
    for number, (start, end, _) in enumerate(spans):
        for place in {start, end - 1}:
            spans_at.setdefault(place, []).append(number)
    found: list[list[str] | None] = []
    for places in sentences:
        index = {place: number for number, place in enumerate(places)}
        numbers = {number for place in places for number in spans_at.get(place, ())}
        inside = [spans[number] for number in sorted(numbers)]
        if not all(known[i] for i in places) or not all(
            start in index and end - 1 in index for start, end, _ in inside
        ):
            found.append(None)
            continue
        try:
            labels = labels_of(
                [(index[start], index[end - 1] + 1, label) for start, end, label in inside],
                len(places),
            )
        except ValueError as error:
            raise ValueError(
                f"doc.{_place(attribute, spans_key)} of {doc.text!r:.60}: {error}"
            ) from error
        found.append(labels)
    return found


def given_labels(
    doc: Doc, sentences: Sequence[Sequence[int]], attribute: str, spans_key: str = SPANS_KEY
) -> list[list[str | None] | None]:
    """The labels that the tokens of each sentence have already, None where there is none.

    sentences: as of `gold_labels`. In BIO where labels stand for spans: of those that `write_spans`
    keeps, the first where several overlap. None for a sentence stands for no label at all.
    """
    if attribute == ENTS and not doc.has_annotation("ENT_IOB"):
        return [None] * len(sentences)
    labels: dict[int, str | None] = {}
    if stands_for_spans(attribute):
        for start, end, label in spans_of_doc(doc, attribute, spans_key):
            for i in range(start, end):
                place = f"B-{label}" if i == start else f"I-{label}"
                # Nothing else is found over a span without a label, as over blocked tokens.
                labels.setdefault(i, place if label else OUTSIDE)
        if attribute == ENTS:
            labels |= dict.fromkeys(_blocked_tokens(doc), OUTSIDE)
    else:
        values = {token.i: value_of(token, attribute) for token in doc}
        labels = {i: value for i, value in values.items() if value is not None}
    return [
        None if labels.keys().isdisjoint(places) else [labels.get(i) for i in places]
        for places in sentences
    ]


def spans_of_doc(doc: Doc, attribute: str, spans_key: str = SPANS_KEY) -> list[LabeledSpan]:
    """The entities or spans of a Doc, sorted, without white space at their ends."""
    spans = []
    for span in doc.ents if attribute == ENTS else doc.spans.get(spans_key, ()):
        start, end = span.start, span.end
        while start < end and doc[start].text.isspace():
            start += 1
        while start < end and doc[end - 1].text.isspace():
            end -= 1
        if start < end:
            spans.append((start, end, str(span.label_)))
    return sorted(spans)


def is_labeled(doc: Doc, attribute: str, spans_key: str = SPANS_KEY) -> bool:
    """True if anything is known of the labels of a Doc."""
    if stands_for_spans(attribute):
        return any(known_tokens(doc, attribute, spans_key))
    return any(value_of(token, attribute) is not None for token in doc)


def known_tokens(doc: Doc, attribute: str, spans_key: str = SPANS_KEY) -> list[bool]:
    """For each token: True if it is known in which entity, or span, it is."""
    if attribute == ENTS:
        return [token.ent_iob != _MISSING for token in doc]
    return [spans_key in doc.spans] * len(doc)


def write_spans(
    doc: Doc,
    spans: Iterable[LabeledSpan],
    attribute: str,
    spans_key: str = SPANS_KEY,
    *,
    overwrite: bool,
) -> None:
    """Write entities, or a group of spans.

    overwrite: instead of those that are there. If not, these stay, and new ones end before what
        they would overlap: them, and tokens at which spaCy blocks entities.
    """
    kept: list[Span] = []
    blocked: list[Span] = []
    attrs: dict[str, Any] = {}
    if not overwrite and (attribute == SPANS or doc.has_annotation("ENT_IOB")):
        kept = list(doc.ents if attribute == ENTS else doc.spans.get(spans_key, ()))
        if attribute == SPANS and spans_key in doc.spans:
            attrs = dict(doc.spans[spans_key].attrs)
        if attribute == ENTS:
            blocked = [doc[i : i + 1] for i in _blocked_tokens(doc)]
    taken = {i for span in (*kept, *blocked) for i in range(span.start, span.end)}
    new = []
    for start, end, label in spans:
        if taken:
            end = next((i for i in range(start, end) if i in taken), end)  # noqa: PLW2901
            while end > start and doc[end - 1].text.isspace():
                end -= 1  # noqa: PLW2901
        if end > start:
            new.append(Span(doc, start, end, label=label))
    together = sorted([*kept, *new], key=attrgetter("start", "end"))
    if attribute == ENTS:
        doc.set_ents(together, blocked=blocked, default="outside")
    else:
        doc.spans[spans_key] = SpanGroup(doc, name=spans_key, attrs=attrs, spans=together)


def _blocked_tokens(doc: Doc) -> list[int]:
    """The tokens that spaCy keeps out of entities."""
    entities = doc.to_array(["ENT_IOB", "ENT_TYPE"])
    found: list[int] = np.flatnonzero((entities[:, 0] == _BEGINS) & (entities[:, 1] == 0)).tolist()
    return found


def _place(attribute: str, spans_key: str) -> str:
    return ENTS if attribute == ENTS else f"spans[{spans_key!r}]"


def check_attribute(attribute: str) -> None:
    """Raise ValueError for what is no attribute that a pipe could write."""
    known = (ENTS, SPANS, *ATTRIBUTES)
    if attribute not in known and extension_of(attribute) is None:
        raise ValueError(
            f"attribute is {attribute!r}; choose {', '.join(known)}, or an "
            "extension of tokens, as in '_.chunk'"
        )
