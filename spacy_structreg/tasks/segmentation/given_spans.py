"""Spans of a text given by the caller, and the constraints that their three kinds impose.

``token``: the span is one token, with its tag if it has one. ``whole``: no token begins or ends
within it. ``edges``: tokens begin and end at its edges, as many as it takes. They come before all
else: listed words that do not go together with them have no places.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.features.character_classes import (
    EXTENDS,
    JOINS_NEXT,
    TABLE_SIZE,
    ZERO_WIDTH,
    property_table,
)
from spacy_structreg.features.typed_runs import FIRST_STAND_IN, STAND_INS, Run

SpanKind: TypeAlias = Literal["token", "whole", "edges"]
"""Kinds of spans: one token, whole tokens, or edges of tokens."""

# What is said of a character (`tasks.segmentation.text`) is one of the first two, and the third
# times the number of its stand-in.
BEGINS: Final = 1
"""Value of a character that begins a token."""
CONTINUES: Final = 2
"""Value of a character that is inside a token."""
SAYS_STAND_IN: Final = 4
"""Factor of the number of a stand-in in the value of a character."""


class GivenSpan(NamedTuple):
    """A span, `text[start:end]`, and its kind; see the module. Only tokens have tags."""

    start: int
    end: int
    kind: SpanKind = "token"
    tag: str | None = None


AnySpan: TypeAlias = (
    GivenSpan | tuple[int, int] | tuple[int, int, SpanKind] | tuple[int, int, SpanKind, str | None]
)
"""A span, or offsets of its first character and behind its last, its kind, and its tag."""


class SpanLimits(NamedTuple):
    """Constraints by the spans of a text.

    constraints: uint8 of each character: 1 if a token begins there, 2 if none does, 0 if nothing is
    said. tagged: the tokens with tags, by their start.
    """

    constraints: NDArray[np.uint8]
    tagged: list[GivenSpan]

    def wholes(self) -> list[tuple[int, int]]:
        """Smallest uncut pieces of the text, two characters or longer: starts and ends."""
        inside = np.concatenate(([0], self.constraints == CONTINUES, [0])).astype(np.int8)
        begins = np.flatnonzero(np.diff(inside) > 0) - 1
        return list(zip(begins.tolist(), np.flatnonzero(np.diff(inside) < 0).tolist(), strict=True))

    def without_rivals(self, places: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return the mask of the occurrences, of shape (n, 3), that fit the spans."""
        begins = np.concatenate(([0], np.cumsum(self.constraints == BEGINS)))
        inside = np.append(self.constraints == CONTINUES, False)
        starts, ends = places[:, 0], places[:, 1]
        kept: NDArray[np.bool_] = begins[ends] == begins[starts + 1]
        kept &= ~inside[starts] & ~inside[ends]
        tagged = {span[:2] for span in self.tagged}
        if tagged:
            free = [(start, end) not in tagged for start, end, _ in places.tolist()]
            kept &= np.array(free, dtype=bool)
        return kept


def span_limits(text: str, spans: Iterable[AnySpan]) -> SpanLimits:
    """Check the spans of a text, and combine them into limits of its tokens.

    White space at the edges of tokens and wholes is left out. Raises ValueError for spans that are
    empty or beyond the text, for kinds that do not exist, for tags of other kinds than tokens, and
    for spans of which one would have to be cut for another.
    """
    checked = [_checked(text, span) for span in spans]
    constraints = np.zeros(len(text), dtype=np.uint8)
    # Of each character, the span that lets no token begin there, to name it in an error.
    inner: dict[int, GivenSpan] = {}
    for span in checked:
        if span.kind != "edges":
            constraints[span.start + 1 : span.end] = CONTINUES
            inner.update(dict.fromkeys(range(span.start + 1, span.end), span))
    tagged: dict[tuple[int, int], GivenSpan] = {}
    for span in checked:
        if span.kind == "whole":
            continue
        for edge in (span.start, span.end):
            if edge in inner:
                raise ValueError(f"{_named(inner[edge])} would be cut by {_named(span)}")
            if edge < len(text):
                constraints[edge] = BEGINS
        if span.tag is not None:
            other = tagged.setdefault((span.start, span.end), span)
            if other.tag != span.tag:
                raise ValueError(f"{_named(span)} has two tags, {other.tag!r} and {span.tag!r}")
    return SpanLimits(constraints, sorted(tagged.values()))


