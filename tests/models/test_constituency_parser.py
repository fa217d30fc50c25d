"""The constituency parser: what it learns, keeps, refuses and writes into files."""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from crafted import tampered
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from random_trees import sentences_with_trees

from spacy_structreg.corpora.constituents import ConstituencySentence, Constituent
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.tasks.constituents import heads_of_words

PLAIN = Learning()
TREES = """
(S (NP (DT the) (NN dog)) (VP (VBZ walks)))
(S (NP (DT a) (JJ big) (NN dog)) (VP (VBZ sees) (NP (DT the) (NN cat))) (. .))
(S (NP (NNS dogs)) (VP (VBP walk) (ADVP (RB home))) (. .))
(S (VP (VB see) (NP (NP (DT the) (JJ old) (NN house)) (PP (IN of) (NP (NNS dogs))))))
(S (NP (NNS cats)) (VP (VP (VBP see)) (CC and) (VP (VBP walk))) (. .))
(S (NP (NN 狗)) (VP (VV 走)))
(NP (NP (NN cat)) (, ,) (NP (NN dog)) (, ,) (CC and) (NP (NN house)))
"""
LABELS = ("ADVP", "NP", "PP", "S", "VP")


def corpus_of(text: str) -> list[ConstituencySentence]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "trees.mrg")
        path.write_text(text, encoding="utf-8")
        return list(constituency_sentences(path, "ptb"))


CORPUS = corpus_of(TREES)
VOCABULARY = sorted({pair for s in CORPUS for pair in zip(s.words, s.tags, strict=True)})
# Those that the corpus has not, and words that are strange.
STRANGE = [
    ("new", "NN"),
    ("词", "X"),
    ("\u200b", "CD"),
    ("😀" * 30, ""),
    ("(", "-LRB-"),
    ("，", "PU"),
]


@cache
def fitted(**changes: object) -> ConstituencyParser:
    """A parser that is trained once; tests that change weights take their own."""
    chosen = {"epochs": 8, "learning": PLAIN, "beam": 4, **changes}
    return ConstituencyParser(**chosen).fit(CORPUS)  # type: ignore[arg-type]


def queries(sentences: Sequence[ConstituencySentence]) -> list[tuple[list[str], list[str]]]:
    return [(list(sentence.words), list(sentence.tags)) for sentence in sentences]


def random_query(draw: random.Random, n: int) -> tuple[list[str], list[str]]:
    pairs = draw.choices([*VOCABULARY, *STRANGE], k=n)
    return [word for word, _ in pairs], [tag for _, tag in pairs]


# Learning -----------------------------------------------------------------------------------------


@looped("beam", [1, 4, 64])
def test_learns_its_corpus(beam: int) -> None:
    parser = ConstituencyParser(beam=beam, epochs=30, learning=PLAIN).fit(CORPUS)
    assert parser.labels == LABELS
    assert parser.predict_batch(queries(CORPUS)) == CORPUS


def test_learns_without_a_limit() -> None:
    """All analyses are looked at: of a short sentence only."""
    corpus = [CORPUS[5]]
    parser = ConstituencyParser(beam=None, templates="action: S0c S1c N0t", epochs=4)
    parser.fit(corpus)
    assert parser.predict_batch(queries(corpus)) == corpus


def test_dropout_hides_words_but_no_tags() -> None:
    hidden = Learning(dropout=1 - 1e-12)
    words = ConstituencyParser(templates="action: S0w | N0w | len(S0)", learning=hidden, beam=4)
    tags = ConstituencyParser(templates="action: S0t N0t", learning=hidden, beam=4)
    sentence = queries(CORPUS)[1]
    assert {score for score, _ in words.fit(CORPUS).nbest(*sentence, 5)} == {0.0}
    assert tags.fit(CORPUS).nbest(*sentence, 1)[0][0] != 0.0


# What a corpus may hold ---------------------------------------------------------------------------


