"""Base noun phrases of Docs, for ``doc.noun_chunks``: from constituents, or from heads.

As in spaCy's other languages, a noun phrase with all that stands before its noun, in which there is
no clause, no preposition and no coordination, and none within another; times alone (去年) are none.
spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any, Final, NamedTuple

from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

from spacy_structreg.pipeline.constituency_documents import SPANS_KEY

LABEL: Final = "NP"
NOUN_PHRASES: Final = frozenset({"NP", "NX", "WHNP"})
# What makes more than a base noun phrase of a phrase that has it inside.
HEAVY_PHRASES: Final = frozenset({
    "CP", "IP", "LCP", "PP", "PRN", "RRC", "S", "SBAR", "SBARQ", "SINV", "SQ", "UCP", "VP", "WHPP",
})  # fmt: skip
NOUN_POS: Final = frozenset({"NOUN", "PROPN", "PRON"})
NOUN_TAGS: Final = ("NN", "NR", "PN", "PRP", "n", "r")
# Nouns by their universal tags: times and measure words.
OTHER_TAGS: Final = frozenset({"M", "NT", "NT-SHORT", "q", "t"})
# Words that stand between noun phrases, or make a phrase of another kind.
HEAVY_POS: Final = frozenset({"ADP", "AUX", "CCONJ", "SCONJ", "VERB"})
HEAVY_TAGS: Final = frozenset({"CC", "P", "LC", "BA", "LB", "SB", "VV", "VC", "VE"})
# What no phrase begins with that is found by heads.
PARTICLES: Final = frozenset({"DEC", "DEG", "DEV", "ETC", "PU", "SP", "_SP"})
PARTICLE_POS: Final = frozenset({"PART", "PUNCT", "SPACE"})
BREAKS: Final = frozenset("、，,;；/")

Bounds = tuple[int, int]


def give_noun_chunks(of: Vocab | Doc, spans_key: str | None = None) -> None:
    """Let Docs of a vocabulary have ``doc.noun_chunks``, unless its language has its own.

    Our tokenizers and the pipes of trees do so, for all Docs that are made after them. Call it with
    the vocabulary of Docs that come from elsewhere, a DocBin for example, before they are made, or
    with a Doc that is there.
    spans_key: the span group of constituents; None for that which is set, or the usual one.
    """
    # Their stubs lack what is set here, or have other types of functions.
    doc: Any = of if isinstance(of, Doc) else None
    vocab: Any = of if doc is None else doc.vocab
    before = vocab.get_noun_chunks
    if before is None or (isinstance(before, NounChunks) and spans_key is not None):
        vocab.get_noun_chunks = NounChunks(spans_key or SPANS_KEY)
    if doc is not None and doc.noun_chunks_iterator is None:
        doc.noun_chunks_iterator = vocab.get_noun_chunks


@dataclass(frozen=True)
class NounChunks:
    """The function that spaCy asks for base noun phrases; equal for equal span groups."""

    spans_key: str = SPANS_KEY

    def __call__(self, doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
        """Yield the first token of each phrase, the first after it, and the label.

        Raises ValueError for a Doc without constituents and without heads.
        """
        doc = doclike.doc
        label = doc.vocab.strings.add(LABEL)
        first, last = (doclike.start, doclike.end) if isinstance(doclike, Span) else (0, len(doc))
        for start, end in noun_phrases(doc, self.spans_key):
            if first <= start and end <= last:
                yield start, end, label


def has_noun_phrases(doc: Doc, spans_key: str = SPANS_KEY) -> bool:
    """True if a Doc has constituents or heads to find noun phrases by."""
    return bool(doc.spans.get(spans_key)) or bool(doc.has_annotation("DEP"))


def noun_phrases(doc: Doc, spans_key: str = SPANS_KEY) -> list[Bounds]:
    """The base noun phrases of a Doc: the first token of each, and the first after it.

    Constituents count before heads. Raises ValueError for a Doc that has neither.
    """
    if doc.spans.get(spans_key):
        return _of_constituents(doc, spans_key)
    if not doc.has_annotation("DEP"):
        raise ValueError(
            "the Doc has no constituents and no heads, so that its noun phrases are not known; add "
            "the pipe structreg_constituency or structreg_parser, trained, to the pipeline"
        )
    return _of_heads(doc)


def _is_noun(token: Token) -> bool:
    if token.tag_ in OTHER_TAGS or token.tag_ in PARTICLES:
        return False
    return token.pos_ in NOUN_POS or (not token.pos_ and token.tag_.startswith(NOUN_TAGS))


def _outermost(found: Iterable[Bounds]) -> list[Bounds]:
    """Spans, of which any two are nested or apart, without those inside of others."""
    kept: list[Bounds] = []
    for start, end in sorted(found, key=lambda each: (each[0], -each[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


# Constituents -------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """A child of a constituent: whether it breaks a noun phrase up, and can be the noun of one."""

    start: int
    end: int
    breaks: bool
    is_noun: bool


@dataclass
class _Phrase:
    """A constituent with its children. is_broken: whether a noun phrase would be broken up."""

    label: str
    start: int
    end: int
    parts: list[_Part] = field(default_factory=list)
    is_broken: bool = False


def _of_constituents(doc: Doc, spans_key: str) -> list[Bounds]:
    def runs() -> Iterator[Bounds]:
        for phrase in _closed_phrases(doc, spans_key):
            if phrase.label not in NOUN_PHRASES:
                continue
            # What stands between clauses, conjunctions and the like.
            start, has_noun = phrase.start, False
            for part in chain(phrase.parts, [_Part(phrase.end, phrase.end, True, False)]):
                if part.breaks and has_noun:
                    yield start, part.start
                if part.breaks:
                    start, has_noun = part.end, False
                has_noun |= part.is_noun and not part.breaks

    return _outermost(runs())


def _closed_phrases(doc: Doc, spans_key: str) -> Iterator[_Phrase]:
    """Yield constituents with their parts, those inside of others first."""
    spans = sorted(
        ((span.start, span.end, span.label_) for span in doc.spans[spans_key]),
        key=lambda each: (each[0], -each[1]),
    )
    open_phrases: list[_Phrase] = []
    at = 0

    def read_words(end: int) -> None:
        nonlocal at
        # An empty slice at the end of a Doc would put its whole text together.
        for token in map(doc.__getitem__, range(at, end)) if open_phrases else ():
            top = open_phrases[-1]
            breaks = top.label in NOUN_PHRASES and (token.tag_ == "CC" or token.text in BREAKS)
            top.parts.append(_Part(token.i, token.i + 1, breaks, _is_noun(token)))
            top.is_broken |= breaks
        at = max(at, end)

    def close() -> _Phrase:
        phrase = open_phrases.pop()
        if open_phrases:
            breaks = phrase.is_broken or phrase.label in HEAVY_PHRASES
            is_noun = phrase.label in NOUN_PHRASES and any(part.is_noun for part in phrase.parts)
            open_phrases[-1].parts.append(_Part(phrase.start, phrase.end, breaks, is_noun))
            open_phrases[-1].is_broken |= breaks
        return phrase

    for start, end, name in [*spans, (len(doc), len(doc), "")]:
        while open_phrases and open_phrases[-1].end <= start:
            read_words(open_phrases[-1].end)
            yield close()
        if open_phrases and end > open_phrases[-1].end:
            raise ValueError(
                f"{name} over {doc[start:end].text!r:.40} in doc.spans[{spans_key!r}] crosses "
                f"{open_phrases[-1].label}; the constituents make no tree"
            )
        read_words(start)
        open_phrases.append(_Phrase(name.partition("-")[0], start, end))


# Heads --------------------------------------------------------------------------------------------


def _of_heads(doc: Doc) -> list[Bounds]:
    """From right to left: each noun with what depends on it before it, up to what breaks it up."""
    before: dict[int, list[Token]] = {}
    for token in doc:
        if token.i < token.head.i:
            before.setdefault(token.head.i, []).append(token)
    breaks = list(accumulate(map(_breaks, doc), initial=0))
    found: list[Bounds] = []
    limit = len(doc)
    for noun in reversed(list(doc)):
        if noun.i >= limit or not _is_noun(noun):
            continue
        start = noun.i
        for child in reversed(before.get(noun.i, [])):
            first = child.left_edge.i
            if child.right_edge.i != start - 1 or breaks[first] < breaks[start]:
                break
            start = first
        while start < noun.i and (doc[start].tag_ in PARTICLES or doc[start].pos_ in PARTICLE_POS):
            start += 1
        found.append((start, noun.i + 1))
        limit = start
    return found[::-1]


def _breaks(token: Token) -> bool:
    return token.pos_ in HEAVY_POS or token.tag_ in HEAVY_TAGS or token.text in BREAKS
