"""The word-based segmenter: limits of its search."""

from __future__ import annotations

from typing import Any

import pytest
from made_up_corpora import sentences, text_of

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.guided import GuidedSegmenter
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter

PLAIN = Learning()
TRAIN = sentences(80, seed=11)
DEV = sentences(30, seed=12)
TEXTS = [text_of(words) for words in DEV]


def made(**settings: Any) -> WordSegmenter:
    return WordSegmenter(**{"epochs": 2, "beam": 4, "learning": PLAIN, **settings})


@pytest.fixture(scope="module")
def fitted() -> WordSegmenter:
    """A trained segmenter; tests that change weights take their own."""
    return made().fit(TRAIN)


# Learning -----------------------------------------------------------------------------------------


def test_without_a_limit_long_sentences_are_learned() -> None:
    """There are 2^39 segmentations; those that no later score can tell apart are one state."""
    long = [["大学", "生活"] * 10]
    segmenter = made(beam=None, epochs=3, sentences="doc", types=None).fit(long)
    assert segmenter.predict(text_of(long[0])) == long[0]


# Settings -----------------------------------------------------------------------------------------


def test_states_merge_where_that_is_worth_its_time(fitted: WordSegmenter) -> None:
    guide = CharacterSegmenter(epochs=1).fit(TRAIN)
    exact = made(beam=None, max_word_length=3, epochs=1).fit(TRAIN[:10])
    for model, merges in (
        (fitted, False),
        (exact, True),
        (GuidedSegmenter(guide, fitted), True),
        (GuidedSegmenter(guide, made(merge=False).fit(TRAIN[:10])), False),
        (made(merge=True).fit(TRAIN[:10]), True),
    ):
        with model._decoders().borrow() as decoder:
            assert decoder.agenda.merge is merges


def test_no_word_is_longer_than_allowed() -> None:
    segmenter = made(max_word_length=2).fit(TRAIN)
    for text in TEXTS:
        words = segmenter.predict(text)
        assert "".join(words) == text
        assert max(map(len, words)) <= 2
