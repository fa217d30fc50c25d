"""The labels of segmentation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins import labels_of, legal_paths

from spacy_structreg.tasks.segmentation.bmes import bmes, six_labels, with_tags

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


JOINT = with_tags(bmes(), ["NN", "VV", "NN"])


def test_tagged_encoding_by_hand() -> None:
    assert JOINT.tags == ("NN", "VV")
    assert JOINT.labels == ("B-NN", "B-VV", "E-NN", "E-VV", "M-NN", "M-VV", "S-NN", "S-VV")
    encoded = JOINT.encode([3, 1, 2], ["VV", "NN", "NN"])
    spelled = " ".join(JOINT.labels[label] for label in encoded)
    assert spelled == "B-VV M-VV E-VV S-NN B-NN E-NN"
    assert encoded.dtype == np.uint16
    assert JOINT.encode([], []).tolist() == []
    assert JOINT.begins.tolist() == [label[0] in "BS" for label in JOINT.labels]
    assert [JOINT.tags[tag] for tag in JOINT.tag_of] == [label[2:] for label in JOINT.labels]


@pytest.mark.parametrize("scheme", [bmes(), six_labels()], ids=["bmes", "six"])
@given(st.sets(st.text(min_size=1, max_size=4), min_size=1, max_size=5), st.data())
def test_tagged_words_can_be_read_off_the_labels(scheme, tags: set[str], data) -> None:
    joint = with_tags(scheme, tags)
    assert joint.labels == tuple(sorted(joint.labels))
    words = data.draw(st.lists(st.tuples(st.integers(1, 6), st.sampled_from(joint.tags))))
    labels = joint.encode([length for length, _ in words], [tag for _, tag in words])
    assert len(labels) == sum(length for length, _ in words)
    begins = np.flatnonzero(joint.begins[labels])
    lengths = np.diff([*begins, len(labels)])
    assert [
        (length, joint.tags[joint.tag_of[labels[begin]]])
        for begin, length in zip(begins, lengths, strict=True)
    ] == words
    plain = scheme.encode([length for length, _ in words])
    assert [joint.labels[label].split("-", 1)[0] for label in labels] == [
        scheme.labels[label] for label in plain
    ]


@pytest.mark.parametrize("scheme", [bmes(), six_labels()], ids=["bmes", "six"])
def test_legal_sequences_are_exactly_those_of_tagged_words(scheme) -> None:
    joint = with_tags(scheme, "ab")
    for n in range(1, 5 if len(scheme.labels) == 4 else 4):
        encoded = {
            tuple(joint.encode(lengths, tags).tolist())
            for n_words in range(1, n + 1)
            for lengths in itertools.product(range(1, n + 1), repeat=n_words)
            if sum(lengths) == n
            for tags in itertools.product("ab", repeat=n_words)
        }
        # Between two characters: the word goes on, or another one of either tag begins.
        assert len(encoded) == 2 * 3 ** (n - 1)
        assert set(legal_paths(joint.graph, n)) == encoded


def test_tags_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="unknown tag 'XX'"):
        JOINT.encode([1], ["XX"])
    with pytest.raises(ValueError, match="expected a tag for each of 2 words, got 1"):
        JOINT.encode([1, 2], ["NN"])
    with pytest.raises(ValueError, match="no tags to label"):
        with_tags(bmes(), [])
    with pytest.raises(ValueError, match="too many tags for one label chain: 257"):
        with_tags(bmes(), map(str, range(257)))
