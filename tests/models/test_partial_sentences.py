"""Estimators of words and tags on sentences that are annotated in part."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from looped import looped
from made_up_corpora import sentences

from spacy_structreg.corpora.partial_sentence import PartialSentence
from spacy_structreg.learn.learning_settings import Learning, LogLinear
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger, WordJointTagger
from spacy_structreg.models.segmentation import CharacterSegmenter, WordSegmenter
from spacy_structreg.models.tagging import Tagger

SETTINGS = {"epochs": 3, "seed": 1}
SEGMENTERS = [
    lambda: CharacterSegmenter(**SETTINGS),
    lambda: CharacterSegmenter(**SETTINGS, scheme="six", learning=Learning()),
    lambda: CharacterSegmenter(**SETTINGS, learning=LogLinear()),
    lambda: WordSegmenter(**SETTINGS),
    lambda: WordSegmenter(**SETTINGS, by_words=True, update="max_violation"),
]
TAGGERS = [
    lambda: CharacterJointTagger(**SETTINGS, prune=3),
    lambda: WordJointTagger(**SETTINGS),
]


def tagged(words: list[str]) -> list[tuple[str, str]]:
    return [(word, "PU" if word in "。！？……，" else "NV"[ord(word[0]) % 2]) for word in words]


def whole(words: list[str], tags: list[str] | None = None) -> PartialSentence:
    """A sentence all of whose words are known."""
    return PartialSentence.of_words(words, tags)


def hidden(sentence: PartialSentence, seed: int, share: float) -> PartialSentence:
    """A part of what is known of a sentence, at random; tags of words that are known stay."""
    chance = random.Random(seed)
    known = tuple(end if chance.random() < share else None for end in sentence.boundaries)
    n = len(sentence)
    edges = [True, *known, True]
    tags = tuple(
        (begin, end, tag)
        for begin, end, tag in sentence.tags
        if edges[begin] is True
        and edges[end] is True
        and all(edges[i] is False for i in range(begin + 1, end))
        and n
    )
    return PartialSentence(sentence.text, known, tags)


def corpus_of(model: Any, corpus: list[list[str]]) -> tuple[list[Any], list[PartialSentence]]:
    """Gold sentences for a model, and the same as partial ones all of which is known."""
    gold = [tagged(words) for words in corpus]
    if not isinstance(model, (CharacterJointTagger, WordJointTagger)):
        return corpus, [whole(words) for words in corpus]
    return gold, [whole(*map(list, zip(*words, strict=True))) for words in gold]


@looped("make", [*SEGMENTERS, *TAGGERS])
def test_known_words_are_learned_as_whole_sentences(make) -> None:
    one, other = make(), make()
    gold, known = corpus_of(one, sentences(30, seed=1))
    one.fit(gold, gold[:5])
    other.fit(known, gold[:5])
    assert one.to_bytes() == other.to_bytes()


@looped("make", [*SEGMENTERS, *TAGGERS])
def test_models_learn_from_a_part(make) -> None:
    """Most of the decisions are known: the words of unseen sentences come out."""
    model = make()
    model.epochs = 8
    of_tags = hasattr(model, "tags")
    _, known = corpus_of(model, sentences(300, seed=2))
    model.fit([hidden(each, i, 0.8 if of_tags else 0.66) for i, each in enumerate(known)])
    held_out, _ = corpus_of(model, sentences(60, seed=3))
    figures = model.evaluate(held_out).as_dict()
    assert figures["joint_f" if of_tags else "seg_f"] > (0.85 if of_tags else 0.88)


def test_taggers_learn_from_a_part() -> None:
    chance = random.Random(4)
    gold = [tagged(words) for words in sentences(200, seed=2)]
    model = Tagger(**SETTINGS)
    model.fit([[(word, tag if chance.random() < 0.4 else None) for word, tag in s] for s in gold])
    held_out = [tagged(words) for words in sentences(60, seed=3)]
    assert model.evaluate(held_out).as_dict()["tag_acc"] > 0.95


def test_taggers_learn_known_tags_as_whole_sentences() -> None:
    gold = [tagged(words) for words in sentences(30, seed=1)]
    one, other = Tagger(**SETTINGS), Tagger(**SETTINGS)
    one.fit(gold)
    other.fit([whole(*map(list, zip(*words, strict=True))) for words in gold])
    assert one.to_bytes() == other.to_bytes()


def test_what_is_known_is_kept_at_training() -> None:
    """One sentence is learned by heart, as far as it is known."""
    sentence = PartialSentence("上海大学生会", (False, True, None, None, True))
    for make in SEGMENTERS:
        model = make()
        model.epochs = 10
        model.fit([sentence])
        words = model.predict(sentence.text)
        assert words[0] == "上海"
        assert words[-1] == "会"


def test_sentences_are_split_as_texts_are() -> None:
    """What is known of two sentences is learned as of two, and what says nothing not at all."""
    model = CharacterSegmenter(**SETTINGS)
    text = "他走。我来。好不好。"
    known = [None] * 9
    known[0] = known[4] = True
    examples = model._examples(PartialSentence(text, tuple(known)))
    assert [example.text for example in examples] == ["他走。", "我来。"]
    known[2] = False
    examples = model._examples(PartialSentence(text, tuple(known)))
    assert [example.text for example in examples] == ["他走。我来。"]
    one = CharacterSegmenter(**SETTINGS, sentences="doc")
    assert [len(each) for each in one._examples(PartialSentence(text, tuple(known)))] == [10]


def test_pieces_end_where_words_end() -> None:
    gold = sentences(20, seed=5)
    model = WordSegmenter(**SETTINGS)
    model.prepare([])
    for example, words in zip(
        model.compile([hidden(whole(w), 1, 0.5) for w in gold]), gold, strict=False
    ):
        ends = {0}
        for word in words:
            ends.add(max(ends) + len(word))
        assert all(begin < end for begin, end in pairwise(example.units))


@looped("make", [*SEGMENTERS, *TAGGERS])
def test_a_development_corpus_is_whole(make) -> None:
    model = make()
    corpus, _ = corpus_of(model, sentences(10, seed=1))
    partial = PartialSentence("上海大学", (None, True, False))
    with pytest.raises(ValueError, match="sentence 11 of the development corpus: it is annotated"):
        model.fit(corpus, [*corpus, partial])
    model.fit([*corpus, partial])
    with pytest.raises(ValueError, match="sentence 1 of the evaluation corpus"):
        model.evaluate([partial])


def test_a_tagger_needs_words() -> None:
    with pytest.raises(ValueError, match="a tagger needs"):
        Tagger(**SETTINGS).fit([PartialSentence("上海大学", (None, True, False), ((2, 4, "N"),))])


def test_nothing_to_learn_from() -> None:
    with pytest.raises(ValueError, match="nothing in the training corpus"):
        CharacterSegmenter(**SETTINGS).fit([PartialSentence("上海大学", (None, None, None))])


def test_words_whose_tag_is_none_are_known() -> None:
    model = CharacterJointTagger(**SETTINGS)
    model.fit([[("上海", "N"), ("很", None), ("好", "V")]] * 3)
    assert set(model.tags) == {"N", "V"}
    assert [word for word, _ in model.predict_tagged("上海很好")] == ["上海", "很", "好"]
