"""Character models trained as conditional random fields, by a setting; others cannot be."""

from __future__ import annotations

import pytest
from made_up_corpora import f_score, sentences

from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.models.segmentation import CharacterSegmenter

TRAIN, DEV = sentences(150, seed=1), sentences(60, seed=2)


@pytest.mark.parametrize(
    ("learning", "scheme"),
    [
        (LogLinear(), "bmes"),
        (LogLinear(), "six"),
        (LogLinear(optimizer="lbfgs"), "bmes"),
        (LogLinear(mini_sample=5.0), "six"),
        (LogLinear(l1=0.05, l2=0.0), "bmes"),
        (LogLinear(noise="dropout", noise_level=0.1), "six"),
    ],
)
def test_a_segmenter_learns(learning: LogLinear, scheme: str) -> None:
    segmenter = CharacterSegmenter(learning=learning, scheme=scheme, epochs=30).fit(TRAIN)
    assert f_score(segmenter, DEV) > 0.94
    assert segmenter.evaluate(DEV).seg_f == pytest.approx(f_score(segmenter, DEV))
