"""Joint figures against worked examples and against sets of tagged spans."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.metrics.joint import score_joint
from spacy_structreg.metrics.segmentation import score_segmentation

Pairs = list[tuple[str, str]]

KEYS = [
    *("seg_p", "seg_r", "seg_f", "oov_rate", "oov_r", "iv_r"),
    *("joint_p", "joint_r", "joint_f", "joint_char_acc"),
]


@st.composite
def sentence_pairs(draw: st.DrawFn) -> tuple[Pairs, Pairs]:
    """Two tagged segmentations of one text."""
    text = draw(st.text("ab", max_size=8))

    def tagged() -> Pairs:
        cuts = [i for i in range(1, len(text)) if draw(st.booleans())]
        bounds = [0, *cuts, len(text)] if text else [0]
        words = [text[a:b] for a, b in pairwise(bounds)]
        return [(word, draw(st.sampled_from("NV"))) for word in words]

    return tagged(), tagged()


def tagged_spans(pairs: Pairs) -> set[tuple[int, int, str]]:
    words = [word for word, _ in pairs]
    return {
        (len("".join(words[:i])), len("".join(words[: i + 1])), tag)
        for i, (_, tag) in enumerate(pairs)
    }


def test_worked_by_hand() -> None:
    gold = [[("他", "PN"), ("学习", "VV"), ("语言学", "NN")], [("好", "VA"), ("！", "PU")]]
    predicted = [
        [("他", "PN"), ("学习", "NN"), ("语言", "NN"), ("学", "VV")],
        [("好", "VA"), ("！", "PU")],
    ]
    # Segmented right: 他 学习 好 ！, with their tags: all but 学习. 5 gold, 6 predicted words.
    # Out of the vocabulary: 学习 (found), 语言学.
    # Of 8 characters, 他 语 言 好 ！ have the right tag.
    scores = score_joint(gold, predicted, {"他", "好", "！"})
    assert scores.counts == {
        "gold": 5,
        "predicted": 6,
        "correct": 4,
        "oov": 2,
        "oov_correct": 1,
        "joint_gold": 5,
        "joint_predicted": 6,
        "joint_correct": 3,
        "joint_characters": 8,
        "joint_correct_characters": 5,
        "left_out": 0,
    }
    assert scores.as_dict() == {
        "seg_p": pytest.approx(4 / 6),
        "seg_r": pytest.approx(4 / 5),
        "seg_f": pytest.approx(8 / 11),
        "oov_rate": pytest.approx(2 / 5),
        "oov_r": pytest.approx(1 / 2),
        "iv_r": pytest.approx(3 / 3),
        "joint_p": pytest.approx(3 / 6),
        "joint_r": pytest.approx(3 / 5),
        "joint_f": pytest.approx(6 / 11),
        "joint_char_acc": pytest.approx(5 / 8),
    }
    assert list(scores.as_dict()) == KEYS


def test_figures_without_denominator_are_none() -> None:
    assert score_joint([[]], [[]], {"a"}).as_dict() == dict.fromkeys(KEYS)
    without = score_joint([[("a", "N")]], [[("a", "N")]])
    assert (without.oov_rate, without.oov_r, without.iv_r) == (None, None, None)
    assert (without.joint_p, without.joint_r, without.joint_f) == (1, 1, 1)


def test_a_predicted_word_without_tag_is_wrong_but_segmented() -> None:
    scores = score_joint([[("a", "N")]], [[("a", "")]])
    assert (scores.seg_f, scores.joint_f) == (1, 0)


def test_sentences_with_a_word_without_gold_tag_count_for_words_alone() -> None:
    gold = [[("a", "N"), ("b", "")], [("ab", "N")]]
    scores = score_joint(gold, [[("a", "N"), ("b", "N")], [("ab", "N")]])
    assert (scores.gold, scores.predicted, scores.correct) == (3, 3, 3)
    assert (scores.joint_gold, scores.joint_predicted, scores.joint_correct) == (1, 1, 1)
    assert (scores.joint_f, scores.joint_char_acc, scores.left_out) == (1.0, 1.0, 1)
    assert scores.joint_characters == 2


@given(st.lists(sentence_pairs(), max_size=4), st.sets(st.text("ab", min_size=1, max_size=2)))
def test_equals_sets_of_spans(sentences: list[tuple[Pairs, Pairs]], known: set[str]) -> None:
    scores = score_joint((g for g, _ in sentences), [p for _, p in sentences], known)
    right = sum(len(tagged_spans(g) & tagged_spans(p)) for g, p in sentences)
    n_gold, n_predicted = (sum(len(pair[side]) for pair in sentences) for side in (0, 1))
    assert scores.joint_correct == right
    if right:
        p, r = right / n_predicted, right / n_gold
        assert scores.joint_p == pytest.approx(p)
        assert scores.joint_r == pytest.approx(r)
        assert scores.joint_f == pytest.approx(2 * p * r / (p + r))

    def tag_at(pairs: Pairs, place: int) -> str:
        return next(tag for start, end, tag in tagged_spans(pairs) if start <= place < end)

    places = [(g, p, i) for g, p in sentences for i in range(len("".join(word for word, _ in g)))]
    alike = sum(tag_at(g, i) == tag_at(p, i) for g, p, i in places)
    assert scores.joint_char_acc == (alike / len(places) if places else None)
    words = [[[word for word, _ in pairs] for pairs in sides] for sides in sentences]
    segmentation = score_segmentation([g for g, _ in words], [p for _, p in words], known)
    assert {key: scores.as_dict()[key] for key in KEYS[:6]} == segmentation.as_dict()
