"""Margins of the ends of words: against the best of all analyses of short texts."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from twins import character_model, random_tables

from spacy_structreg.tasks.chain import ChainDecoder
from spacy_structreg.tasks.segmentation.bmes import bmes
from spacy_structreg.tasks.segmentation.characters import CharacterDecoder
from spacy_structreg.tasks.segmentation.text import TextDecoder

LISTED = [
    None,
    # 人 stands for a word of its own; where nothing else is left, this does not count.
    (np.array([ord("人")], dtype=np.uint32), np.array([[False, False, False, True]])),
]


@quick_examples(60)
@given(
    st.text("人大京\u0301", min_size=1, max_size=6),
    st.sampled_from(LISTED),
    st.integers(0, 1000),
)
def test_margins_are_differences_of_best_scores(text: str, lists, seed: int) -> None:
    model = character_model("c-1 | c0 | c+1 | t-1t0")
    tables = random_tables(model, text, seed)
    decoder = CharacterDecoder(
        model.atoms, ChainDecoder(model.features, model.graph, tables), bmes().begins, lists=lists
    )
    best = np.full((2, len(text) - 1), -np.inf)
    for score, words in decoder.nbest(text, 10_000):
        ends = np.cumsum(list(map(len, words)))
        for place in range(len(text) - 1):
            at = int(place + 1 in ends)
            best[at, place] = max(best[at, place], score)
    expected = best[1] - best[0]
    np.testing.assert_allclose(decoder.margins(text), expected, rtol=1e-9, atol=1e-9)
    if lists is None and len(text) <= 5:
        # At most 16 analyses: those that any decoder looks at.
        np.testing.assert_allclose(TextDecoder.margins(decoder, text), expected, atol=1e-9)


def test_white_space_is_refused() -> None:
    model = character_model("c0")
    chain = ChainDecoder(model.features, model.graph, random_tables(model, "人大", 0))
    decoder = CharacterDecoder(model.atoms, chain, bmes().begins)
    with pytest.raises(ValueError, match="white space"):
        decoder.margins("人 大")
    assert decoder.margins("人").shape == decoder.margins("").shape == (0,)
