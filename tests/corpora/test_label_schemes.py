"""Label schemes: spans from labels and labels from spans, by hand and there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.labeling import (
    Scheme,
    Span,
    convert,
    detect_scheme,
    labels_of,
    spans_of,
)

NAMES = ("X", "Y-Z")
# A span alone, and three that touch, two of them of one label.
TOUCHING: list[Span] = [(0, 3, "X"), (4, 6, "X"), (6, 7, "X"), (7, 8, "Y-Z")]


@st.composite
def sentences_with_spans(draw: st.DrawFn) -> tuple[int, list[Span]]:
    """A number of tokens, and spans over some of them, from left to right."""
    n = 0
    spans: list[Span] = []
    for length, name in draw(
        st.lists(st.tuples(st.integers(1, 4), st.sampled_from([None, *NAMES])), max_size=6)
    ):
        if name is not None:
            spans.append((n, n + length, name))
        n += length
    return n, spans


@looped(
    ("scheme", "labels"),
    [
        ("bio", "B-X I-X I-X O B-X I-X B-X B-Y-Z O"),
        ("iob1", "I-X I-X I-X O I-X I-X B-X I-Y-Z O"),
        ("bioes", "B-X I-X E-X O B-X E-X S-X S-Y-Z O"),
        ("bioes", "B-X M-X E-X O B-X E-X S-X S-Y-Z O"),
        ("bioes", "B-X I-X L-X O B-X L-X U-X U-Y-Z O"),
    ],
)
def test_one_sentence_in_all_schemes(scheme: Scheme, labels: str) -> None:
    given = labels.split()
    assert spans_of(given, scheme) == TOUCHING
    assert " ".join(convert(given, scheme, "bio")) == "B-X I-X I-X O B-X I-X B-X B-Y-Z O"
    assert " ".join(convert(given, scheme, "bioes")) == "B-X I-X E-X O B-X E-X S-X S-Y-Z O"
    # Two chunks become one.
    joined = convert(given, scheme, "io")
    assert " ".join(joined) == "X X X O X X X Y-Z O"
    assert spans_of(joined, "io") == [(0, 3, "X"), (4, 7, "X"), (7, 8, "Y-Z")]
    assert detect_scheme([given]) == scheme
    assert detect_scheme([joined]) == "io"


@looped(
    ("scheme", "labels", "spans"),
    [
        ("bio", "I-X I-X", [(0, 2, "X")]),
        ("bio", "O I-X I-Y", [(1, 2, "X"), (2, 3, "Y")]),
        ("bio", "B-X I-Y I-X", [(0, 1, "X"), (1, 2, "Y"), (2, 3, "X")]),
        ("bioes", "E-X I-X", [(0, 1, "X"), (1, 2, "X")]),
        ("bioes", "B-X O I-X E-X", [(0, 1, "X"), (2, 4, "X")]),
        ("bioes", "B-X E-Y", [(0, 1, "X"), (1, 2, "Y")]),
        ("bioes", "B-X S-X I-X", [(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]),
        ("bioes", "B-X I-X B-X E-X E-X", [(0, 2, "X"), (2, 4, "X"), (4, 5, "X")]),
        ("io", "X X Y O B-X", [(0, 2, "X"), (2, 3, "Y"), (4, 5, "B-X")]),
    ],
)
def test_how_labels_are_mended(scheme: Scheme, labels: str, spans: list[Span]) -> None:
    assert spans_of(labels.split(), scheme) == spans


@given(sentences_with_spans(), st.sampled_from(["bio", "bioes"]))
def test_there_and_back(sentence: tuple[int, list[Span]], scheme: Scheme) -> None:
    n, spans = sentence
    labels = labels_of(reversed(spans), n, scheme)
    assert len(labels) == n
    assert spans_of(labels, scheme) == spans
    assert convert(convert(labels, scheme, "bio"), "bio", scheme) == labels
    if any(label != "O" for label in labels):
        assert detect_scheme([[], labels]) == scheme


@given(sentences_with_spans())
def test_labels_without_prefix_cover_the_same_tokens(sentence: tuple[int, list[Span]]) -> None:
    n, spans = sentence
    labels = labels_of(spans, n, "io")
    inside = {i: name for begin, end, name in spans for i in range(begin, end)}
    assert labels == [inside.get(i, "O") for i in range(n)]
    assert labels_of(spans_of(labels, "io"), n, "io") == labels


ANY_LABELS = st.lists(
    st.sampled_from(["O", *(f"{prefix}-{name}" for prefix in "BIESMLU" for name in NAMES)]),
    max_size=8,
)


@given(ANY_LABELS)
def test_mended_labels_need_no_mending(labels: list[str]) -> None:
    mended = convert(labels, "bioes", "bioes")
    assert spans_of(mended, "bioes") == spans_of(labels, "bioes")
    assert convert(mended, "bioes", "bioes") == mended
    assert [label == "O" for label in mended] == [label == "O" for label in labels]


@looped(
    ("label", "scheme", "fault"),
    [
        ("PER", "bio", "'PER' is no label of this scheme; labels are O, B-X, I-X"),
        ("B", "bio", "'B' is no label"),
        ("B-", "bio", "'B-' is no label"),
        ("-X", "bio", "'-X' is no label"),
        ("E-X", "iob1", "'E-X' is no label"),
        ("b-X", "bioes", "'b-X' is no label .* O, B-X, I-X, E-X, S-X, M-X, L-X, U-X"),
        ("BI-X", "bioes", "'BI-X' is no label"),
        ("o", "bio", "'o' is no label"),
        ("", "bio", "'' is no label"),
        ("", "io", "a label is empty"),
        ("O", "BIO", "'BIO' is no label scheme; they are bio, iob1, bioes, io"),
    ],
)
def test_labels_of_no_scheme(label: str, scheme: Scheme, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        spans_of(["O", label], scheme)


@looped(
    ("spans", "scheme", "fault"),
    [
        ([(0, 2, "X"), (1, 3, "X")], "bio", "from token 1 to 3 .'X'. overlaps"),
        ([(0, 3, "X"), (0, 3, "Y")], "io", "overlaps"),
        ([(0, 3, "X"), (1, 2, "Y")], "bioes", "overlaps"),
        ([(2, 4, "X")], "bio", "from token 2 to 4 .'X'. does not lie within the 3 tokens"),
        ([(-1, 1, "X")], "bio", "does not lie within"),
        ([(1, 1, "X")], "bio", "does not lie within"),
        ([(2, 1, "X")], "bio", "does not lie within"),
        ([(0, 1, "")], "bio", "cannot bear the label ''"),
        ([(0, 1, "O")], "io", "cannot bear the label 'O'"),
        ([], "iob1", "labels cannot be written in 'iob1'; choose bio, bioes or io"),
        ([], "bmes", "labels cannot be written in 'bmes'"),
    ],
)
def test_spans_without_labels(spans: list[Span], scheme: Scheme, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        labels_of(spans, 3, scheme)


@looped(
    ("sentences", "scheme"),
    [
        ([], None),
        ([[]], None),
        (["O O"], "bio"),
        (["B-X I-X", "O"], "bio"),
        # A B that parts nothing, for all that strays: bio with faults.
        (["I-X O", "B-X I-X"], "bio"),
        (["O I-X I-X", "O"], "iob1"),
        (["I-X B-X I-X"], "iob1"),
        # Each sentence begins anew.
        (["I-X", "B-X"], "bio"),
        (["S-X O"], "bioes"),
        (["B-X I-X I-X L-X"], "bioes"),
        (["PER O", "creative-work"], "io"),
        (["NN VV", "PU"], None),
    ],
)
def test_detection(sentences: list[str] | list[list[str]], scheme: Scheme | None) -> None:
    labels = [each.split() if isinstance(each, str) else each for each in sentences]
    assert detect_scheme(labels) == scheme


def test_detection_of_mixed_labels() -> None:
    with pytest.raises(ValueError, match="'B-X' has a prefix, 'Y' has none"):
        detect_scheme([["O", "B-X"], ["Y"]])
