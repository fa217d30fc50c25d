"""Dependency trees: what may be one, what is projective, and how trees are made so."""

import random
from collections.abc import Sequence
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.dependencies import (
    ROOT,
    Parse,
    find_circle,
    is_projective,
    projectivize,
)
from spacy_structreg.corpora.sentence import Sentence, join


def climbs_to(word: int, head: int, heads: Sequence[int | None]) -> bool:
    """Whether a word is below a head; heads must have no circles."""
    above = heads[word]
    while above is not None and above != ROOT:
        if above == head:
            return True
        above = heads[above]
    return False


def goes_in_circles(heads: Sequence[int | None]) -> bool:
    return any(climbs_for_ever(word, heads) for word in range(len(heads)))


def climbs_for_ever(word: int, heads: Sequence[int | None]) -> bool:
    above: int | None = word
    for _ in range(len(heads) + 1):
        if above is None or above == ROOT:
            return False
        above = heads[above]
    return True


def is_projective_by_definition(heads: Sequence[int]) -> bool:
    return all(
        climbs_to(between, head, heads)
        for word, head in enumerate(heads)
        if head != ROOT
        for between in range(min(word, head) + 1, max(word, head))
    )


def without_circles(heads: list[int | None]) -> list[int | None]:
    """The same heads, but a root where a circle of them was."""
    broken = list(heads)
    while circle := find_circle(broken):
        broken[circle[0]] = ROOT
    return broken


def head_lists(n_most: int, *, partial: bool) -> st.SearchStrategy[list[int | None]]:
    def of_length(n_words: int) -> st.SearchStrategy[list[int | None]]:
        head: st.SearchStrategy[int | None] = st.integers(ROOT, n_words - 1)
        if partial:
            head = st.none() | head
        return st.lists(head, min_size=n_words, max_size=n_words).map(without_circles)

    return st.integers(1, n_most).flatmap(of_length)


@st.composite
def trees(draw: st.DrawFn, n_most: int = 12) -> list[int]:
    """The heads of a tree with one root."""
    n_words = draw(st.integers(1, n_most))
    order = draw(st.permutations(range(n_words)))
    heads = [ROOT] * n_words
    for rank, word in enumerate(order[1:], start=1):
        heads[word] = order[draw(st.integers(0, rank - 1))]
    return heads


@given(st.lists(st.none() | st.integers(-1, 5), min_size=6, max_size=6))
def test_the_circle_that_is_found_is_one(heads: list[int | None]) -> None:
    circle = find_circle(heads)
    assert bool(circle) == goes_in_circles(heads)
    for word, head in zip(circle, [*circle[1:], *circle[:1]], strict=True):
        assert heads[word] == head


@given(trees())
def test_trees_are_projective_by_the_definition(heads: list[int]) -> None:
    assert is_projective(heads) == is_projective_by_definition(heads)


@looped("n_words", [1, 2, 3, 4])
def test_part_of_a_tree_is_projective_if_a_projective_tree_has_it(n_words: int) -> None:
    every = list(product([ROOT, *range(n_words)], repeat=n_words))
    projective = [
        heads
        for heads in every
        if not goes_in_circles(heads)
        # The arcs to roots count: none may lie under another arc.
        and is_projective_by_definition(heads)
    ]
    for heads in product([None, ROOT, *range(n_words)], repeat=n_words):
        if goes_in_circles(heads):
            continue
        completed = any(
            all(known is None or known == head for known, head in zip(heads, whole, strict=True))
            for whole in projective
        )
        assert is_projective(heads) == completed, heads


@given(head_lists(9, partial=True))
def test_projectivised_heads_are_projective_and_without_circles(heads: list[int | None]) -> None:
    lifted = projectivize(heads)
    assert is_projective(lifted)
    assert not goes_in_circles(lifted)
    if heads.count(ROOT) <= 1:
        assert lifted.count(ROOT) == heads.count(ROOT)
    if is_projective(heads):
        assert lifted == tuple(heads)
    for word, (before, after) in enumerate(zip(heads, lifted, strict=True)):
        known = before is not None
        assert known or after is None
        if known and after not in (None, ROOT):
            assert climbs_to(word, after, heads)


@given(trees() | head_lists(12, partial=False))
def test_lifts_are_those_of_spacy(heads: list[int]) -> None:
    from spacy.pipeline._parser_internals.nonproj import projectivize as spacy_projectivize

    with_loops = [word if head == ROOT else head for word, head in enumerate(heads)]
    expected, _ = spacy_projectivize(with_loops, ["dep"] * len(heads))
    assert projectivize(heads) == tuple(
        ROOT if head == word else head for word, head in enumerate(expected)
    )


def test_crossing_arcs_are_lifted_shortest_first() -> None:
    # 1 is below 3 and crosses the arc from 0 to 2.
    assert projectivize([ROOT, 3, 0, 0]) == (ROOT, 0, 0, 0)
    assert projectivize([None, 3, 0, None]) == (None, None, 0, None)
    # 0 cannot be a root beside 3, where the head of 1 is not known.
    assert projectivize([3, None, 3, ROOT, 3, 1])[0] is None


def test_a_long_tangle_is_projectivised() -> None:
    draw = random.Random(0)
    order = draw.sample(range(2000), 2000)
    heads = [ROOT] * 2000
    for rank, word in enumerate(order[1:], start=1):
        heads[word] = order[draw.randrange(rank)]
    lifted = projectivize(heads)
    assert not is_projective(heads)
    assert is_projective(lifted)
    assert lifted.count(ROOT) == 1


def sentence(heads: tuple[int, ...] = (1, ROOT, 1)) -> Sentence:
    return Sentence(("我", "爱", "她"), ("PN", "VV", "PN"), heads, ("nsubj", "root", "obj"))


@given(st.lists(head_lists(5, partial=True), min_size=1, max_size=4))
def test_sentences_that_were_joined_come_apart(trees: list[list[int | None]]) -> None:
    sentences = [
        Sentence(("a",) * len(heads), ("X",) * len(heads), tuple(heads), (None,) * len(heads))
        for heads in trees
    ]
    whole = join(sentences)
    firsts = [index for index, starts in enumerate(whole.starts) if starts]
    assert [whole.part(*each) for each in pairwise([*firsts, len(whole.words)])] == sentences


def test_heads_outside_of_a_part_are_not_known_in_it() -> None:
    assert sentence().part(0, 2).heads == (1, ROOT)
    assert sentence().part(2, 3).heads == (None,)


@looped(
    ("heads", "fault"),
    [
        ((1, -1), "2 heads for 3 words"),
        ((1, -1, 3), "the head 3 of word 2 is none of its 3 words"),
        ((1, -2, 1), "the head -2 of word 1 is none"),
        ((0, -1, 1), "word 0 is its own head; that of a root is -1"),
        ((1, 2, 1), "the heads of the words 1, 2 go in a circle"),
    ],
)
def test_heads_that_are_no_tree_are_refused_with_the_sentence(
    heads: tuple[int, ...], fault: str
) -> None:
    with pytest.raises(ValueError, match=f"'我 爱 她'.*{fault}"):
        sentence(heads)


def test_a_parse_has_a_label_for_each_head() -> None:
    assert Parse((1, -1), ("nsubj", "root")).heads[1] == ROOT
    with pytest.raises(ValueError, match="1 labels for 2 heads"):
        Parse((1, -1), ("nsubj",))
