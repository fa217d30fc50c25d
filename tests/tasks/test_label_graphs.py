"""Legal sequences of labels: exactly those that stand for spans, by trying all of them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from twins import legal_paths

from spacy_structreg.corpora.labeling import Scheme, Span, labels_of, spans_of
from spacy_structreg.tasks.labeling.label_transitions import (
    allowed_labels,
    complete_labels,
    label_graph,
)


def all_spans(n: int, names: Sequence[str]) -> Iterator[list[Span]]:
    """Every way to put spans of these labels over n tokens."""
    if n == 0:
        yield []
        return
    for before in all_spans(n - 1, names):
        yield before
    for begin, name in itertools.product(range(n), names):
        for before in all_spans(begin, names):
            yield [*before, (begin, n, name)]


def spelled(labels: Sequence[str], scheme: Scheme | None, n: int) -> set[tuple[str, ...]]:
    """The legal sequences of n labels."""
    graph = label_graph(labels, scheme)
    return {tuple(labels[i] for i in path) for path in legal_paths(graph, n)}


@looped("scheme", ["bio", "bioes", "io"])
@looped("n", range(1, 6))
def test_legal_sequences_are_exactly_those_of_spans(scheme: Scheme, n: int) -> None:
    names = ["X", "Y-Z"] if n < 5 else ["X"]
    # Spans of one and of three tokens show every label that there is.
    seen = [
        label for name in names for k in (1, 3) for label in labels_of([(0, k, name)], k, scheme)
    ]
    labels = complete_labels(seen, scheme)
    assert set(labels) == {"O", *seen}
    wanted = {tuple(labels_of(spans, n, scheme)) for spans in all_spans(n, names)}
    assert spelled(labels, scheme, n) == wanted
    # All ways to put spans there have their own labels, but in io, which joins neighbors.
    assert scheme == "io" or len(wanted) == sum(1 for _ in all_spans(n, names))


@looped(
    ("scheme", "labels", "complete"),
    [
        ("bio", "", "O"),
        ("bio", "B-X", "B-X I-X O"),
        ("bio", "I-X", "B-X I-X O"),
        ("bio", "O B-Y I-X B-X B-X", "B-X B-Y I-X I-Y O"),
        ("bioes", "B-X", "B-X E-X I-X O S-X"),
        ("bioes", "I-X S-Y", "B-X B-Y E-X E-Y I-X I-Y O S-X S-Y"),
        ("bioes", "E-X E-Y-Z", "B-X B-Y-Z E-X E-Y-Z I-X I-Y-Z O S-X S-Y-Z"),
        ("bioes", "S-X", "B-X E-X I-X O S-X"),
        ("io", "X B-Y", "B-Y O X"),
        (None, "VV NN VV", "NN VV"),
        (None, "", ""),
    ],
)
def test_complete_labels(scheme: Scheme | None, labels: str, complete: str) -> None:
    assert " ".join(complete_labels(labels.split(), scheme)) == complete


LABELS = {
    scheme: st.sets(st.sampled_from(labels.split()), max_size=4)
    for scheme, labels in {
        "bio": "O B-X I-X B-Y I-Y",
        "bioes": "O B-X I-X E-X S-X B-Y I-Y E-Y S-Y",
        "io": "O X Y",
    }.items()
}


@given(st.sampled_from(sorted(LABELS)).flatmap(lambda name: st.tuples(st.just(name), LABELS[name])))
def test_every_beginning_can_be_ended(case: tuple[Scheme, set[str]]) -> None:
    """From every label some way leads to the end, and to every label one from the beginning."""
    scheme, seen = case
    labels = complete_labels(seen, scheme)
    assert complete_labels(labels, scheme) == labels
    graph = label_graph(labels, scheme)
    ending, beginning = set(graph.ends.nonzero()[0]), set(graph.starts.nonzero()[0])
    for _ in labels:
        ending |= {x for x, y in zip(*graph.legal.nonzero(), strict=True) if y in ending}
        beginning |= {y for x, y in zip(*graph.legal.nonzero(), strict=True) if x in beginning}
    assert ending == beginning == {*range(len(labels))}


def test_tags_follow_as_they_like() -> None:
    tags = ("NN", "PU", "VV")
    for n in range(1, 4):
        assert spelled(tags, None, n) == {*itertools.product(tags, repeat=n)}


@looped(
    ("scheme", "labels", "fault"),
    [
        ("bio", ["E-X"], "'E-X' is no label of this scheme"),
        ("bioes", ["M-X"], "'M-X' must be written as I-X; convert the labels to bioes first"),
        ("bioes", ["U-X"], "'U-X' must be written as S-X"),
        ("iob1", ["I-X"], "cannot be predicted in 'iob1'; choose one of bio, bioes, io, or None"),
        ("bilou", ["O"], "cannot be predicted in 'bilou'"),
    ],
)
@looped("function", [complete_labels, label_graph], ids=operator.attrgetter("__name__"))
def test_labels_of_no_scheme(
    function: object, scheme: Scheme, labels: list[str], fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        function(labels, scheme)  # type: ignore[operator]


@looped(
    ("scheme", "labels", "fault"),
    [
        ("bio", ["I-X", "O"], "the labels lack B-X; take them from complete_labels"),
        ("bio", [], "lack O"),
        ("bioes", ["B-X", "I-X", "O"], "lack E-X"),
        ("bio", ["O", "I-X", "B-X"], "are not sorted and distinct"),
        (None, ["A", "A"], "are not sorted and distinct"),
        (None, [], "no labels in the training corpus"),
        (None, sorted(map(str, range(1025))), "expected 1 to 1,024 labels, got 1,025"),
    ],
)
def test_labels_without_graph(scheme: Scheme | None, labels: list[str], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        label_graph(labels, scheme)


# What is given ------------------------------------------------------------------------------------

# What is given of up to five tokens, as `given_bio` reads it; Z is a label that nobody knows.
GIVEN = st.lists(st.sampled_from(["", "O", "X", "Y", "Z", "+"]), min_size=1, max_size=5)


def given_bio(marks: Sequence[str]) -> list[str | None]:
    """`+` goes on with a span, if there is one; nothing is known of an empty one."""
    found: list[str | None] = []
    for mark in marks:
        before = found[-1] if found else None
        if mark == "+" and before not in (None, "O"):
            found.append(f"I-{before[2:]}")
        elif mark in ("", "+"):
            found.append(None)
        else:
            found.append(mark if mark == "O" else f"B-{mark}")
    return found


@given(st.sampled_from(["bio", "bioes", "io"]), GIVEN)
def test_what_is_allowed_is_what_has_the_given_spans(scheme: Scheme, marks: list[str]) -> None:
    """Of all legal sequences those whose spans hold the given ones, and else keep off them."""
    known = given_bio(marks)
    n = len(known)
    labels = complete_labels([f"B-{name}" if scheme != "io" else name for name in "XY"], scheme)
    mask = allowed_labels(known, labels, scheme)
    assert mask.shape == (n, len(labels))
    given_spans = spans_of(["O" if label is None else label for label in known])
    fixed = {i for i, label in enumerate(known) if label is not None}
    if scheme == "io":
        # Neighbors of one label are one span there.
        given_spans = spans_of(labels_of(given_spans, n, "io"), "io")
    wanted_spans = {span for span in given_spans if span[2] != "Z"}
    found = 0
    for path in legal_paths(label_graph(labels, scheme), n):
        spans = spans_of([labels[i] for i in path], scheme)
        inside = {span for span in spans if fixed & set(range(span[0], span[1]))}
        is_wanted = inside == wanted_spans
        assert is_wanted == all(mask[i, label] for i, label in enumerate(path))
        found += is_wanted
    assert found


def test_given_tags_and_given_faults() -> None:
    mask = allowed_labels(["VV", None, "XX"], ("NN", "PU", "VV"), None)
    assert mask.tolist() == [[False, False, True], [True] * 3, [True] * 3]
    with pytest.raises(ValueError, match="'E-X' is no label of this scheme"):
        allowed_labels(["E-X"], ("B-X", "I-X", "O"), "bio")
