"""Labels of tokens and the spans that they stand for: BIO, IOB1, BIOES and labels without a prefix.

A label is `O`, for a token in no span, or a prefix, a hyphen and the label of the span (which may
hold hyphens itself):

    bio    B-X begins a span, I-X goes on with it (also called IOB2)
    iob1   as bio, but B-X only where a span of the same label ends right before; only read
    bioes  besides, E-X ends a span, and S-X is one of a single token; M is read as I, L as E and U
           as S (BMES, BILOU)
    io     X says that a token is in a span of that label: neighbors of one label are one span

Sources: Ramshaw and Marcus 1995, "Text chunking using transformation-based learning" (IOB1); Tjong
Kim Sang and Veenstra 1999, "Representing text chunks" (IOB2); Wang, Wang, Wager, Liang and Manning
2013, "Feature noising for log-linear structured prediction", section 5 (labels without B and I).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

Span: TypeAlias = tuple[int, int, str]
"""Index of the first token, index behind the last one, label."""

Place: TypeAlias = tuple[str, str]
"""Place of a token in a span, as one of the letters B, I, E, S and O, and the span's label."""

OUTSIDE: Final = "O"
"""Label of a token in no span."""

BIO: Final[Mapping[str, str]] = MappingProxyType({"B": "B", "I": "I"})
"""The prefixes of labels in BIO, and the letters of places that they stand for."""

Scheme: TypeAlias = Literal["bio", "iob1", "bioes", "io"]
"""Names of schemes, by which labels of tokens stand for spans."""

SCHEMES: Final[tuple[Scheme, ...]] = ("bio", "iob1", "bioes", "io")
"""All schemes."""

BIOES: Final = MappingProxyType(
    {"B": "B", "I": "I", "E": "E", "S": "S", "M": "I", "L": "E", "U": "S"}
)
PREFIXES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {"bio": BIO, "iob1": BIO, "bioes": BIOES}
)


def split_label(label: str, prefixes: Mapping[str, str]) -> Place:
    """The place that a label such as `B-PER` or `O` says; the first hyphen ends its prefix.

    prefixes: those that there are, with the letters of places that they stand for, as `BIO`.
    Raises ValueError for a label that is neither `O` nor one of the prefixes, a hyphen and a name.
    """
    if label == OUTSIDE:
        return OUTSIDE, ""
    prefix, _, name = label.partition("-")
    if not name or prefix not in prefixes:
        forms = ", ".join([OUTSIDE, *(f"{known}-X" for known in prefixes)])
        raise ValueError(f"{label!r:.60} is no label of this scheme; labels are {forms}")
    return prefixes[prefix], name


def join_places(places: Iterable[Place]) -> list[Span]:
    """The spans that the places of the tokens of a sentence say, from left to right.

    B begins a span and S is one. I and E go on with the span of their label that the token before
    is in, and begin one if there is none. A span ends with E, and before a place that does not go
    on with it. Of B and I alone, these are the spans that `conlleval` finds.
    """
    spans: list[Span] = []
    begin: int | None = None
    label = ""
    index = -1
    for index, (letter, name) in enumerate(places):
        if begin is not None and (letter in ("B", "S", "O") or name != label):
            spans.append((begin, index, label))
            begin = None
        if letter != "O" and begin is None:
            begin, label = index, name
        if begin is not None and letter in ("E", "S"):
            spans.append((begin, index + 1, label))
            begin = None
    if begin is not None:
        spans.append((begin, index + 1, label))
    return spans


@lru_cache(1000)
def place_of(label: str, scheme: Scheme) -> Place:
    """The place in a span of a token so labeled (B, I, E, S or O), and the label of the span.

    Raises ValueError for a label that is not of the scheme, and for an unknown scheme.
    """
    if scheme == "io":
        if not label:
            raise ValueError("a label is empty; labels are O and the labels of spans")
        return ("O", "") if label == OUTSIDE else ("I", label)
    if scheme not in PREFIXES:
        raise ValueError(f"{scheme!r} is no label scheme; they are {', '.join(SCHEMES)}")
    return split_label(label, PREFIXES[scheme])


