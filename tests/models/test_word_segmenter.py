"""The word-based segmenter: what it learns, settings, files, averages, seeds and threads."""

from __future__ import annotations

from typing import Any

import pytest
from looped import looped
from made_up_corpora import arrays_of, sentences, text_of

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


def test_white_space_in_gold_is_dropped() -> None:
    spaced = [" ".join(word) for word in [" ", *TRAIN[0], "\u3000"]]
    plain = made().fit([TRAIN[0], TRAIN[1]])
    assert arrays_of(made().fit([spaced, TRAIN[1]])) == arrays_of(plain)


@pytest.mark.parametrize("corpus", [[], [[]], [[" "]], [["大学"], "学生"]], ids=repr)
def test_nothing_to_learn(corpus: Any) -> None:
    with pytest.raises(ValueError, match=r"no word in it|'学生' is not a list"):
        made().fit(corpus)


# Settings -----------------------------------------------------------------------------------------


@looped(
    ("settings", "complaint"),
    [
        ({"beam": 0}, "beam"),
        ({"beam": 2.5}, "beam"),
        ({"max_word_length": 0}, "max_word_length"),
        ({"update": "late"}, "update must be one of early.*, got 'late'"),
        ({"sentences": "line"}, "sentences"),
        ({"types": "g11"}, "g11"),
        ({"templates": "zhang2014"}, "zhang2014"),
        ({"templates": ["tag: c0"], "types": None}, "tag"),
        ({"templates": []}, "empty"),
        ({"epochs": 0}, "epochs"),
        ({"mean": "median"}, "mean"),
        ({"seed": -1}, "seed"),
        ({"learning": Learning(mini_sample=2.0), "patience": 0}, "patience"),
    ],
    ids=str,
)
def test_settings_that_cannot_be(settings: dict[str, Any], complaint: str) -> None:
    if settings == {"templates": []}:
        settings = {"templates": [], "types": None}
    with pytest.raises(ValueError, match=complaint):
        made(**settings)


def test_every_needs_a_beam_of_one() -> None:
    with pytest.raises(ValueError, match="needs beam = 1"):
        made(update="every", beam=4).fit(TRAIN)


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


def test_half_width_forms_look_alike(fitted: WordSegmenter) -> None:
    lengths = [list(map(len, fitted.predict(text))) for text in ("在２０２４年", "在2024年")]
    assert lengths[0] == lengths[1]


# Prediction ---------------------------------------------------------------------------------------


def test_no_text(fitted: WordSegmenter) -> None:
    for text in ("", " \n"):
        assert fitted.predict(text) == []
        assert fitted.predict_spans(text).shape == (0, 2)
        assert fitted.nbest(text, 2) == [(0.0, [])]
