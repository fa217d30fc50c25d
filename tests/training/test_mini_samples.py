"""Structure regularization: how sequences are cut, and what is learned from the pieces."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learning_twins import CharacterTwin
from looped import looped

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.training.chain import cut

SENTENCES = [["我们", "在", "北京", "大学"], ["大学生", "在", "北京"], ["生"], ["学", "大学生"]]
LENGTHS = [len("".join(words)) for words in SENTENCES]
SEEDS = st.integers(0, 2**64 - 1)


# Cuts ---------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 60)), st.floats(1, 70), SEEDS)
def test_every_position_lies_in_one_piece(lengths, mini_sample: float, seed: int) -> None:
    pieces = cut(lengths, mini_sample, seed).tolist()
    for number, length in enumerate(lengths):
        own = [(begin, count) for owner, begin, count in pieces if owner == number]
        covered = [position for begin, count in own for position in range(begin, begin + count)]
        assert covered == list(range(length))
        # A sequence without positions is visited too: the clock counts examples.
        assert len(own) >= 1
        assert all(count > 0 for _, count in own) or own == [(0, 0)]
    assert [owner for owner, _, _ in pieces] == sorted(owner for owner, _, _ in pieces)


@given(st.lists(st.integers(1, 60)), st.floats(1, 70), SEEDS)
def test_sizes_are_those_around_the_mean(lengths, mini_sample: float, seed: int) -> None:
    usual = {math.floor(mini_sample), math.ceil(mini_sample)}
    for owner, begin, count in cut(lengths, mini_sample, seed).tolist():
        length = lengths[owner]
        if length <= mini_sample:
            assert (begin, count) == (0, length)
        elif begin == 0 or begin + count == length:
            assert 1 <= count <= max(usual)
        else:
            assert count in usual


@looped("mini_sample", [1, 1.5, 2.5, 3, 5.5, 10.25, 20.5])
def test_the_mean_size(mini_sample: float) -> None:
    """The paper's sizes: floor and ceiling, mixed so that their mean is the one asked for."""
    pieces = cut([200_000], mini_sample, 7)
    sizes = pieces[1:-1, 2]
    share = mini_sample - math.floor(mini_sample)
    spread = math.sqrt(share * (1 - share) / len(sizes))
    assert abs(sizes.mean() - mini_sample) <= 5 * spread
    assert set(sizes.tolist()) == {math.floor(mini_sample), math.ceil(mini_sample)}


def test_cuts_fall_everywhere() -> None:
    """Also near the beginning, where pieces of equal size would never be cut."""
    cuts = Counter(
        int(begin) for seed in range(8_000) for begin in cut([12], 4.0, seed)[1:, 1].tolist()
    )
    assert set(cuts) == set(range(1, 12))
    # Each of them a quarter of the time.
    for begin in range(1, 12):
        assert cuts[begin] / 8_000 == pytest.approx(0.25, abs=0.025)


def test_sizes_do_not_depend_on_each_other() -> None:
    sizes = cut([100_000], 2.5, 3)[1:-1, 2].tolist()
    pairs = Counter(pairwise(sizes))
    for pair in [(2, 2), (2, 3), (3, 2), (3, 3)]:
        assert pairs[pair] / len(sizes) == pytest.approx(0.25, abs=0.015)


@given(st.lists(st.integers(0, 30), min_size=1), SEEDS)
def test_sequences_no_longer_than_the_mean_stay_whole(lengths: list[int], seed: int) -> None:
    whole = [[i, 0, length] for i, length in enumerate(lengths)]
    for mini_sample in (None, float(max(1, *lengths, 1)), max(lengths) + 1.5, 1e300):
        assert cut(lengths, mini_sample, seed).tolist() == whole


def test_seeds_repeat_and_differ() -> None:
    lengths = [30] * 20
    assert cut(lengths, 4.5, 2**64 - 1).tobytes() == cut(lengths, 4.5, 2**64 - 1).tobytes()
    assert len({cut(lengths, 4.5, seed).tobytes() for seed in range(50)}) == 50


@looped("mini_sample", [0.99, 0, -3, math.nan, -math.inf])
def test_sizes_that_cannot_be(mini_sample: float) -> None:
    with pytest.raises(ValueError, match="mini_sample must be at least 1"):
        cut([5], mini_sample, 0)


# What is learned ----------------------------------------------------------------------------------


@looped("mini_sample", [1.0, 1.5, 2.5, 4.0])
@looped("labels", ["bmes", "six"])
def test_pieces_equal_the_twin(labels: str, mini_sample: float) -> None:
    """Features are those of the whole sentence; the labels at a cut are free."""
    templates = "c-1 | c0 | c-2c-1 | c+1c+2 | c-1c+1 | type-2type-1type0type+1type+2 | t-1t0"
    twin = CharacterTwin(templates, SENTENCES, Learning(mini_sample=mini_sample), labels=labels)
    random = np.random.default_rng(3)
    for epoch in range(5):
        twin.run(random.permutation(cut(LENGTHS, mini_sample, epoch)))
    assert twin.learner.clock == len(twin.visits)
    assert any(visit["step"] for visit in twin.visits)


def test_pieces_out_of_their_sequences() -> None:
    twin = CharacterTwin("c0", SENTENCES, Learning())
    for pieces in ([[0, 0, 8]], [[0, -1, 2]], [[0, 7, 1]], [[0, 0, -1]], [[0, 2**62, 2**62]]):
        with pytest.raises(IndexError, match="outside its sequence"):
            twin.trainer.epoch(twin.chains, pieces)
    for pieces in ([[4, 0, 1]], [[-1, 0, 1]]):
        with pytest.raises(IndexError, match="sequence index out of range"):
            twin.trainer.epoch(twin.chains, pieces)
    for pieces in ([[0, 0]], np.zeros((2, 2, 3), dtype=int), 3):
        with pytest.raises(ValueError, match="shape"):
            twin.trainer.epoch(twin.chains, pieces)
    with pytest.raises(ValueError, match="must be integers"):
        twin.trainer.epoch(twin.chains, [[0.0, 0.0, 1.0]])
    assert twin.learner.clock == 0
