"""Analyses of one model, ranked again by another: against the plainest way to do it."""

from __future__ import annotations

import random

import pytest
from looped import looped
from made_up_corpora import sentences

from spacy_structreg.models.joint.joint_reranker import JointReranker
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger

Tagged = list[tuple[str, str]]


def tagged_sentences(n: int, seed: int) -> list[Tagged]:
    chance = random.Random(seed)
    return [
        [(word, "M" if ord(word[0]) % 3 else chance.choice("NV")) for word in words]
        for words in sentences(n, seed)
    ]


def text_of(sentence: Tagged) -> str:
    return "".join(word for word, _ in sentence)


def score_of_words(model: WordJointTagger, sentence: Tagged) -> float:
    """What the model of words says of an analysis, action by action."""
    actions = [
        1 + model.labels.index(tag) if i == 0 else 0
        for word, tag in sentence
        for i in range(len(word))
    ]
    with model._decoders().borrow() as decoder:
        decoder.system.load_text(text_of(sentence))
        return float(decoder.agenda.score([*actions, 1 + len(model.labels)]))


@pytest.fixture(scope="module")
def corpus() -> list[Tagged]:
    return tagged_sentences(80, seed=1)


@pytest.fixture(scope="module")
def model(corpus: list[Tagged]) -> JointReranker:
    return JointReranker(
        CharacterJointTagger(epochs=2), WordJointTagger(epochs=2, beam=4), n_best=8
    ).fit(corpus)


@looped("weight", [0.0, 0.5, 4.0])
@looped("n_best", [1, 3, 30])
def test_the_best_sum_of_scores_wins(model: JointReranker, weight: float, n_best: int) -> None:
    both = JointReranker(model.characters, model.words, weight=weight, n_best=n_best)
    n_changed = 0
    for sentence in tagged_sentences(25, seed=3):
        text = text_of(sentence)
        listed = model.characters.nbest(text, n_best)
        # Sentences within a text are ranked apart.
        if len(model.characters.sentence_ends(text)) > 1:
            continue
        ranked = sorted(
            ((weight * score + score_of_words(model.words, each), each) for score, each in listed),
            key=lambda pair: -pair[0],
        )
        assert both.predict_tagged(text) == ranked[0][1]
        n_changed += ranked[0][1] != listed[0][1]
        found = both.nbest(text, n_best)
        assert [score for score, _ in found] == pytest.approx([score for score, _ in ranked])
        assert both.nbest(text, 1) == found[:1]
    assert (n_changed > 0) == (n_best > 1)


def test_the_weight_is_tuned_on_development_sentences(
    model: JointReranker, corpus: list[Tagged]
) -> None:
    dev = tagged_sentences(40, seed=6)
    tuned = JointReranker(model.characters, model.words)
    assert tuned.tuned_weight == JointReranker.DEFAULT_WEIGHT
    chosen = tuned.tune(dev)
    assert tuned.tuned_weight == chosen
    best = tuned.evaluate(dev).joint_f
    for weight in (0.25, 1.0, 16.0):
        other = JointReranker(model.characters, model.words, weight=weight)
        assert (other.evaluate(dev).joint_f or 0) <= (best or 0)
    assert JointReranker(model.characters, model.words, weight=3.0).tune(dev) == 3.0


def test_models_of_other_tags(model: JointReranker) -> None:
    other = WordJointTagger(epochs=1).fit([[("大学", "X"), ("生活", "Y")]])
    with pytest.raises(ValueError, match="different tags"):
        JointReranker(model.characters, other).predict("大学")