def spans_of(labels: Sequence[str], scheme: Scheme = "bio") -> list[Span]:
    """The spans of a sentence, from left to right: (begin, end, label), the end exclusive.

    Any sequence of labels has a reading. An `I-X` or `E-X` that goes on with no span of its label
    begins one. A span that no `E-X` ends goes until the next label that begins one, is of another
    one, or is `O`. In bio, these are the spans that `conlleval` finds; `io` has nothing to mend.

    Raises ValueError for a label that is not of the scheme, and for an unknown scheme.
    """
    return join_places(map(place_of, labels, repeat(scheme)))


def labels_of(spans: Iterable[Span], n: int, scheme: Scheme = "bio") -> list[str]:
    """The labels of the n tokens of a sentence with these spans, in any order.

    Raises ValueError for spans that overlap, are empty or do not lie within the sentence, labels of
    spans that are empty (in io, also `O`), and a scheme that is unknown or only read (iob1).
    """
    if scheme not in ("bio", "bioes", "io"):
        raise ValueError(f"labels cannot be written in {scheme!r}; choose bio, bioes or io")
    labels = [OUTSIDE] * n
    last_end = 0
    for begin, end, name in sorted(spans):
        if not 0 <= begin < end <= n:
            raise ValueError(
                f"the span from token {begin} to {end} ({name!r:.60}) does not lie within the "
                f"{n} tokens of its sentence; spans are (begin, end, label), the end exclusive"
            )
        if begin < last_end:
            raise ValueError(
                f"the span from token {begin} to {end} ({name!r:.60}) overlaps the one before; "
                "leave one of them out"
            )
        if not name or (scheme == "io" and name == OUTSIDE):
            raise ValueError(f"a span cannot bear the label {name!r}; give it another one")
        last_end = end
        if scheme == "io":
            labels[begin:end] = [name] * (end - begin)
            continue
        labels[begin:end] = [f"I-{name}"] * (end - begin)
        if scheme == "bioes":
            labels[end - 1] = f"E-{name}"
        labels[begin] = f"S-{name}" if scheme == "bioes" and end - begin == 1 else f"B-{name}"
    return labels


def convert(labels: Sequence[str], source: Scheme, target: Scheme) -> list[str]:
    """The labels of a sentence in another scheme; in io, neighbors of one label become one span.

    The result is always well-formed: what `spans_of` mends is mended. Raises ValueError as
    `spans_of` and `labels_of`.
    """
    return labels_of(spans_of(labels, source), len(labels), target)


def detect_scheme(sentences: Iterable[Sequence[str]]) -> Scheme | None:
    """The scheme that the labels of a corpus are in, or None: they are tags, not labels of spans.

    bioes: a prefix is other than B and I. iob1: B-X stands only where it parts two spans, and at
    least one span begins with I-X. bio: the other ones whose labels have prefixes, and `O` alone.
    io: there is `O`, and no prefix. None: neither `O` nor prefixes, or no label at all.

    Raises ValueError when only some of the labels have prefixes.
    """
    seen: set[str] = set()
    any_begun_inside = False
    all_parting = True
    for labels in sentences:
        before = OUTSIDE
        for label in labels:
            prefix, _, name = label.partition("-")
            name_before = before.partition("-")[2]
            if prefix == "I" and name != name_before:
                any_begun_inside = True
            elif prefix == "B" and name != name_before:
                all_parting = False
            before = label
        seen.update(labels)
    named = sorted(seen - {OUTSIDE})
    if not named:
        return "bio" if seen else None
    prefixed = [label for label in named if _is_prefixed(label)]
    if not prefixed:
        return "io" if OUTSIDE in seen else None
    if len(prefixed) < len(named):
        bare = next(label for label in named if not _is_prefixed(label))
        raise ValueError(
            f"the label {prefixed[0]!r:.60} has a prefix, {bare!r:.60} has none, so that the "
            "scheme of the labels cannot be told; correct the labels, or name the scheme"
        )
    if any(label[0] not in BIO for label in prefixed):
        return "bioes"
    return "iob1" if any_begun_inside and all_parting else "bio"


def _is_prefixed(label: str) -> bool:
    prefix, _, name = label.partition("-")
    return bool(name) and prefix in BIOES
