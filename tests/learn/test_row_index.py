"""The index of weight rows, for keys that lie in each other's way."""

from __future__ import annotations

import numpy as np
from looped import looped
from twins import MASK_64

from spacy_structreg.learn.rows import TrainedRows, TrainingRows

MULTIPLIER = 0x9E3779B97F4A7C15
INVERSE = pow(MULTIPLIER, -1, 2**64)


def key_of(mixed: int) -> int:
    """The key whose bits, mixed by the index, are these; a test of its own says so."""
    product = mixed ^ (mixed >> 32)
    key = product * INVERSE & MASK_64
    return key ^ (key >> 29) ^ (key >> 58)


def mixed(key: int) -> int:
    product = (key ^ (key >> 29)) * MULTIPLIER & MASK_64
    return product ^ (product >> 32)


def test_keys_can_be_made_to_measure() -> None:
    random = np.random.default_rng(1)
    for word in random.integers(2**64 - 1, dtype=np.uint64, endpoint=True, size=200).tolist():
        assert mixed(key_of(word)) == word


def crowd(seed: int) -> list[int]:
    """Keys that all belong to few places of the index, with few tags: 0, 1 and 255 among them."""
    random = np.random.default_rng(seed)
    tags = random.choice([0, 1, 2, 255], size=800).tolist()
    middles = random.integers(2**24, size=800).tolist()
    places = random.choice([0, 1, 5, 2**20 - 1], size=800).tolist()
    # Places are told by the lowest bits: these are the same for every size of the index here.
    words = [
        tag << 56 | middle << 32 | place
        for tag, middle, place in zip(tags, middles, places, strict=True)
    ]
    return sorted({key_of(word) for word in words})


@looped("seed", range(3))
@looped("n_columns", [1, 3, 200])
def test_crowded_keys_are_found_and_others_are_not(n_columns: int, seed: int) -> None:
    keys = crowd(seed)
    order = np.random.default_rng(seed).permutation(len(keys)).tolist()
    present = [keys[i] for i in order[: len(keys) // 2]]
    table = TrainingRows(n_columns)
    for number, key in enumerate(present):
        assert table.row(key) == number
        table.add([(number, number % n_columns, number + 1.0)], 1)
    # All are found again, whatever was put in their way and however often the index grew.
    assert [table.row(key) for key in present] == list(range(len(present)))
    trained = table.average(1)
    assert isinstance(trained, TrainedRows)
    numbers = {key: number for number, key in enumerate(present)}
    for key in keys:
        expected = np.zeros(n_columns)
        if key in numbers:
            expected[numbers[key] % n_columns] = numbers[key] + 1
        assert trained.weights(key).tolist() == expected.tolist()