def run_limits(text: str, runs: Iterable[Run]) -> NDArray[np.uint8]:
    """Constraints by the typed runs of a text, and the stand-ins of their characters.

    uint8 of each character, as `TextDecoder.segment` takes it.
    """
    said = bytearray(len(text) + 1)
    # Where what joins the end of a piece ends. Runs within that are not gone through again.
    after = 0
    for run in runs:
        for start, end in run.pieces:
            for place in range(start + 1, end):
                said[place] = CONTINUES
            if run.is_open:
                continue
            if not _joins(text, start):
                said[start] = BEGINS
            after = max(after, end)
            while _joins(text, after):
                after += 1
            said[after] = BEGINS
        if run.kind in STAND_INS:
            first, inner = STAND_INS[run.kind]
            said[run.start] += SAYS_STAND_IN * first
            for place in range(run.start + 1, run.end):
                said[place] += SAYS_STAND_IN * inner
    return np.frombuffer(said, dtype=np.uint8)[:-1]


def with_stand_ins(text: str, runs: Iterable[Run]) -> str:
    """Normalize a text with stand-ins; the length stays."""
    parts: list[str] = []
    end = 0
    for run in runs:
        if run.kind in STAND_INS:
            first, inner = (chr(FIRST_STAND_IN + number - 1) for number in STAND_INS[run.kind])
            parts += (text[end : run.start], first, inner * (run.end - run.start - 1))
            end = run.end
    return "".join([*parts, text[end:]])


def _joins(text: str, position: int) -> bool:
    """Return True if a character always continues a word, as combining marks do."""
    if not 0 < position < len(text):
        return False
    before, code = ord(text[position - 1]), ord(text[position])
    properties = property_table()
    if before < TABLE_SIZE and properties[before] & JOINS_NEXT:
        return True
    first = position
    while first and properties[min(ord(text[first - 1]), TABLE_SIZE - 1)] & ZERO_WIDTH:
        first -= 1
    if first < position and (first == 0 or text[first - 1].isspace()):
        return True
    # Beyond the table only tags and variation selectors do (`tasks.segmentation.text`).
    return bool(properties[code] & EXTENDS) if code < TABLE_SIZE else 0xE0020 <= code <= 0xE01EF


def _named(span: GivenSpan) -> str:
    return f"the span {span.start}:{span.end} of kind {span.kind!r}"


def _checked(text: str, given: AnySpan) -> GivenSpan:
    if not isinstance(given, Sequence) or isinstance(given, str) or not 2 <= len(given) <= 4:
        raise ValueError(f"expected a span (start, end[, kind[, tag]]), got {given!r}")
    values: tuple[Any, ...] = tuple(given)
    try:
        start, end = map(operator.index, values[:2])
    except TypeError as error:
        raise ValueError(f"the start and end of a span must be integers, got {given!r}") from error
    span = GivenSpan(start, end, *values[2:])
    if span.kind not in get_args(SpanKind):
        raise ValueError(f"unknown kind {span.kind!r} of spans; choose token, whole or edges")
    if not 0 <= start < end <= len(text):
        raise ValueError(
            f"{_named(span)} is empty or goes beyond the text, which has {len(text):,} characters"
        )
    if span.tag is not None and not (
        isinstance(span.tag, str) and span.tag and span.kind == "token"
    ):
        raise ValueError(f"{_named(span)} cannot have the tag {span.tag!r}; tokens have tags")
    if span.kind != "edges":
        stripped = text[start:end].strip()
        if not stripped:
            raise ValueError(f"{_named(span)} contains only white space")
        start += len(text[start:end]) - len(text[start:end].lstrip())
        span = span._replace(start=start, end=start + len(stripped))
    return span