def chain_of(n: int) -> ConstituencySentence:
    """A word under n phrases."""
    labels = ["NP" if i % 2 else "S" for i in range(n)]
    return ConstituencySentence(
        ("dog",), ("NN",), tuple(Constituent(label, 0, 1, 0) for label in labels)
    )


def test_chains_as_long_as_those_of_the_corpus_are_found(
    caplog: pytest.LogCaptureFixture,
) -> None:
    parser = ConstituencyParser(epochs=15, beam=8, learning=PLAIN).fit([chain_of(7)])
    assert parser.predict(["dog"], ["NN"]) == chain_of(7)
    again = ConstituencyParser.from_bytes(parser.to_bytes())
    assert again.predict(["dog"], ["NN"]) == chain_of(7)
    assert not caplog.records
    with caplog.at_level(logging.WARNING, "spacy_structreg"):
        fitted_on = ConstituencyParser(epochs=1).fit([*CORPUS, chain_of(17), chain_of(16)])
    (record,) = caplog.records
    assert record.message.startswith("1 trees are left out of training: more than 16")
    assert fitted_on.labels == LABELS


def test_a_phrase_over_one_of_the_same_label_is_learned_once() -> None:
    doubled = ConstituencySentence(
        ("dogs", "walk"),
        ("NNS", "VBP"),
        (Constituent("S", 0, 2, 1), *[Constituent("NP", 0, 1, 0)] * 3),
    )
    once = replace(doubled, constituents=doubled.constituents[:2])
    one, other = (ConstituencyParser(epochs=2).fit([each]) for each in (doubled, once))
    assert one.predict(["dogs", "walk"], ["NNS", "VBP"]) == once
    assert one.labels == other.labels == ("NP", "S")


@given(st.lists(sentences_with_trees(longest=5), min_size=1, max_size=4))
@quick_examples(20)
def test_any_trees_can_be_learned_from(sentences: list[ConstituencySentence]) -> None:
    parser = ConstituencyParser(epochs=2, beam=2, templates="action: S0c S1c | S0t N0t")
    if not any(each.constituents for each in sentences):
        with pytest.raises(ValueError, match="no phrase in the training corpus"):
            parser.fit(sentences)
        return
    parser.fit(sentences)
    assert parser.labels == tuple(sorted({c.label for s in sentences for c in s.constituents}))
    for sentence in sentences:
        found = parser.predict(sentence.words, sentence.tags)
        assert (found.words, found.tags) == (sentence.words, sentence.tags)


def test_there_must_be_a_phrase_to_learn_from() -> None:
    bare = ConstituencySentence(("dog",), ("NN",), ())
    blank = ConstituencySentence((" ",), ("",), (Constituent("NP", 0, 1, 0),))
    for corpus in ([bare], [blank], [chain_of(17)]):
        with pytest.raises(ValueError, match="training corpus"):
            ConstituencyParser().fit(corpus)
        with pytest.raises(ValueError, match="no phrase in the training corpus"):
            ConstituencyParser().prepare(corpus)
    for bad in (["the", "dog"], [("the", "DT")], None, "(S (NN dog))"):
        with pytest.raises(ValueError, match="is not a ConstituencySentence"):
            ConstituencyParser().fit([bad])  # type: ignore[list-item]


# Prediction ---------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1).map(random.Random), st.integers(1, 14))
@quick_examples(40)
def test_nonsense_weights_give_trees(draw: random.Random, n: int) -> None:
    """Weights of any size, infinities left out, on words and tags that are new or known."""
    for beam in (1, 4):
        parser = nonsense(beam)
        sentence = random_query(draw, n)
        found = parser.predict(*sentence)
        # That it is a tree is checked where it is made.
        assert (list(found.words), list(found.tags)) == sentence
        assert found.constituents or n == 1
        assert {each.label for each in found.constituents} <= set(LABELS)


