"""Features and scores of label chains against a model of plain dictionaries."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from twins import (
    ChainTwin,
    CharacterModel,
    character_model,
    labels_of,
    path_score,
    random_tables,
    squeeze,
    viterbi_twin,
)

from spacy_structreg.tasks.chain import ChainDecoder
from spacy_structreg.tasks.segmentation.bmes import bmes
from spacy_structreg.tasks.segmentation.characters import CharacterDecoder

CHARACTERS = "我们是年１1，aＡ\u0301𠀀\x00 "

OFFSETS = st.integers(-3, 3)
TYPED = st.tuples(st.sampled_from(["c", "type"]), OFFSETS)
TEMPLATE = st.lists(TYPED, min_size=1, max_size=5, unique=True).map(
    lambda atoms: "".join(f"{name}{offset:+d}" for name, offset in atoms)
)
TABLES = st.lists(TEMPLATE, min_size=1, max_size=6).map(" | ".join)


def decoder_of(model: CharacterModel, tables) -> CharacterDecoder:
    chain = ChainDecoder(model.features, model.graph, tables)
    return CharacterDecoder(model.atoms, chain, bmes().begins)


def check_scores(model: CharacterModel, tables, texts: list[str]) -> None:
    """The decoder and the twin agree on the best score, and on that of what was decoded."""
    twin = ChainTwin(model)
    twin.read(model, tables, ["".join(text.split()) for text in texts])
    decoder = decoder_of(model, tables)
    for text in filter(str.strip, texts):
        squeezed, mask = squeeze(text)
        emissions = twin.emissions(squeezed)
        expected, _ = viterbi_twin(emissions, twin.bigrams.tolist(), model.graph, mask)
        ((score, words),) = decoder.nbest(text, 1)
        assert "".join(words) == squeezed
        assert score == pytest.approx(expected, abs=1e-9)
        theirs = path_score(labels_of(words), np.array(emissions), twin.bigrams)
        assert theirs == pytest.approx(expected, abs=1e-9)
        assert decoder.segment([text], [[len(text)]]) == [words]


@st.composite
def models(draw: st.DrawFn) -> CharacterModel:
    templates = draw(TABLES) + draw(st.sampled_from(["", " | t-1t0"]))
    alphabet = draw(st.sampled_from(["g10", "extended"]))
    return character_model(templates, alphabet, half_width=draw(st.booleans()))


TEXTS = st.lists(st.text(CHARACTERS, min_size=1, max_size=16), min_size=1, max_size=4)


@quick_examples(60)
@given(models(), st.booleans(), TEXTS, TEXTS)
def test_scores_of_any_templates_equal_the_twin(
    model: CharacterModel, adaptive: bool, known: list[str], unseen: list[str]
) -> None:
    tables = random_tables(model, "".join(known), seed=6, adaptive=adaptive)
    check_scores(model, tables, [*known, *unseen])


@looped(
    "templates",
    [
        "c0",
        "t-1t0",
        "c0type0 | c-1type-1",
        "c-16 | c+16c0",
        "c0c+1c+2",  # 63 bits: packed
        "c0c+1c+2type0 | c-1c0c+1type-1",  # 67 bits: hashed
        "type-1type0type+1 | type-2type-1type0type+1type+2",
        "c-3c-2c-1c0c+1c+2c+3type0 | c-2c-1c0c+1c+2c+3c+4type+1",
        "c+2 | c+3 | c+4 | c-4",
        "c0 | c+2 | c+4 | c-1c+1 | c-2c0 | c0c+2",
        "c-2 | c-1 | c0 | c+1 | c+2 | c-2c-1 | c-1c0 | c0c+1 | c+1c+2 | t-1t0",
    ],
)
@looped("adaptive", [False, True])
def test_random_scores_equal_the_twin(templates: str, adaptive: bool) -> None:
    model = character_model(templates, "extended")
    random = np.random.default_rng(5)
    texts = ["".join(random.choice(list(CHARACTERS), size=n)) for n in (1, 2, 3, 30)]
    tables = random_tables(model, "".join(texts), seed=1, adaptive=adaptive)
    check_scores(model, tables, [*texts, texts[-1][::-1]])


def test_reach_overhang_and_widths_by_hand() -> None:
    features = character_model("c-1 | c0 | c+1 | c+1c+3 | t-1t0").features
    assert features.reach == 3
    assert features.overhang == 2
    assert features.widths == (16, 12, 4)
    assert features.tag_bigram == 0
    assert character_model("c0").features.tag_bigram == -1
    assert character_model("t-1t0").features.reach == 0


def test_pickling() -> None:
    model = character_model("c0 | c-1c0 | type0 | t-1t0", "g10")
    tables = random_tables(model, CHARACTERS * 3, seed=3)
    decoder = decoder_of(model, tables)
    copy = pickle.loads(pickle.dumps(decoder))
    assert copy.nbest(CHARACTERS, 5) == decoder.nbest(CHARACTERS, 5)
    features = pickle.loads(pickle.dumps(model.features))
    assert features.widths == model.features.widths
    assert (features.reach, features.atoms) == (model.features.reach, model.features.atoms)


def test_compiling_refuses_what_does_not_fit() -> None:
    model = character_model("c-1 | c0")
    learner = model.features.new_learner()
    symbols = model.atoms.symbols("我们", 1)
    with pytest.raises(ValueError, match="label 4 is out of range"):
        model.features.compile(symbols, np.array([0, 4], dtype=np.uint16), learner)
    with pytest.raises(ValueError, match="do not fit"):
        model.features.compile(symbols, np.zeros(3, dtype=np.uint16), learner)
    with pytest.raises(ValueError, match="do not fit"):
        model.features.compile(np.vstack([symbols] * 2), np.zeros(2, dtype=np.uint16), learner)
    foreign = character_model("c0 | t-1t0").features.new_learner()
    with pytest.raises(ValueError, match="other features"):
        model.features.compile(symbols, np.zeros(2, dtype=np.uint16), foreign)
    assert len(model.features.compile(symbols, np.zeros(2, dtype=np.uint16), learner)) == 2


def test_a_decoder_refuses_tables_of_other_features() -> None:
    model = character_model("c0 | c-1c0")
    tables = model.features.new_learner().average()
    for wrong in ([], tables[:1], [*tables, tables[0]], [tables[0], *character_tables("c-1 | c0")]):
        with pytest.raises(ValueError, match="do not fit"):
            ChainDecoder(model.features, model.graph, wrong)


def character_tables(templates: str):
    return character_model(templates).features.new_learner().average()


def test_begins_must_fit_the_labels() -> None:
    model = character_model("c0")
    chain = ChainDecoder(model.features, model.graph, character_tables("c0"))
    with pytest.raises(ValueError, match="begin a word"):
        CharacterDecoder(model.atoms, chain, [True, False])
