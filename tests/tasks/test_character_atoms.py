"""What a model sees of a sentence, and gold sentences made ready for training."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins import character_model, symbol

from spacy_structreg.tasks.segmentation.bmes import bmes
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

ANY_TEXT = st.text(
    st.one_of(
        st.sampled_from("我们，。１Ａ％1a年·-〇\x00\u0301\u200d😀🇨𠀀\U0010ffff\ud800\uff5e\uff5f"),
        st.characters(),
    ),
    max_size=20,
)
ALPHABETS = st.sampled_from([None, "g10", "extended"])


@given(ANY_TEXT, ALPHABETS, st.booleans(), st.integers(0, 5))
def test_symbols_equal_the_twin(text: str, types, half_width: bool, reach: int) -> None:
    atoms = CharacterAtoms(types=types, half_width=half_width)
    names = ["c"] if types is None else ["c", "type"]
    padded = [None] * reach + list(text) + [None] * reach
    expected = [[symbol(name, ch, types, half_width) for ch in padded] for name in names]
    symbols = atoms.symbols(text, reach)
    assert list(atoms.atoms) == names
    assert symbols.dtype == np.uint64
    assert symbols.tolist() == expected
    # Packed keys are only keys if every symbol fits in the bits that it is given.
    for row, bits in zip(symbols.tolist(), atoms.atoms.values(), strict=True):
        assert all(value < 2**bits for value in row)
    copy = pickle.loads(pickle.dumps(atoms))
    assert copy.symbols(text, reach).tolist() == expected


def test_symbols_by_hand() -> None:
    symbols = CharacterAtoms(types="g10", half_width=True).symbols("Ａ年", 1)
    assert symbols.tolist() == [[0x110000, 0x41, 0x5E74, 0x110000], [0, 2, 4, 0]]


def test_an_alphabet_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="'none'"):
        CharacterAtoms(types="none")


@pytest.mark.parametrize("words", [[], [""], [" ", "\n\u3000"]])
def test_a_sentence_of_white_space_is_no_sentence(words: list[str]) -> None:
    model = character_model("c0")
    learner = model.features.new_learner()
    assert model.atoms.compile(words, bmes(), model.features, learner) is None
    assert len(learner.tables[0]) == 0


def test_compiling_makes_a_row_for_every_n_gram() -> None:
    model = character_model("c-1 | c0 | c0c+1 | t-1t0")
    learner = model.features.new_learner()
    chain = model.atoms.compile(["我 们", "", "我\n"], bmes(), model.features, learner)
    assert chain is not None
    assert len(chain) == 3
    # Labels; 我 们 and the padding before them; 我们 们我 我-end.
    tag_bigram, unigrams, bigrams = (table.state()["keys"].tolist() for table in learner.tables)
    assert tag_bigram == [0]
    assert unigrams == [0x110000, ord("我"), ord("们")]
    assert bigrams == [
        ord("我") << 21 | ord("们"),
        ord("们") << 21 | ord("我"),
        ord("我") << 21 | 0x110000,
    ]
