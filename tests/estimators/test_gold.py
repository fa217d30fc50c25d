"""Kinds of gold sentences: what is said of words follows them everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.dependencies import ROOT, DependencySentence
from spacy_structreg.corpora.sentences import split_words
from spacy_structreg.estimators.gold import CONSTITUENTS, DEPENDENCIES, SEGMENTED, TAGGED

WORDS = st.text("好ab 。！”\n\u3000", max_size=4)
PAIRS = st.lists(st.tuples(WORDS, st.sampled_from(["N", "V", "PU"])), max_size=12)


@given(PAIRS)
def test_tags_follow_their_words(pairs: list[tuple[str, str]]) -> None:
    """Each word is joined with its tag into one, and what becomes of words alone is compared."""
    words = [word for word, _ in pairs]
    assert TAGGED.layers(pairs) == (words, [tag for _, tag in pairs])
    assert SEGMENTED.layers(words) == (words,)
    squeezed = list(TAGGED.squeezed(pairs))
    assert squeezed == [("".join(word.split()), tag) for word, tag in pairs if word.split()]
    assert [word for word, _ in squeezed] == SEGMENTED.squeezed(words)
    sentences = TAGGED.split(squeezed)
    assert [pair for sentence in sentences for pair in sentence] == squeezed
    assert [[word for word, _ in sentence] for sentence in sentences] == split_words(
        [word for word, _ in squeezed]
    )


def test_tags_and_labels_that_no_file_can_hold() -> None:
    odd = "X\udfff"
    phrases = (Constituent(odd, 0, 1, 0),)
    for kind, sentence in (
        (TAGGED, [("a", odd)]),
        (DEPENDENCIES, DependencySentence(("a",), (odd,), (ROOT,), (None,))),
        (DEPENDENCIES, DependencySentence(("a",), ("X",), (ROOT,), (odd,))),
        (CONSTITUENTS, ConstituencySentence(("a",), (odd,), ())),
        (CONSTITUENTS, ConstituencySentence(("a",), ("X",), phrases)),
    ):
        with pytest.raises(ValueError, match=r"'X\\udfff' has a lone surrogate, U\+DFFF"):
            kind.checked(sentence)
    # Of words, characters are enough.
    assert TAGGED.checked([(odd, "X")]) == [(odd, "X")]


@given(PAIRS)
def test_any_iterable_of_pairs(pairs: list[tuple[str, str]]) -> None:
    assert TAGGED.checked(map(list, pairs)) == TAGGED.checked(iter(pairs)) == pairs
    words = [word for word, _ in pairs]
    assert SEGMENTED.checked(iter(words)) == SEGMENTED.checked(tuple(words)) == words
