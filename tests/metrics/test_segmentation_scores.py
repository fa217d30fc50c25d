"""Segmentation figures against worked examples and against sets of spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.metrics.segmentation import (
    count_crossed,
    score_segmentation,
)

Sentences = list[list[str]]


def cut(text: str, cuts: list[bool]) -> list[str]:
    words, word = [], ""
    for character, after in zip(text, cuts, strict=True):
        word += character
        if after:
            words.append(word)
            word = ""
    return words + [word] * bool(word)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    text = draw(st.text("ab", max_size=8))
    cuts = st.lists(st.booleans(), min_size=len(text), max_size=len(text))
    return cut(text, draw(cuts)), cut(text, draw(cuts))


def spans(words: list[str]) -> set[tuple[int, int]]:
    return {(len("".join(words[:i])), len("".join(words[: i + 1]))) for i in range(len(words))}


def test_worked_by_hand() -> None:
    gold = [["我们", "在", "北京大学", "学习"], ["好", "！"]]
    predicted = [["我们", "在", "北京", "大学", "学习"], ["好", "！"]]
    # Correct: 我们 在 学习 好 ！ = 5 of 6 gold and 7 predicted words.
    # Out of the vocabulary: 北京大学, 学习 (found), ！ (found).
    scores = score_segmentation(gold, predicted, {"我们", "在", "好", "北京", "大学"})
    assert scores.counts == {"gold": 6, "predicted": 7, "correct": 5, "oov": 3, "oov_correct": 2}
    assert scores.as_dict() == {
        "seg_p": pytest.approx(5 / 7),
        "seg_r": pytest.approx(5 / 6),
        "seg_f": pytest.approx(10 / 13),
        "oov_rate": pytest.approx(3 / 6),
        "oov_r": pytest.approx(2 / 3),
        "iv_r": pytest.approx(3 / 3),
    }
    assert list(scores.as_dict()) == ["seg_p", "seg_r", "seg_f", "oov_rate", "oov_r", "iv_r"]


def test_figures_without_denominator_are_none() -> None:
    assert set(score_segmentation([[]], [[]], {"a"}).as_dict().values()) == {None}
    without = score_segmentation([["a"]], [["a"]])
    assert (without.seg_f, without.oov_rate, without.oov_r, without.iv_r) == (1, None, None, None)
    known = score_segmentation([["a"]], [["a"]], {"a"})
    assert (known.oov_rate, known.oov_r, known.iv_r) == (0, None, 1)
    unknown = score_segmentation([["a"]], [["a"]], set())
    assert (unknown.oov_rate, unknown.oov_r, unknown.iv_r) == (1, 1, None)


def test_no_word_right_is_zero() -> None:
    scores = score_segmentation([["ab"]], [["a", "b"]], {"ab"})
    assert (scores.seg_p, scores.seg_r, scores.seg_f, scores.iv_r) == (0, 0, 0, 0)


@given(st.lists(pairs(), max_size=5), st.sets(st.text("ab", min_size=1, max_size=2)))
def test_equals_sets_of_spans(
    sentences: list[tuple[list[str], list[str]]], known: set[str]
) -> None:
    gold = [
        (index, span, "".join(words)[slice(*span)])
        for index, (words, _) in enumerate(sentences)
        for span in spans(words)
    ]
    predicted = {
        (index, span) for index, (_, words) in enumerate(sentences) for span in spans(words)
    }
    right = [word for index, span, word in gold if (index, span) in predicted]
    scores = score_segmentation([g for g, _ in sentences], (p for _, p in sentences), known)
    assert scores.counts == {
        "gold": len(gold),
        "predicted": len(predicted),
        "correct": len(right),
        "oov": sum(word not in known for _, _, word in gold),
        "oov_correct": sum(word not in known for word in right),
    }
    if right:
        p, r = len(right) / len(predicted), len(right) / len(gold)
        assert scores.seg_f == pytest.approx(2 * p * r / (p + r))
        in_vocabulary = [word for _, _, word in gold if word in known]
        if in_vocabulary:
            found = sum(word in known for word in right)
            assert scores.iv_r == pytest.approx(found / len(in_vocabulary))


@given(pairs())
def test_crossed_words(sentence: tuple[list[str], list[str]]) -> None:
    gold, predicted = map(spans, sentence)
    crossed = {
        (begin, end)
        for begin, end in gold
        for first, last in predicted
        if begin < first < end < last or first < begin < last < end
    }
    assert count_crossed(*sentence) == len(crossed)
