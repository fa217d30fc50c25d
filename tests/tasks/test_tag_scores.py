"""Scores of tags at characters: against the best of all analyses of short texts."""

from __future__ import annotations

import numpy as np
import pytest
from looped import looped

from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger
from spacy_structreg.tasks.segmentation.text import TextDecoder

GOLD = [
    [("人大", "NN"), ("人", "NN"), ("大", "JJ")],
    [("大", "JJ"), ("人", "NN")],
    [("大人", "NN"), ("大", "VV"), ("人大", "NN")],
]


@looped("text", ["人", "大人", "人大人", "大人大"])
def test_scores_of_tags_are_those_of_the_best_analyses(text: str) -> None:
    model = CharacterJointTagger(seed=1, epochs=2).fit(GOLD)
    ((sentence, scores),) = next(model.predict_tag_scores([text]))
    expected = np.full((len(text), len(model.tags)), -np.inf)
    for score, pairs in model.nbest(text, 100_000):
        at = 0
        for word, tag in pairs:
            for _ in word:
                number = model.tags.index(tag)
                expected[at, number] = max(expected[at, number], score)
                at += 1
    assert sentence == text
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
    # Other decoders know of the best 16 alone; where these hold a tag, they agree.
    with model._decoders().borrow() as decoder:
        few = TextDecoder.tag_scores(decoder, text)
    known = np.isfinite(few)
    assert known.any()
    np.testing.assert_allclose(few[known], expected[known], atol=1e-9)


def test_no_text_and_white_space() -> None:
    model = CharacterJointTagger(seed=1, epochs=2).fit(GOLD)
    assert next(model.predict_tag_scores([""])) == []
    ((sentence, scores),) = next(model.predict_tag_scores(["大 人"]))
    assert (sentence, scores.shape) == ("大人", (2, len(model.tags)))
    with model._decoders().borrow() as decoder, pytest.raises(ValueError, match="white space"):
        decoder.tag_scores("大 人")
