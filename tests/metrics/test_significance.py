"""The randomization test against worked examples, all exchanges, and the binomial distribution."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.metrics.figures import Counts
from spacy_structreg.metrics.labeling import score_spans
from spacy_structreg.metrics.significance import randomization_test


def accuracy(right: int) -> Counts:
    """A sentence of one token."""
    return Counts(1, 1, right)


@st.composite
def two_systems(draw: st.DrawFn) -> tuple[list[Counts], list[Counts]]:
    sides: tuple[list[Counts], list[Counts]] = [], []
    for gold in draw(st.lists(st.integers(0, 3), min_size=1, max_size=6)):
        for side in sides:
            predicted = draw(st.integers(0, 3))
            side.append(Counts(gold, predicted, draw(st.integers(0, min(gold, predicted)))))
    return sides


def f_score(counts: list[Counts]) -> Fraction:
    whole = sum(each.gold + each.predicted for each in counts)
    return Fraction(2 * sum(each.correct for each in counts), whole or 1)


@given(two_systems())
def test_equals_counting_all_exchanges(systems: tuple[list[Counts], list[Counts]]) -> None:
    pairs = list(zip(*systems, strict=True))
    differences = []
    for exchange in itertools.product([False, True], repeat=len(pairs)):
        sides = [
            [pair[side ^ swapped] for pair, swapped in zip(pairs, exchange, strict=True)]
            for side in (0, 1)
        ]
        differences.append(abs(f_score(sides[0]) - f_score(sides[1])))
    # The first exchange leaves all as it is.
    as_large = sum(each >= differences[0] for each in differences)
    expected = as_large / len(differences)
    assert randomization_test(*systems, repetitions=64) == expected
    assert randomization_test(*systems[::-1]) == expected


def test_worked_by_hand() -> None:
    gold = [["B-X", "O"], ["B-X"], ["O", "B-Y"]]
    good = [["B-X", "O"], ["B-X"], ["O", "B-Y"]]
    bad = [["O", "O"], ["O"], ["O", "O"]]
    first, second = (
        [score_spans([x], [y]) for x, y in zip(gold, side, strict=True)] for side in (good, bad)
    )
    # Only two of the eight exchanges leave all right answers on one side.
    assert randomization_test(first, second) == 2 / 8
    assert randomization_test(first, first) == 1


def test_drawn_exchanges_come_near_the_sign_test() -> None:
    """With one token a sentence, the test is that of tosses of a coin."""
    wins, losses, n = 24, 10, 100
    first = [accuracy(1)] * wins + [accuracy(0)] * losses + [accuracy(1)] * (n - wins - losses)
    second = [accuracy(0)] * wins + [accuracy(1)] * losses + [accuracy(1)] * (n - wins - losses)
    tosses = wins + losses
    tail = sum(math.comb(tosses, k) for k in range(wins, tosses + 1))
    expected = 2 * tail / 2**tosses
    found = randomization_test(first, second, repetitions=20_000)
    deviation = math.sqrt(expected * (1 - expected) / 20_000)
    assert found == pytest.approx(expected, abs=5 * deviation)
    assert randomization_test(first, second, repetitions=20_000) == found
    assert randomization_test(first, second, repetitions=20_000, seed=1) != found


def test_the_true_difference_counts() -> None:
    assert randomization_test([accuracy(1)] * 100, [accuracy(0)] * 100, repetitions=99) == 0.01


def test_what_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="there is no sentence"):
        randomization_test([], [])
    with pytest.raises(ValueError, match="the systems have 2 and 1 sentences"):
        randomization_test([accuracy(1)] * 2, [accuracy(1)])
    with pytest.raises(ValueError, match="sentence 1: the gold counts of the two systems differ"):
        randomization_test([accuracy(1)] * 2, [accuracy(1), Counts(2, 2, 0)])
    with pytest.raises(ValueError, match="repetitions must be at least 1, got 0"):
        randomization_test([accuracy(1)], [accuracy(1)], repetitions=0)
