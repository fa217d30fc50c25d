"""The labels of segmentation."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from twins import labels_of, legal_paths

from spacy_structreg.tasks.bmes import bmes

SCHEME = bmes()


def spell(labels: np.ndarray) -> str:
    return "".join(SCHEME.labels[label] for label in labels)


def test_encoding_by_hand() -> None:
    assert SCHEME.labels == ("B", "E", "M", "S")
    assert spell(SCHEME.encode([4, 2, 1, 1, 3, 5])) == "BMMEBESSBMEBMMME"
    assert spell(SCHEME.encode([])) == ""
    assert SCHEME.encode([1]).dtype == np.uint16


@given(st.lists(st.integers(1, 9)))
def test_encoding_equals_the_twin(lengths: list[int]) -> None:
    assert SCHEME.encode(lengths).tolist() == labels_of("x" * length for length in lengths)


@given(st.lists(st.integers(1, 9), min_size=1))
def test_words_can_be_read_off_the_labels(lengths: list[int]) -> None:
    begins = np.flatnonzero(SCHEME.begins[SCHEME.encode(lengths)])
    assert begins.tolist() == [0, *itertools.accumulate(lengths)][:-1]


def test_legal_sequences_are_exactly_those_of_words() -> None:
    for n in range(1, 7):
        encoded = {
            tuple(SCHEME.encode(lengths).tolist())
            for n_words in range(1, n + 1)
            for lengths in itertools.product(range(1, n + 1), repeat=n_words)
            if sum(lengths) == n
        }
        assert len(encoded) == 2 ** (n - 1)
        assert set(legal_paths(SCHEME.graph, n)) == encoded
