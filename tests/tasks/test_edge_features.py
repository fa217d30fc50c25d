"""Rich edge features of characters, against the best of all labelings of short texts."""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from twins import (
    CharacterModel,
    character_model,
    labels_of,
    random_tables,
    slow_score,
    words_of,
)

from spacy_structreg.learn.freezing import frozen_rows
from spacy_structreg.learn.rows import TrainedRows
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures
from spacy_structreg.tasks.segmentation.bmes import bmes
from spacy_structreg.tasks.segmentation.characters import CharacterDecoder
from spacy_structreg.tasks.segmentation.constraints import Constraints
from spacy_structreg.tasks.segmentation.guide import ChainGuide
from spacy_structreg.tasks.segmentation.text import TextDecoder

TEXTS = st.text("我们在大学", min_size=1, max_size=6)
SEEDS = st.integers(0, 1000)
TEMPLATES = [
    "t-1t0c0",
    "c0 | t-1t0 | t-1t0c-1c0 | t-1t0c0 | t-1t0c+2",
    # Longer than 64 bits.
    "c-1 | t-1t0c-2c-1c0c+1 | t-1t0type0",
]


def decoder_of(model: CharacterModel, tables: Sequence[TrainedRows], **options) -> CharacterDecoder:
    chain = ChainDecoder(model.features, model.graph, tables)
    return CharacterDecoder(model.atoms, chain, bmes().begins, **options)


def labelings(n: int) -> Iterator[tuple[int, ...]]:
    """All legal labelings of so many characters."""
    for cuts in itertools.product([False, True], repeat=n - 1):
        places = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), n]
        yield tuple(labels_of("x" * (b - a) for a, b in itertools.pairwise(places)))


def ranked(model: CharacterModel, tables: Sequence[TrainedRows], text: str):
    """All analyses of a text, best first: (score, words)."""
    scored = [
        (slow_score(model, tables, text, labels), words_of(text, labels))
        for labels in labelings(len(text))
    ]
    return sorted(scored, key=lambda each: -each[0])


def best(analyses) -> float:
    return max((score for score, _ in analyses), default=-np.inf)


def check_best(decoder: CharacterDecoder, text: str, analyses, **constraints) -> None:
    """The best analysis under constraints is the best of those that agree with them."""
    given = Constraints(**constraints) if constraints else None
    ((score, _),) = decoder.nbest(text, 1, given)
    assert score == pytest.approx(best(analyses), abs=1e-9)
    _, of_labels, _ = decoder.best_labels(text, given)
    assert of_labels == pytest.approx(score, abs=1e-9)


def ends_of(words: Sequence[str]) -> set[int]:
    return set(itertools.accumulate(map(len, words)))


@quick_examples(60)
@given(st.sampled_from(TEMPLATES), TEXTS, st.sampled_from([None, 8, 32]), st.integers(0, 1000))
def test_all_analyses_have_the_scores_of_their_features(templates, text, bits, seed) -> None:
    model = character_model(templates, "g10")
    tables = random_tables(model, text, seed)
    if bits is not None:
        tables = [frozen_rows(table, bits) for table in tables]
    expected = ranked(model, tables, text)
    decoder = decoder_of(model, tables)
    found = decoder.nbest(text, 100)
    np.testing.assert_allclose([score for score, _ in found], [score for score, _ in expected])
    for score, words in found:
        assert slow_score(model, tables, text, labels_of(words)) == pytest.approx(score)
    # Sentences of one text after the other, the first of another length.
    ends = [1, 1 + len(text), 1 + 2 * len(text)]
    (words,) = decoder.segment([text[0] + text + text], [ends])
    parts = ends_of(words)
    assert set(ends) <= parts
    second = [word for word, end in zip(words, sorted(parts), strict=True) if 1 < end <= ends[1]]
    assert slow_score(model, tables, text, labels_of(second)) == pytest.approx(expected[0][0])


@quick_examples(100)
@given(st.sampled_from([*TEMPLATES, "c-1 | c0 | c+1 | t-1t0"]), TEXTS, st.booleans(), SEEDS)
def test_margins(templates: str, text: str, is_listed: bool, seed: int) -> None:
    model = character_model(templates, "g10")
    tables = random_tables(model, text, seed)
    analyses = ranked(model, tables, text)
    if is_listed:
        # 们 stands for a word of its own; where nothing else is left, this does not count.
        n_listed = text.count("们")
        lists = (np.array([ord("们")], dtype=np.uint32), np.array([[False] * 3 + [True]]))
        analyses = [each for each in analyses if each[1].count("们") == n_listed]
    decoder = decoder_of(model, tables, lists=lists if is_listed else None)
    expected = [
        best(each for each in analyses if place in ends_of(each[1]))
        - best(each for each in analyses if place not in ends_of(each[1]))
        for place in range(1, len(text))
    ]
    np.testing.assert_allclose(decoder.margins(text), expected, atol=1e-9)
    if len(text) <= 5:
        # At most 16 analyses: those that any decoder looks at.
        np.testing.assert_allclose(TextDecoder.margins(decoder, text), expected, atol=1e-9)
    with pytest.raises(ValueError, match="white space"):
        decoder.margins(f"{text} {text}")
    assert decoder.margins("").shape == (0,)


