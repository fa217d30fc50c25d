"""Figures of classified texts, worked by hand."""

from __future__ import annotations

import random

import pytest

from spacy_structreg.metrics.classification import score_classification


def test_worked_by_hand() -> None:
    scores = score_classification(["a", "a", "a", "b", "b", "c"], ["a", "a", "b", "b", "a", "d"])
    assert (scores.total, scores.correct) == (6, 3)
    assert scores.cats_acc == 0.5
    # c is never predicted, d is never gold.
    assert scores.per_type()["cats_f_per_type"] == {
        "a": {"p": 2 / 3, "r": 2 / 3, "f": 2 / 3},
        "b": {"p": 1 / 2, "r": 1 / 2, "f": 1 / 2},
        "c": {"p": None, "r": 0.0, "f": 0.0},
        "d": {"p": 0.0, "r": None, "f": 0.0},
    }
    assert scores.cats_macro_f == pytest.approx((2 / 3 + 1 / 2) / 4)
    assert scores.as_dict() == {"cats_acc": 0.5, "cats_macro_f": scores.cats_macro_f}


def test_nothing() -> None:
    assert score_classification([], []).as_dict() == {"cats_acc": None, "cats_macro_f": None}


def test_numbers_differ() -> None:
    for gold, predicted in ((["a"], []), (["a"], ["a", "b"])):
        with pytest.raises(ValueError, match="predicted labels for 1 items"):
            score_classification(gold, predicted)


def test_against_counts_of_pairs() -> None:
    chance = random.Random(1)
    gold, predicted = (chance.choices("wxyz", k=200) for _ in range(2))
    scores = score_classification(iter(gold), iter(predicted))
    pairs = list(zip(gold, predicted, strict=True))
    assert scores.cats_acc == sum(a == b for a, b in pairs) / 200
    figures = []
    for category in "wxyz":
        hits = sum(a == b == category for a, b in pairs)
        misses = sum((a == category) != (b == category) for a, b in pairs)
        figures.append(2 * hits / (2 * hits + misses))
    assert scores.cats_macro_f == pytest.approx(sum(figures) / 4)