@cache
def nonsense(beam: int) -> ConstituencyParser:
    draw = np.random.default_rng(beam)

    def change(_: object, arrays: dict[str, np.ndarray]) -> None:
        for name, array in arrays.items():
            if array.dtype == np.float32:
                drawn = draw.standard_normal(array.shape) * 10.0 ** draw.integers(-30, 30)
                arrays[name] = drawn.astype(np.float32)

    return ConstituencyParser.from_bytes(tampered(fitted(beam=beam).to_bytes(), change))


@looped("beam", [1, 16])
def test_sentences_of_one_word_and_of_five_hundred(beam: int) -> None:
    draw = random.Random(3)
    for parser in (fitted(beam=beam), nonsense(4)):
        for n in (1, 2, 500):
            found = parser.predict(*random_query(draw, n))
            assert len(found.words) == n
            assert found.constituents or n == 1


# Given constituents -------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1).map(random.Random), st.integers(1, 12), st.sampled_from([1, 4]))
@quick_examples(60)
def test_given_constituents_stay(draw: random.Random, n: int, beam: int) -> None:
    parser = draw.choice([fitted(beam=beam), nonsense(beam)])
    words, tags = random_query(draw, n)
    other = fitted(beam=beam).predict(words, tags)
    # One of those over the same words, or else what is left may be one of a label on its like.
    chosen = {(each.begin, each.end): each.label for each in other.constituents}
    given_ones = [
        (*span, draw.choice([None, label])) for span, label in chosen.items() if draw.random() < 0.5
    ]
    cuts = sorted(draw.choices(range(n + 1), k=2))
    if cuts[0] < cuts[1] and not given_ones:
        given_ones = [(*cuts, draw.choice([None, *LABELS]))]
    found = parser.predict(words, tags, given=given_ones)
    there = [(each.begin, each.end, each.label) for each in found.constituents]
    for begin, end, label in given_ones:
        assert any(
            (b, e) == (begin, end) and label in (None, found_label) for b, e, found_label in there
        )
    first = words[:1], tags[:1]
    assert parser.predict_batch(
        [(words, tags), first, (words, tags), (words, tags)],
        given=[given_ones, None, given_ones, None],
    ) == [found, parser.predict(*first), found, parser.predict(words, tags)]


def test_given_constituents_that_are_none() -> None:
    parser = fitted()
    words, tags = ["the", " ", "dog", "walks"], ["DT", "", "NN", "VBZ"]
    for given_ones, message in (
        ([(0, 5, None)], "words 0 to before 5 of 4"),
        ([(-1, 2, None)], "words -1 to before 2"),
        ([(2, 2, None)], "words 2 to before 2"),
        ([(1, 2, None)], "or white space"),
        ([(0, 3, None), (2, 4, "NP")], "overlap"),
        ([(0, 2)], r"the constituent \(0, 2\) is given; give its begin, its end, and its label"),
        ((0, 2, "NP"), "the constituent 0 is given"),
        (["NPs"], "the constituent 'NPs' is given"),
        ([(0, 2.0, "NP")], "is given; give its begin"),
        ([(0, 2, 3)], "is given; give its begin"),
        ([(0, 4, "UCP")], "unknown label 'UCP' of a given constituent"),
        ([(0, 4, "S"), (0, 4, "S")], "S is given twice"),
    ):
        with pytest.raises(ValueError, match=message):
            parser.predict(words, tags, given=given_ones)
    with pytest.raises(ValueError, match="given for 1 sentences, but there are more"):
        parser.predict_batch([(words, tags)] * 2, given=[None])
    with pytest.raises(ValueError, match="given for more than the 1 sentences"):
        parser.predict_batch([(words, tags)], given=[None, None])


# White space --------------------------------------------------------------------------------------