@quick_examples(60)
@given(st.sampled_from(TEMPLATES), TEXTS, st.integers(0, 1000), st.data())
def test_constraints(templates: str, text: str, seed: int, data: st.DataObject) -> None:
    model = character_model(templates, "g10")
    tables = random_tables(model, text, seed)
    analyses = ranked(model, tables, text)
    decoder = decoder_of(model, tables)
    n = len(text)

    fixed = data.draw(st.lists(st.sampled_from([0, 1, 2]), min_size=n, max_size=n))
    kept = [
        (score, words)
        for score, words in analyses
        if all(fixed[i] in (0, 1 if i in ends_of(words) else 2) for i in range(1, n))
    ]
    check_best(decoder, text, kept, boundaries=np.array([0, *fixed[1:]], dtype=np.uint8))

    start = data.draw(st.integers(0, n - 1))
    end = data.draw(st.integers(start + 1, n))

    def has_word(words: list[str]) -> bool:
        bounds = sorted({0} | ends_of(words))
        return (start, end) in itertools.pairwise(bounds)

    place = np.array([[start, end, -1]])
    check_best(decoder, text, [each for each in analyses if has_word(each[1])], words=place)
    bonus = data.draw(st.sampled_from([-2.0, 0.5, 3.0]))
    with_bonus = [(score + bonus * has_word(words), words) for score, words in analyses]
    check_best(decoder, text, with_bonus, bonus_words=place, bonuses=np.array([bonus]))

    # 们 goes on with a word or ends one, unless it comes first.
    lists = (np.array([ord("们")], dtype=np.uint32), bmes().begins[None] == 0)
    kept = [
        (score, words)
        for score, words in analyses
        if not any(text[i] == "们" and begins for i, begins in enumerate(begins_of(words)))
    ]
    check_best(decoder_of(model, tables, lists=lists), text, kept or analyses)


@pytest.mark.parametrize("templates", TEMPLATES)
def test_long_texts_are_scored_by_blocks(templates: str) -> None:
    """The best analysis is the one that is found with the scores of all pairs at hand."""
    model = character_model(templates, "g10")
    text = "".join(random.Random(4).choices("我们在大学", k=2500))
    tables = random_tables(model, text, 4)
    decoder = decoder_of(model, tables)
    ((score, words),) = decoder.nbest(text, 1)
    _, of_labels, labels = decoder.best_labels(text)
    assert labels == labels_of(words)
    assert of_labels == pytest.approx(score)
    assert slow_score(model, tables, text, labels) == pytest.approx(score)
    # A word that is worth much, over the end of the first block of a lattice, and its whole way.
    places = np.array([[start, start + 4, -1] for start in range(2, 2490, 51)])
    worth = Constraints(bonus_words=places, bonuses=np.full(len(places), 5.0))
    ((score, words),) = decoder.nbest(text, 1, worth)
    _, of_labels, labels = decoder.best_labels(text, worth)
    assert labels == labels_of(words)
    assert of_labels == pytest.approx(score)


def begins_of(words: Sequence[str]) -> list[bool]:
    return [i == 0 for word in words for i in range(len(word))]


def test_pickling() -> None:
    model = character_model(TEMPLATES[1])
    decoder = decoder_of(model, random_tables(model, "我们在大学", 3))
    copy = pickle.loads(pickle.dumps(decoder))
    assert copy.nbest("大学我们", 9) == decoder.nbest("大学我们", 9)


def test_shapes_that_cannot_be_of_edges() -> None:
    model = character_model("c0 | c+1 | t-1t0", None)
    for shape in model.features.shapes:
        with pytest.raises(ValueError, match="of one template each"):
            ChainFeatures((), {"c": 21}, 4, edge_shapes=[shape])
    edges = character_model("t-1t0c0").features.edge_shapes
    with pytest.raises(ValueError, match="there are the lists"):
        ChainFeatures((), {"c": 21}, 4, ("edge",), edge_shapes=edges)


def test_guides_cannot_have_them() -> None:
    model = character_model("c0 | t-1t0c0")
    decoder = decoder_of(model, random_tables(model, "我们", 0))
    with pytest.raises(ValueError, match="rich edge features do not"):
        ChainGuide(decoder, [[0, 2, 1, 3]])
