"""Binarized trees, by hand and by random trees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.binarization import Kind, Step, binarize, debinarize
from spacy_structreg.corpora.constituents import Constituent


def test_a_phrase_of_five_parts_loses_those_before_its_head_first():
    # Zhang & Clark 2009: Y → l1 l2 h r1 r2 is l1 (l2 ((h r1) r2)).
    steps = binarize(5, [Constituent("Y", 0, 5, 2)])
    word = Step(Kind.WORD)
    assert steps == [
        *[word] * 4,
        Step(Kind.LEFT_TEMPORARY, "Y"),
        word,
        Step(Kind.LEFT_TEMPORARY, "Y"),
        Step(Kind.RIGHT_TEMPORARY, "Y"),
        Step(Kind.RIGHT, "Y"),
    ]


def test_phrases_over_the_same_words_are_unary():
    constituents = (Constituent("S", 0, 1, 0), Constituent("VP", 0, 1, 0))
    steps = binarize(1, constituents)
    assert steps == [Step(Kind.WORD), Step(Kind.UNARY, "VP"), Step(Kind.UNARY, "S")]
    assert debinarize(steps) == constituents


def test_one_word_may_be_a_tree():
    assert debinarize(binarize(1, ())) == ()


@st.composite
def trees(draw):
    """A random tree: its number of words, and its constituents in pre-order."""
    constituents = []

    def grow(begin, depth):
        """Where the node ends, and its head."""
        if depth == 4 or (depth and draw(st.booleans())):
            return begin + 1, begin
        place = len(constituents)
        constituents.append(None)
        end, heads = begin, []
        for _ in range(draw(st.integers(1, 5))):
            end, head = grow(end, depth + 1)
            heads.append(head)
        head = draw(st.sampled_from(heads))
        constituents[place] = Constituent(draw(st.sampled_from("ABC")), begin, end, head)
        return end, head

    n_words, _ = grow(0, 0)
    return n_words, tuple(constituents)


@given(trees())
def test_binarised_trees_are_dissolved_again(tree):
    n_words, constituents = tree
    steps = binarize(n_words, constituents)
    assert debinarize(steps) == constituents
    assert sum(step.kind == Kind.WORD for step in steps) == n_words
    binary = [step for step in steps if step.kind >= Kind.LEFT]
    assert len(binary) == n_words - 1
    # What a node is made of besides the head is never temporary, so that there is one way only.
    assert len(steps) - n_words - len(binary) == len(constituents) - len(
        {(each.begin, each.end) for each in constituents if each.end > each.begin + 1}
    )


def test_long_and_deep_trees_take_no_recursion():
    deep = tuple(Constituent(f"X{i % 2}", 0, 1, 0) for i in range(5000))
    assert debinarize(binarize(1, deep)) == deep
    nested = tuple(Constituent("X", i, 3000, 2999) for i in range(2999))
    assert debinarize(binarize(3000, nested)) == nested
    wide = (Constituent("X", 0, 3000, 1500),)
    assert debinarize(binarize(3000, wide)) == wide


@looped(
    "steps",
    [
        [],
        [Step(Kind.WORD), Step(Kind.WORD)],
        [Step(Kind.UNARY, "X")],
        [Step(Kind.WORD), Step(Kind.LEFT, "X")],
        [Step(Kind.WORD), Step(Kind.WORD), Step(Kind.LEFT_TEMPORARY, "X")],
        [Step(Kind.WORD), Step(Kind.WORD), Step(Kind.LEFT_TEMPORARY, "X"), Step(Kind.UNARY, "X")],
        [
            *[Step(Kind.WORD)] * 2,
            Step(Kind.LEFT_TEMPORARY, "X"),
            Step(Kind.WORD),
            Step(Kind.RIGHT, "X"),
        ],
        [
            *[Step(Kind.WORD)] * 2,
            Step(Kind.LEFT_TEMPORARY, "X"),
            Step(Kind.WORD),
            Step(Kind.LEFT, "Y"),
        ],
    ],
)
def test_steps_that_build_no_tree_are_refused(steps):
    with pytest.raises(ValueError, match=r"parts|phrase"):
        debinarize(steps)
