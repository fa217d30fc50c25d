"""The labels of segmentation: four, and the six of Gao, Qiu & Huang 2010."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins import labels_of, legal_paths

from spacy_structreg.tasks.segmentation.bmes import SegmentationScheme, bmes, six_labels, with_tags

SCHEMES = [bmes(), six_labels()]
EACH_SCHEME = pytest.mark.parametrize("scheme", SCHEMES, ids=["bmes", "six"])


def spell(scheme: SegmentationScheme, lengths: list[int]) -> str:
    return " ".join(scheme.labels[label] for label in scheme.encode(lengths))


def test_encoding_by_hand() -> None:
    four, six = SCHEMES
    assert four.labels == ("B", "E", "M", "S")
    assert spell(four, [4, 2, 1, 1, 3, 5]) == "B M M E B E S S B M E B M M M E"
    assert spell(four, []) == ""
    # What Gao, Qiu & Huang 2010 say of words of one to seven characters.
    assert six.labels == ("B", "B2", "B3", "E", "M", "S")
    assert spell(six, [1, 2, 3, 4]) == "S B E B B2 E B B2 B3 E"
    assert spell(six, [5, 6, 7]) == "B B2 B3 M E B B2 B3 M M E B B2 B3 M M M E"


@given(st.lists(st.integers(1, 9)))
def test_encoding_equals_the_twin(lengths: list[int]) -> None:
    assert SCHEMES[0].encode(lengths).tolist() == labels_of("x" * length for length in lengths)


@EACH_SCHEME
def test_legal_sequences_are_exactly_those_of_words(scheme: SegmentationScheme) -> None:
    for n in range(1, 7):
        encoded = {
            tuple(scheme.encode(lengths).tolist())
            for n_words in range(1, n + 1)
            for lengths in itertools.product(range(1, n + 1), repeat=n_words)
            if sum(lengths) == n
        }
        assert len(encoded) == 2 ** (n - 1)
        assert set(legal_paths(scheme.graph, n)) == encoded


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


@EACH_SCHEME
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


@EACH_SCHEME
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
