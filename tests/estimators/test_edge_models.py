"""Models of characters with rich edge features: trained, stored, frozen, explained, corrected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_corpora import sentences

from spacy_structreg.estimators.guided import GuidedSegmenter
from spacy_structreg.estimators.joint.character_joint_tagger import CharacterJointTagger
from spacy_structreg.estimators.joint.joint_reranker import JointReranker
from spacy_structreg.estimators.joint.word_joint_tagger import WordJointTagger
from spacy_structreg.estimators.segmentation.character_segmenter import CharacterSegmenter
from spacy_structreg.learn.learning_settings import Learning, LogLinear

TRAIN = sentences(60, seed=21)
TEXTS = ["".join(words) for words in sentences(20, seed=22)]
TAGGED = [[(word, "ABC"[min(len(word), 3) - 1]) for word in words] for words in TRAIN]
# Alone, neither a character nor a pair of labels says which characters go together.
EDGES = "c0 | t-1t0c-1c0"


@pytest.fixture(scope="module")
def segmenter() -> CharacterSegmenter:
    return CharacterSegmenter(
        epochs=3, learning=Learning(mini_sample=5.5), templates="sun2014"
    ).fit(TRAIN)


@pytest.mark.parametrize("learning", [Learning(dropout=0.01), Learning("pa"), LogLinear(l2=0.001)])
def test_what_edges_alone_can_say_is_learned(learning: Any) -> None:
    """Of four characters, each says nothing, nor does a pair of labels: only two characters do."""
    gold = [["甲乙"], ["丙丁"], ["甲", "丁"], ["丙", "乙"]] * 4
    for templates, learned in (("c0 | t-1t0", False), ("c0 | t-1t0c-1c0", True)):
        model = CharacterSegmenter(
            templates=templates, types=None, epochs=30, learning=learning, sentences="doc"
        ).fit(gold)
        assert all(model.predict("".join(words)) == words for words in gold) == learned


def test_files_have_all_weights(segmenter: CharacterSegmenter, tmp_path: Path) -> None:
    path = tmp_path / "model.srt"
    segmenter.save(path)
    loaded = CharacterSegmenter.load(path)
    for text in TEXTS:
        assert loaded.nbest(text, 5) == segmenter.nbest(text, 5)


@pytest.mark.parametrize("bits", [32, 16])
def test_a_frozen_model_has_the_same_scores(segmenter: CharacterSegmenter, bits: Any) -> None:
    frozen = segmenter.freeze(bits=bits)
    tolerance = 1e-6 if bits == 32 else 0.05
    for text in TEXTS:
        scores = [model.nbest(text, 1)[0][0] for model in (frozen, segmenter)]
        assert scores[0] == pytest.approx(scores[1], abs=tolerance)


def test_explanations_add_up(segmenter: CharacterSegmenter) -> None:
    text = TEXTS[0]
    found = segmenter.explain(text)
    parts = [each for one in found.decisions for each in one.contributions]
    assert sum(each.score for each in parts) == pytest.approx(segmenter.nbest(text, 1)[0][0])
    # Two labels, and the two characters that they are of.
    edges = [each.value.split() for each in parts if each.template == "t-1t0c-1c0"]
    assert edges
    assert all(first + second in text for *_, first, second in edges)
    for one in found.decisions:
        if one.runner_up is not None:
            assert sum(each.score for each in one.differences) == pytest.approx(one.margin)


def test_averages_unite_the_features_of_both(segmenter: CharacterSegmenter) -> None:
    other = CharacterSegmenter(epochs=3, seed=1, learning=Learning(), templates="sun2014")
    other.fit(sentences(60, seed=23))
    both = CharacterSegmenter.average([segmenter, other], mean="plain")
    text = TEXTS[1]
    words = both.predict(text)
    # The score of one analysis is the mean of those that both give it.
    listed = [both.nbest(text, 400), segmenter.nbest(text, 4000), other.nbest(text, 4000)]
    of_words = [{tuple(found): score for score, found in each} for each in listed]
    mean = np.mean([each[tuple(words)] for each in of_words[1:]])
    assert of_words[0][tuple(words)] == pytest.approx(mean, abs=1e-5)


def test_corrections(segmenter: CharacterSegmenter) -> None:
    model = CharacterSegmenter.from_bytes(segmenter.to_bytes())
    wrong = [["学生", "会", "去", "上", "海边", "。"]]
    assert model.predict("".join(wrong[0])) != wrong[0]
    assert model.correct(wrong, sample=TRAIN[:20]).n_corrected == 1
    assert model.predict("".join(wrong[0])) == wrong[0]


def test_joint_models() -> None:
    characters = CharacterJointTagger(epochs=4, learning=Learning(), templates="c0 | t-1t0c-1c0")
    characters.fit(TAGGED)
    assert (
        sum(
            characters.predict_tagged("".join(words)) == gold
            for words, gold in zip(TRAIN, TAGGED, strict=True)
        )
        > 50
    )
    text = TEXTS[0]
    found = characters.explain(text)
    parts = [each.score for one in found.decisions for each in one.contributions]
    ((score, best),) = characters.nbest(text, 1)
    assert sum(parts) == pytest.approx(score)
    reranker = JointReranker(characters=characters, words=WordJointTagger(epochs=1), weight=1e6)
    reranker.words.fit(TAGGED[:20])
    assert reranker.predict_tagged(text) == best


def test_guides_are_refused_before_anything_is_trained() -> None:
    with pytest.raises(ValueError, match="leave out templates such as 't-1t0c0'"):
        GuidedSegmenter(characters=CharacterSegmenter(templates="sun2014"))


def test_labels_of_many_tags_are_refused() -> None:
    many = [[("字", f"T{number}")] for number in range(70)]
    model = CharacterJointTagger(epochs=1, templates="c0 | t-1t0c0")
    with pytest.raises(ValueError, match="280 labels have too many"):
        model.fit(many)
