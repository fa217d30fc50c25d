"""The six labels of Gao, Qiu & Huang 2010."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from learning_twins import label_sequences
from looped import looped
from twins import MARKS, legal_paths, path_score

from spacy_structreg.features.template_compiler import compile_shapes
from spacy_structreg.features.templates import parse_templates
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures
from spacy_structreg.tasks.segmentation.bmes import SCHEMES, bmes, six_labels
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms, CharacterDecoder

SCHEME = six_labels()
# What the paper says of words of one to seven characters.
WORDS = {
    1: ["S"],
    2: ["B", "E"],
    3: ["B", "B2", "E"],
    4: ["B", "B2", "B3", "E"],
    5: ["B", "B2", "B3", "M", "E"],
    6: ["B", "B2", "B3", "M", "M", "E"],
    7: ["B", "B2", "B3", "M", "M", "M", "E"],
}


def spell(labels: np.ndarray) -> list[str]:
    return [SCHEME.labels[label] for label in labels]


def test_labels_are_sorted() -> None:
    assert SCHEME.labels == ("B", "B2", "B3", "E", "M", "S")
    assert SCHEME.begins.tolist() == [True, False, False, False, False, True]
    assert [SCHEMES["six"]().labels, SCHEMES["bmes"]().labels] == [SCHEME.labels, bmes().labels]


@looped("length", WORDS)
def test_words_by_hand(length: int) -> None:
    assert spell(SCHEME.encode([length])) == WORDS[length]


@given(st.lists(st.integers(1, 7)))
def test_sentences_are_words_side_by_side(lengths: list[int]) -> None:
    labels = SCHEME.encode(lengths)
    assert labels.dtype == np.uint16
    assert spell(labels) == [label for length in lengths for label in WORDS[length]]


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
        assert set(map(tuple, label_sequences(SCHEME.graph, n))) == encoded


# Decoding -----------------------------------------------------------------------------------------

TEXT = "学生在大学"


def decoder(seed: int) -> tuple[CharacterDecoder, np.ndarray, dict[str, np.ndarray]]:
    """Random weights for every character of TEXT and for pairs of labels."""
    atoms = CharacterAtoms()
    features = ChainFeatures(
        compile_shapes(parse_templates(["c0 | t-1t0"], atoms.atoms)), atoms.atoms, 6
    )
    learner = features.new_learner()
    atoms.compile(list(TEXT + MARKS), SCHEME, features, learner)
    random = np.random.default_rng(seed)
    for table in learner.tables:
        for row in range(table.n_rows):
            changes = [(row, c, float(random.normal())) for c in range(table.n_columns)]
            table.add(changes, 1)
    trained = Perceptron(learner.tables, clock=1).average()
    bigrams = trained[features.tag_bigram].weights(0).reshape(6, 6)
    rows = {c: trained[1 - features.tag_bigram].weights(ord(c)) for c in TEXT + MARKS}
    chain = ChainDecoder(features, SCHEME.graph, trained)
    return CharacterDecoder(atoms, chain, SCHEME.begins), bigrams, rows


def best(text: str, allowed, bigrams: np.ndarray, rows: dict[str, np.ndarray]) -> list[str]:
    """The words of the best segmentation, out of all; `allowed` says which boundaries may be."""
    found: tuple[float, list[str]] | None = None
    emissions = np.array([rows[character] for character in text])
    for path in legal_paths(SCHEME.graph, len(text)):
        begins = np.flatnonzero(SCHEME.begins[list(path)]).tolist()
        if not allowed(begins):
            continue
        score = path_score(path, emissions, bigrams)
        if found is None or score > found[0]:
            words = [text[a:b] for a, b in itertools.pairwise([*begins, len(text)])]
            found = score, words
    assert found is not None
    return found[1]


@looped("seed", range(12))
def test_decoding_equals_brute_force(seed: int) -> None:
    segment, bigrams, rows = decoder(seed)
    expected = best(TEXT, lambda begins: True, bigrams, rows)
    assert segment.segment([TEXT], [[len(TEXT)]]) == [expected]
    assert segment.nbest(TEXT, 20)[0][1] == expected
    assert len(segment.nbest(TEXT, 20)) == 16


@looped("seed", range(12))
def test_white_space_ends_words(seed: int) -> None:
    segment, bigrams, rows = decoder(seed)
    for position in range(1, len(TEXT)):
        expected = best(TEXT, lambda begins, at=position: at in begins, bigrams, rows)
        spaced = f"{TEXT[:position]} {TEXT[position:]}"
        assert segment.segment([spaced], [[len(spaced)]]) == [expected]


@looped("seed", range(12))
def test_no_word_begins_with_a_mark(seed: int) -> None:
    """Whatever the number of marks: B2, B3, M and E may all stand there."""
    segment, bigrams, rows = decoder(seed)
    for marked in ("学\u0301生在", "学生\u0301\u0301\u0301在", "学\u0301\u20dd\ufe0f\u0301"):
        marks = {i for i, character in enumerate(marked) if character in MARKS}
        expected = best(marked, lambda begins, at=marks: not at & set(begins), bigrams, rows)
        assert segment.segment([marked], [[len(marked)]]) == [expected]
