"""Figures of spans against worked examples and a twin that follows the rules of conlleval."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.labeling import join_places
from spacy_structreg.metrics.figures import Counts
from spacy_structreg.metrics.labeling import score_spans

LABELS = st.sampled_from(["O", "B-X", "I-X", "B-Y-Z", "I-Y-Z"])
PAIRS = st.lists(st.tuples(LABELS, LABELS), max_size=8)


def conlleval(gold: list[str], predicted: list[str]) -> tuple[Counter[str], ...]:
    """Gold, predicted and correct spans of each label, by the script's way of counting.

    It walks once over both label sequences at the same time, an O behind each sentence, and asks at
    each step whether a span has ended or started between the labels before and these.
    """

    def part(label: str) -> tuple[str, str]:
        return (label, "") if label == "O" else (label[0], label[2:])

    def ended(before: tuple[str, str], now: tuple[str, str]) -> bool:
        pairs = (("B", "B"), ("B", "O"), ("I", "B"), ("I", "O"))
        return (before[0], now[0]) in pairs or (before[0] != "O" and before[1] != now[1])

    def started(before: tuple[str, str], now: tuple[str, str]) -> bool:
        pairs = (("B", "B"), ("I", "B"), ("O", "B"), ("O", "I"))
        return (before[0], now[0]) in pairs or (now[0] != "O" and before[1] != now[1])

    counts = Counter[str](), Counter[str](), Counter[str]()
    before = outside = ("O", ""), ("O", "")
    running = False
    for now in [*zip(map(part, gold), map(part, predicted), strict=True), outside]:
        (wanted_before, found_before), (wanted, found) = before, now
        if running:
            ends = ended(wanted_before, wanted), ended(found_before, found)
            if all(ends) and wanted_before[1] == found_before[1]:
                counts[2][wanted_before[1]] += 1
                running = False
            elif ends[0] != ends[1] or wanted[1] != found[1]:
                running = False
        starts = started(wanted_before, wanted), started(found_before, found)
        running = running or (all(starts) and wanted[1] == found[1])
        counts[0][wanted[1]] += starts[0]
        counts[1][found[1]] += starts[1]
        before = now
    return counts


def test_worked_by_hand() -> None:
    gold = [
        # Zhang San lives in New York since May
        ["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC", "O", "B-TIME"],
        ["O", "B-PER", "B-PER"],
    ]
    predicted = [
        ["B-PER", "I-PER", "O", "O", "B-LOC", "B-LOC", "O", "O"],
        ["B-ORG", "B-PER", "I-PER"],
    ]
    # Right: Zhang San. New York is cut in two, two people are joined.
    scores = score_spans(gold, predicted)
    assert scores.counts == {
        "gold": 5,
        "predicted": 5,
        "correct": 1,
        "tokens": 11,
        "correct_tokens": 7,
    }
    assert scores.by_label == {
        "LOC": (1, 2, 0),
        "ORG": (0, 1, 0),
        "PER": (3, 2, 1),
        "TIME": (1, 0, 0),
    }
    assert scores.as_dict() == {
        "ents_p": pytest.approx(1 / 5),
        "ents_r": pytest.approx(1 / 5),
        "ents_f": pytest.approx(1 / 5),
        "label_acc": pytest.approx(7 / 11),
    }
    assert scores.per_type()["ents_per_type"] == {
        "LOC": {"p": 0, "r": 0, "f": 0},
        "ORG": {"p": 0, "r": None, "f": 0},
        "PER": {"p": pytest.approx(1 / 2), "r": pytest.approx(1 / 3), "f": pytest.approx(2 / 5)},
        "TIME": {"p": None, "r": 0, "f": 0},
    }
    assert list(scores.by_label) == sorted(scores.by_label)


@looped(
    ("gold", "predicted", "correct"),
    [
        # A stray I begins a span: at the start, after O, after another label.
        ("B-X I-X", "I-X I-X", 1),
        ("O B-X", "O I-X", 1),
        ("B-X B-Y", "B-X I-Y", 2),
        # The same first token is not enough, nor the same last one.
        ("B-X I-X O", "B-X I-X I-X", 0),
        ("O B-X", "B-X I-X", 0),
        # Nor is the same place.
        ("B-X I-X", "B-Y I-Y", 0),
        # IOB1: B only parts neighbors.
        ("B-X B-X O B-X", "I-X B-X O I-X", 3),
    ],
)
def test_which_spans_are_right(gold: str, predicted: str, correct: int) -> None:
    assert score_spans([gold.split()], [predicted.split()]).correct == correct


def test_figures_without_denominator_are_none() -> None:
    assert set(score_spans([], []).as_dict().values()) == {None}
    assert score_spans([], []).per_type() == {"ents_per_type": {}}
    scores = score_spans([["O"]], [["O"]])
    assert list(scores.as_dict().values()) == [None, None, None, 1]
    scores = score_spans([["B-X"]], [["O"]])
    assert list(scores.as_dict().values()) == [None, 0, 0, 0]
    scores = score_spans([["O"]], [["B-X"]])
    assert list(scores.as_dict().values()) == [0, None, 0, 0]


@given(st.lists(PAIRS, max_size=4))
def test_equals_conlleval(sentences: list[list[tuple[str, str]]]) -> None:
    gold = [[label for label, _ in sentence] for sentence in sentences]
    predicted = [[label for _, label in sentence] for sentence in sentences]
    wanted, found, right = Counter[str](), Counter[str](), Counter[str]()
    for pair in zip(gold, predicted, strict=True):
        for total, counts in zip((wanted, found, right), conlleval(*pair), strict=True):
            total.update(counts)
    scores = score_spans(gold, iter(predicted))
    assert (scores.gold, scores.predicted) == (wanted.total(), found.total())
    assert scores.correct == right.total()
    assert scores.by_label == {
        label: Counts(wanted[label], found[label], right[label])
        for label in ("X", "Y-Z")
        if wanted[label] or found[label]
    }
    tokens = [pair for sentence in sentences for pair in sentence]
    assert scores.tokens == len(tokens)
    assert scores.correct_tokens == sum(x == y for x, y in tokens)


PLACES = st.lists(st.tuples(st.sampled_from("BIESO"), st.sampled_from("XY")), max_size=8)


@given(PLACES)
def test_joined_places_part_the_tokens(places: list[tuple[str, str]]) -> None:
    """Spans are in order, cover just what is not O, and are of one label and not longer than so."""
    spans = join_places(places)
    assert [i for begin, end, _ in spans for i in range(begin, end)] == [
        i for i, (letter, _) in enumerate(places) if letter != "O"
    ]
    for begin, end, label in spans:
        letters = [letter for letter, _ in places[begin:end]]
        assert {name for _, name in places[begin:end]} == {label}
        assert not {"B", "S"} & {*letters[1:]}
        assert not {"E", "S"} & {*letters[:-1]}
        # Nothing that would go on stands behind.
        if letters[-1] in "BI" and end < len(places):
            assert places[end][0] in "BSO" or places[end][1] != label
