"""What a constituency parser sees of a sentence with white space in it, and what it gives back."""

from __future__ import annotations

import random
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from random_trees import sentences_with_trees

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.models.constituents import (
    ConstituentQuery,
    visible_constituents,
)

BLANKS = (" ", "\n", "\t\t", "\u3000", "\u00a0")


def spread(sentence: ConstituencySentence, draw: random.Random) -> ConstituencySentence:
    """A sentence with white space between its words, some of it in phrases, at their ends too."""
    words: list[str] = []
    tags: list[str] = []
    # Of each word, and of the end, the place of the first blank before it, and its own.
    before: list[int] = []
    places: list[int] = []
    for word, tag in [*zip(sentence.words, sentence.tags, strict=True), ("", "")]:
        before.append(len(words))
        for _ in range(draw.choice([0, 0, 1, 2])):
            words.append(draw.choice(BLANKS))
            tags.append("")
        places.append(len(words))
        words.append(word)
        tags.append(tag)
    del words[-1], tags[-1]
    n = len(sentence.words)

    def moved(each: Constituent) -> Constituent:
        begin = 0 if each.begin == 0 else places[each.begin]
        # All that ends with a word ends before or after the blanks behind it.
        end = len(words) if each.end == n else before[each.end]
        return Constituent(each.label, begin, end, places[each.head])

    return ConstituencySentence(tuple(words), tuple(tags), tuple(map(moved, sentence.constituents)))


def once(sentence: ConstituencySentence) -> ConstituencySentence:
    """Without phrases that are the only child of one of the same label."""
    kept = [each for each, _ in groupby(sentence.constituents)]
    return ConstituencySentence(sentence.words, sentence.tags, tuple(kept))


@given(sentences_with_trees(), st.integers(0, 2**32 - 1).map(random.Random))
def test_white_space_is_left_out_and_put_back(
    sentence: ConstituencySentence, draw: random.Random
) -> None:
    with_blanks = spread(sentence, draw)
    assert visible_constituents(with_blanks) == once(sentence)
    query = ConstituentQuery.of((with_blanks.words, with_blanks.tags), None)
    assert query.visible == (list(sentence.words), list(sentence.tags))
    assert len(query) == len(with_blanks.words)
    answer = query.answer(sentence.constituents)
    assert (answer.words, answer.tags) == (with_blanks.words, with_blanks.tags)
    assert visible_constituents(answer) == once(sentence)
    # Phrases neither begin nor end with white space, unless they are over all words.
    for each in answer.constituents:
        edges = answer.words[each.begin] + "|" + answer.words[each.end - 1]
        assert (each.begin, each.end) == (0, len(answer.words)) or (
            not edges[0].isspace() and not edges[-1].isspace()
        )


@given(sentences_with_trees(), st.integers(0, 2**32 - 1).map(random.Random))
def test_given_constituents_are_counted_in_visible_words(
    sentence: ConstituencySentence, draw: random.Random
) -> None:
    with_blanks = spread(sentence, draw)
    given_ones = [(each.begin, each.end, each.label) for each in with_blanks.constituents]
    query = ConstituentQuery.of((with_blanks.words, with_blanks.tags), given_ones)
    assert query.given == [(each.begin, each.end, each.label) for each in sentence.constituents]


def test_phrases_of_nothing_but_white_space_are_left_out() -> None:
    words, tags = ("a", " ", "b"), ("A", "", "B")
    tree = (
        Constituent("S", 0, 3, 0),
        Constituent("X", 0, 2, 0),
        Constituent("X", 0, 1, 0),
        Constituent("BLANK", 1, 2, 1),
    )
    found = visible_constituents(ConstituencySentence(words, tags, tree))
    assert found is not None
    # Without the blank, one X lies on the other.
    assert found.constituents == (Constituent("S", 0, 2, 0), Constituent("X", 0, 1, 0))
    blank = ConstituencySentence((" ", "\n"), ("", ""), (Constituent("S", 0, 2, 0),))
    assert visible_constituents(blank) is None
    headed = ConstituencySentence(words, tags, (Constituent("S", 0, 3, 1),))
    with pytest.raises(ValueError, match="word 1, which is white space, is the head of S"):
        visible_constituents(headed)


@looped("span", [(1, 2), (0, 4), (-1, 1), (2, 2), (3, 1)])
def test_constituents_of_nothing_cannot_be_given(span: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="which is none, or white space"):
        ConstituentQuery.of((["a", " ", "b"], ["A", "", "B"]), [(*span, None)])
