"""Keywords of words as strings: against jieba, scipy and what can be counted by hand."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import jieba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from spacy_structreg.models.keywords import (
    KeywordCounts,
    background_idf,
    compare_counts,
    count_neighbors,
    idf_table,
    log_likelihood,
    text_rank,
    tf_idf,
)

TEXT = (
    "线性回归是一种统计方法。统计学家用线性回归研究变量之间的关系。回归系数由最小二乘法估计，"
    "最小二乘法使残差平方和最小。图书馆有许多统计方法的书。"
)
WORDS = st.lists(st.sampled_from([*"abcdef", None]), max_size=30)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_tf_idf_is_that_of_jieba() -> None:
    import jieba.analyse  # which leaves a file open

    jieba.setLogLevel("ERROR")
    idf, default = jieba.analyse.default_tfidf.idf_loader.get_idf()
    expected = jieba.analyse.extract_tags(TEXT, topK=None, withWeight=True)
    words = [word for word in jieba.cut(TEXT) if len(word.strip()) > 1]
    found = tf_idf(Counter(words), lambda word: idf.get(word, default))
    assert found == pytest.approx(dict(expected))


@given(WORDS, st.integers(2, 6))
def test_text_rank_solves_its_equations(words: list[str | None], span: int) -> None:
    pairs = count_neighbors(words, span)
    assert pairs == Counter(
        (words[i], words[j])
        for i in range(len(words))
        for j in range(i + 1, min(i + span, len(words)))
        if words[i] is not None and words[j] is not None
    )
    found = text_rank(pairs)
    if not pairs:
        assert found == {}
        return
    assert max(found.values()) == 1
    ranks = solved(pairs)
    low = min(ranks.values()) / 10
    high = max(ranks.values())
    assert found == pytest.approx(
        {word: (rank - low) / (high - low) for word, rank in ranks.items()}, abs=1e-4
    )


def solved(pairs: Counter[tuple[str, str]]) -> dict[str, float]:
    """Ranks as the solution of linear equations."""
    names = sorted({word for pair in pairs for word in pair})
    weights = np.zeros((len(names), len(names)))
    for (first, second), weight in pairs.items():
        weights[names.index(first), names.index(second)] += weight
        weights[names.index(second), names.index(first)] += weight
    shares = weights / weights.sum(axis=1, keepdims=True)
    ranks = np.linalg.solve(np.eye(len(names)) - 0.85 * shares.T, np.full(len(names), 0.15))
    return dict(zip(names, ranks.tolist(), strict=True))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_text_rank_is_nearly_that_of_jieba() -> None:
    """Ten passes alone are made."""
    from jieba.analyse import textrank

    words = [
        pair.word if pair.flag in ("ns", "n", "vn", "v") and len(pair.word) > 1 else None
        for pair in jieba.posseg.dt.cut(TEXT)
    ]
    expected = textrank(TEXT, topK=None, withWeight=True)
    assert text_rank(count_neighbors(words)) == pytest.approx(dict(expected), abs=0.02)


def test_words_without_neighbors_have_the_lowest_rank() -> None:
    assert text_rank({}, ["只"]) == {"只": 1.0}
    ranks = text_rank({("甲", "乙"): 1}, ["丙"])
    assert ranks["丙"] < ranks["甲"] == ranks["乙"] == 1


def test_the_background_knows_both_scripts() -> None:
    table = idf_table()
    assert len(table) > 50_000
    assert background_idf("的") < 0.1 < background_idf("图书馆") < background_idf("溴化银")
    assert background_idf("圖書館") == pytest.approx(background_idf("图书馆"), abs=2)
    assert background_idf("没有这个词的") == max(table.values())
    assert background_idf("LiNuX") == background_idf("linux")
    assert all(math.isfinite(idf) and idf >= 0 for idf in table.values())


def test_phrases_take_the_place_of_their_words() -> None:
    counts = KeywordCounts()
    for _ in range(3):
        counts.add(["线性", "回归", None, "图书馆"])
        counts.propose(["线性", "回归", "图书馆"], [(["线性", "回归"], "线性回归")])
    counts.add(["图书馆"])
    idf = background_idf("线性") + background_idf("回归")
    assert counts.best(5) == [
        ("线性回归", pytest.approx(3 / 10 * idf / math.sqrt(2))),
        ("图书馆", pytest.approx(4 / 10 * background_idf("图书馆"))),
    ]
    # By itself as well, a word stays.
    counts.add(["回归"])
    assert [word for word, _ in counts.best(5)] == ["线性回归", "回归", "图书馆"]
    assert len(counts.best(1)) == 1


@pytest.mark.parametrize("method", ["tfidf", "textrank"])
def test_parts_of_a_text_make_the_whole(method: Any) -> None:
    sentences = [["统计", "方法", None], ["统计", "学家"], ["方法"]]
    counts, whole = KeywordCounts(method), Counter(w for words in sentences for w in words if w)
    for words in sentences:
        counts.add(words)
    counts.propose(whole)
    found = dict(counts.best(9))
    if method == "tfidf":
        assert found == pytest.approx(tf_idf(whole))
    else:
        assert found == text_rank({("统计", "方法"): 1, ("统计", "学家"): 1})
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert KeywordCounts(method).best(3) == []


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=8),
    st.integers(1, 200),
    st.integers(1, 200),
)
def test_log_likelihood_is_that_of_scipy(
    counts: list[tuple[int, int]], more: int, other_more: int
) -> None:
    first, second = (np.array(each) for each in zip(*counts, strict=True))
    total, other = int(first.sum()) + more, int(second.sum()) + other_more
    found = log_likelihood(first, total, second, other)
    for (a, b), ratio in zip(counts, found.tolist(), strict=True):
        if a + b == 0:
            assert ratio == 0
            continue
        table = [[a, b], [total - a, other - b]]
        expected = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
        assert abs(ratio) == pytest.approx(expected, abs=1e-8)
        assert ratio == 0 or (ratio > 0) == (a / total >= b / other)


def test_words_of_one_corpus_against_another() -> None:
    found = compare_counts({"法院": 20, "的": 50, "人": 5}, {"的": 51, "人": 30, "看": 10})
    assert [(each.word, each.n, each.n_other) for each in found] == [
        ("法院", 20, 0),
        ("的", 50, 51),
    ]
    assert found[0].log_likelihood > 10.83 > found[1].log_likelihood > 0
    assert compare_counts({"法院": 20, "的": 50}, {"的": 51}, 1)[0].word == "法院"
    with pytest.raises(ValueError, match="nothing to compare"):
        compare_counts({}, {"的": 1})