def test_blank_words_are_no_words() -> None:
    with_blanks = ConstituencySentence(
        (" ", "the", "\n", "dog", "\u3000", "walks", "\t"),
        ("", "DT", "", "NN", "", "VBZ", ""),
        (
            Constituent("S", 0, 7, 5),
            Constituent("NP", 1, 4, 3),
            Constituent("VP", 5, 6, 5),
        ),
    )
    parser = ConstituencyParser(epochs=12, learning=PLAIN, beam=4).fit([with_blanks])
    assert parser.predict(with_blanks.words, with_blanks.tags) == with_blanks
    ((_, best),) = parser.nbest(with_blanks.words, with_blanks.tags, 1)
    assert best == with_blanks
    plain = parser.predict(["the", "dog", "walks"], ["DT", "NN", "VBZ"])
    assert [(c.label, c.begin, c.end, c.head) for c in plain.constituents] == [
        ("S", 0, 3, 2), ("NP", 0, 2, 1), ("VP", 2, 3, 2),
    ]  # fmt: skip
    given_ones = [(0, 3, "VP"), (3, 7, "NP")]
    found = parser.predict(with_blanks.words, with_blanks.tags, given=given_ones)
    assert Constituent("VP", 1, 2, 1) in found.constituents
    assert ("NP", 3, 6) in {(each.label, each.begin, each.end) for each in found.constituents}


def test_white_space_alone_has_no_phrases() -> None:
    parser = fitted()
    blank = ConstituencySentence((" ", "\n"), ("", ""), ())
    assert parser.predict([" ", "\n"], ["", ""]) == blank
    assert parser.nbest([" ", "\n"], ["", ""], 3) == [(0.0, blank)]
    one = parser.predict([" ", "dogs", "\n"], ["", "NNS", ""], given=[(0, 3, "NP")])
    assert Constituent("NP", 0, 3, 1) in one.constituents
    with_blank = parser.predict_batch([([" "], [""]), *queries(CORPUS)])
    assert with_blank[1:] == parser.predict_batch(queries(CORPUS))


def test_white_space_is_no_head() -> None:
    bad = ConstituencySentence((" ", "dog"), ("", "NN"), (Constituent("NP", 0, 2, 0),))
    with pytest.raises(ValueError, match="word 0, which is white space, is the head of NP"):
        ConstituencyParser().fit([bad])


def test_no_phrase_is_without_a_head_of_its_kind() -> None:
    words = ["see", "the", "old", "house", "of", "dogs"]
    right, wrong = ["VB", "DT", "JJ", "NN", "IN", "NNS"], ["VB", "DT", "JJ", "NN", "NN", "NNS"]
    for known_heads, expected in ((False, True), (True, False)):
        parser = fitted(known_heads=known_heads, templates="action: S0w S1w | S0c S1c")
        for tags, has_phrase in ((right, True), (wrong, expected)):
            labels = {each.label for each in parser.predict(words, tags).constituents}
            assert ("PP" in labels) == has_phrase
    # What is given is there whatever its head is.
    found = parser.predict(words, wrong, given=[(4, 6, "PP")])
    assert any((each.label, each.begin, each.end) == ("PP", 4, 6) for each in found.constituents)


# Averages and settings ----------------------------------------------------------------------------


@given(
    st.lists(
        st.lists(st.sampled_from([*VOCABULARY, *STRANGE, (" ", "_SP")]), min_size=1), max_size=4
    )
)
@quick_examples(60)
def test_trees_as_arrays(sentences: list[list[tuple[str, str]]]) -> None:
    parser = fitted()
    asked = [([word for word, _ in each], [tag for _, tag in each]) for each in sentences]
    trees = parser.predict_batch(asked)
    for tree, rows in zip(trees, parser.predict_arrays(asked), strict=True):
        assert rows.dtype == np.int32
        found = [(parser.labels[label], *place) for label, *place in rows.tolist()]
        assert found == list(tree.constituents)
        if all(word.strip() for word in tree.words):
            assert heads_of_words(rows, len(tree.words)).tolist() == list(tree.heads())
