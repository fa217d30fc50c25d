"""Kinds of gold sentences: what is said of words follows them everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.sentences import split_words
from spacy_structreg.models.classification import TextClassifierSpec
from spacy_structreg.models.constituents import ConstituentSpec
from spacy_structreg.models.dependencies import DependencySpec
from spacy_structreg.models.gold import SegmentedSchema, TaggedSchema
from spacy_structreg.models.labeling.labelers import SequenceLabelerSpec

WORDS = st.text("好ab 。！”\n\u3000", max_size=4)
PAIRS = st.lists(st.tuples(WORDS, st.sampled_from(["N", "V", "PU"])), max_size=12)


@given(PAIRS)
def test_tags_follow_their_words(pairs: list[tuple[str, str]]) -> None:
    """Each word is joined with its tag into one, and what becomes of words alone is compared."""
    words = [word for word, _ in pairs]
    assert TaggedSchema.layers(pairs) == (words, [tag for _, tag in pairs])
    assert SegmentedSchema.layers(words) == (words,)
    squeezed = list(TaggedSchema.squeezed(pairs))
    assert squeezed == [("".join(word.split()), tag) for word, tag in pairs if word.split()]
    assert [word for word, _ in squeezed] == SegmentedSchema.squeezed(words)
    sentences = TaggedSchema.split(squeezed)
    assert [pair for sentence in sentences for pair in sentence] == squeezed
    assert [[word for word, _ in sentence] for sentence in sentences] == split_words(
        [word for word, _ in squeezed]
    )


def test_tags_and_labels_that_no_file_can_hold() -> None:
    odd = "X\udfff"
    phrases = (Constituent(odd, 0, 1, 0),)
    for kind, sentence in (
        (TaggedSchema, [("a", odd)]),
        (DependencySpec, Sentence(("a",), (odd,), (ROOT,), (None,))),
        (DependencySpec, Sentence(("a",), ("X",), (ROOT,), (odd,))),
        (ConstituentSpec, ConstituencySentence(("a",), (odd,), ())),
        (ConstituentSpec, ConstituencySentence(("a",), ("X",), phrases)),
    ):
        with pytest.raises(ValueError, match=r"'X\\udfff' has a lone surrogate, U\+DFFF"):
            kind.checked(sentence)
    # Of words, characters are enough.
    assert TaggedSchema.checked([(odd, "X")]) == [(odd, "X")]


@given(PAIRS)
def test_any_iterable_of_pairs(pairs: list[tuple[str, str]]) -> None:
    assert TaggedSchema.checked(map(list, pairs)) == TaggedSchema.checked(iter(pairs)) == pairs
    words = [word for word, _ in pairs]
    assert SegmentedSchema.checked(iter(words)) == SegmentedSchema.checked(tuple(words)) == words


ROWS = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.tuples(*[WORDS] * (width - 1), st.sampled_from(["O", "B-X"])))
)


@given(ROWS)
def test_labeled_tokens(rows: list[tuple[str, ...]]) -> None:
    assert (
        SequenceLabelerSpec.checked(map(list, rows))
        == SequenceLabelerSpec.checked(iter(rows))
        == rows
    )
    layers = SequenceLabelerSpec.layers(rows)
    assert len(layers) == (len(rows[0]) if rows else 2)
    assert all(isinstance(layer, list) and len(layer) == len(rows) for layer in layers)
    assert all(layers[i][k] == cell for k, row in enumerate(rows) for i, cell in enumerate(row))


@looped(
    ("sentence", "fault"),
    [
        ("ab", "'ab' is not a list of tuples"),
        (7, "7 is not a list of tuples"),
        (["ab"], "is not a list of tuples"),
        ([("a",)], "is not a list of tuples"),
        ([("a", 7)], "is not a list of tuples"),
        ([("a", "")], "the word 'a' has no label"),
        ([(" ", " ")], "the word ' ' has no label"),
        ([("a", "O"), ("b", "N", "O")], r"the token \('b', 'N', 'O'\) has 3 columns, the first"),
        ([("a", "B-\udfff")], r"has a lone surrogate, U\+DFFF"),
    ],
)
def test_tokens_that_are_not_labeled(sentence: object, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        SequenceLabelerSpec.checked(sentence)
    with pytest.raises(ValueError, match=f"sentence 2 of the training corpus: .*{fault}"):
        SequenceLabelerSpec.check_corpus([[("a", "O")], sentence], "training")


def test_sentences_have_the_same_columns() -> None:
    narrow, wide = [("a", "O")], [("a", "N", "O")]
    assert SequenceLabelerSpec.check_corpus([[], narrow, [], narrow], "dev") == [
        [],
        narrow,
        [],
        narrow,
    ]
    with pytest.raises(ValueError, match="sentence 3 of the dev corpus: its tokens have 3 columns"):
        SequenceLabelerSpec.check_corpus([narrow, [], wide], "dev")
    for empty in ([], [[]], [[(" ", "O")]]):
        with pytest.raises(ValueError, match="the dev corpus is empty"):
            SequenceLabelerSpec.check_corpus(empty, "dev")


@given(st.lists(WORDS), st.sampled_from(["sport", "a b"]))
def test_classified_texts(words: list[str], category: str) -> None:
    for text in ((words, category), [iter(words), category]):
        assert TextClassifierSpec.checked(text) == (words, category)
    assert TextClassifierSpec.layers((words, category)) == (words, [category] * len(words))
