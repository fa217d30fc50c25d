"""Accuracy of tags against worked examples and plain counting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_structreg.metrics.tagging import score_tagging

Triples = list[tuple[str, str, str]]

triples = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["", "N", "V"]), st.sampled_from("NV")),
    max_size=6,
)


def test_worked_by_hand() -> None:
    gold = [[("他", "PN"), ("学习", "VV"), ("语言学", "NN")], [("好", "VA"), ("！", "PU")]]
    predicted = [["PN", "NN", "NN"], ["VV", "PU"]]
    # Right: 他 语言学 ！. Out of the vocabulary: 学习, 语言学 (right).
    scores = score_tagging(gold, predicted, {"他", "好", "！"})
    assert scores.counts == {"words": 5, "correct": 3, "oov": 2, "oov_correct": 1}
    assert scores.as_dict() == {
        "tag_acc": pytest.approx(3 / 5),
        "oov_tag_acc": pytest.approx(1 / 2),
        "iv_tag_acc": pytest.approx(2 / 3),
    }


def test_figures_without_denominator_are_none() -> None:
    assert set(score_tagging([], [], set()).as_dict().values()) == {None}
    assert set(score_tagging([[("a", "")]], [["N"]], set()).as_dict().values()) == {None}
    scores = score_tagging([[("a", "N")]], [["N"]])
    assert (scores.tag_acc, scores.oov_tag_acc, scores.iv_tag_acc) == (1, None, None)
    scores = score_tagging([[("a", "N")]], [["V"]], {"a"})
    assert (scores.tag_acc, scores.oov_tag_acc, scores.iv_tag_acc) == (0, None, 0)


@given(st.lists(triples, max_size=4), st.sets(st.sampled_from("abc")))
def test_equals_counting(sentences: list[Triples], known: set[str]) -> None:
    gold = [[(word, tag) for word, tag, _ in sentence] for sentence in sentences]
    predicted = ([tag for *_, tag in sentence] for sentence in sentences)
    flat = [triple for sentence in sentences for triple in sentence if triple[1]]
    right = [(word, gold, tag) for word, gold, tag in flat if gold == tag]
    assert score_tagging(gold, predicted, known).counts == {
        "words": len(flat),
        "correct": len(right),
        "oov": sum(word not in known for word, *_ in flat),
        "oov_correct": sum(word not in known for word, *_ in right),
    }
