"""Character models trained as conditional random fields, by a setting; others cannot be."""

from __future__ import annotations

from typing import Any

import pytest
from made_up_corpora import f_score, sentences

from spacy_structreg.learn.learning_settings import LogLinear
from spacy_structreg.models.constituents import ConstituencyParser
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.tagging import Tagger

TRAIN, DEV = sentences(150, seed=1), sentences(60, seed=2)
TEXTS = ["".join(words) for words in DEV]


def tagged(corpus: list[list[str]]) -> list[list[tuple[str, str]]]:
    """The length of a word as its tag."""
    return [[(word, str(min(len(word), 3))) for word in words] for words in corpus]


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


def test_a_joint_tagger_learns() -> None:
    model = CharacterJointTagger(learning=LogLinear(), epochs=8).fit(tagged(TRAIN))
    scores = model.evaluate(tagged(DEV)).as_dict()
    assert scores["joint_f"] is not None
    assert scores["joint_f"] > 0.9
    again = CharacterJointTagger.from_bytes(model.to_bytes())
    assert again.learning == LogLinear()
    assert list(again.predict_tagged_stream(TEXTS)) == list(model.predict_tagged_stream(TEXTS))


@pytest.mark.parametrize(
    "cls", [ConstituencyParser, DependencyParser, Tagger, WordJointTagger, WordSegmenter]
)
def test_others_are_not_trained_so(cls: Any) -> None:
    with pytest.raises(ValueError, match=r"learning must be Learning.*, got LogLinear.*"):
        cls(learning=LogLinear())
