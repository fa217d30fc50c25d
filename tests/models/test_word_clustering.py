"""Classes of words by their vectors and contexts."""

from __future__ import annotations

import random
import sys
from collections import Counter

import numpy as np
import pytest

from spacy_structreg.models.word_clustering import (
    _paths,
    cluster_counted_words,
    cluster_vectors,
    cluster_words,
    count_contexts,
    count_words,
    frequent_words,
)


def test_paths_of_a_tree_worked_by_hand() -> None:
    # Leaves 0 and 2 are merged to 4, 1 and 3 to 5, and these two to the root.
    tree = np.array([[0, 2, 1.0, 2], [1, 3, 2.0, 2], [4, 5, 3.0, 4]])
    assert _paths(tree, 4) == ["00", "10", "01", "11"]
    # A chain: 3 joins last.
    tree = np.array([[0, 1, 1.0, 2], [2, 4, 2.0, 3], [3, 5, 3.0, 4]])
    assert _paths(tree, 4) == ["110", "111", "10", "0"]
    assert _paths(np.zeros((0, 4)), 1) == ["0"]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(ImportError, match=r"spacy_structreg\[classes\]"):
        cluster_words([["a"]])


@pytest.mark.slow
def test_directions_that_are_close_are_of_one_class() -> None:
    pytest.importorskip("gensim.models")
    pytest.importorskip("sklearn.cluster")
    drawn = np.random.default_rng(0)
    centers = np.eye(4)
    vectors = np.repeat(centers, 25, axis=0) * drawn.uniform(1, 9, (100, 1))
    vectors += drawn.normal(0, 0.05, vectors.shape)
    words = [f"w{i}" for i in range(100)]
    rows = cluster_vectors(words, vectors, 4, counts=list(range(100)))
    assert [(row[0], -row[2]) for row in rows] == sorted((row[0], -row[2]) for row in rows)
    of_word = {word: path for path, word, _ in rows}
    paths = {of_word[f"w{25 * i}"] for i in range(4)}
    assert len(paths) == 4
    assert all(of_word[f"w{i}"] == of_word[f"w{25 * (i // 25)}"] for i in range(100))
    # No path is the beginning of another one.
    assert not any(a != b and b.startswith(a) for a in paths for b in paths)
    with pytest.raises(ValueError, match="100 words are frequent enough, too few for 101"):
        cluster_vectors(words, vectors, 101)
    with pytest.raises(ValueError, match="choose 2 to"):
        cluster_vectors(words, vectors, 1)
    vectors[3, 1] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        cluster_vectors(words, vectors, 4)


@pytest.mark.slow
def test_words_of_one_place_are_of_one_class() -> None:
    pytest.importorskip("gensim.models")
    pytest.importorskip("sklearn.cluster")
    draw = random.Random(0)
    names, verbs = [f"n{i}" for i in range(8)], [f"v{i}" for i in range(8)]
    sentences = [
        ["the", draw.choice(names), draw.choice(verbs), "a", draw.choice(names), "."]
        for _ in range(2000)
    ]
    settings = {"dimensions": 10, "window": 1, "epochs": 30}
    rows = cluster_words(sentences, 5, **settings)
    assert rows == cluster_words(iter_again(sentences), 5, **settings)
    of_word = {word: path for path, word, _ in rows}
    assert {count for _, word, count in rows if word == "the"} == {2000}
    assert not {of_word[name] for name in names} & {of_word[verb] for verb in verbs}


class iter_again:  # noqa: N801
    """What can be gone through several times, but is no list."""

    def __init__(self, sentences: list[list[str]]) -> None:
        self._sentences = sentences

    def __iter__(self) -> object:
        return iter(self._sentences)


def test_contexts_equal_those_counted_one_by_one() -> None:
    pytest.importorskip("scipy")
    draw = random.Random(1)
    sentences = [[draw.choice("abcdef") for _ in range(draw.randrange(9))] for _ in range(99)]
    counts = count_words(sentences)
    assert counts == Counter(word for sentence in sentences for word in sentence)
    words = frequent_words(counts, sorted(counts.values())[1])
    assert len(words) == 5
    found = count_contexts(sentences, words, 2, 3).toarray()
    expected = np.zeros((5, 2 * 2 * 3), np.int64)
    # A column for each place, in the order of the docstring, and each of the contexts.
    for sentence in sentences:
        for at, word in enumerate(sentence):
            for place, offset in enumerate((-1, 1, -2, 2)):
                other = at + offset
                if word in words and 0 <= other < len(sentence) and sentence[other] in words[:3]:
                    expected[words.index(word), 3 * place + words.index(sentence[other])] += 1
    assert found.tolist() == expected.tolist()


@pytest.mark.slow
def test_words_that_are_counted_beside_the_same_are_of_one_class() -> None:
    pytest.importorskip("sklearn.cluster")
    draw = random.Random(2)
    sentences = [
        [f"{kind}{draw.randrange(10)}" for kind in "abc" * draw.randrange(1, 4)]
        for _ in range(2000)
    ]
    rows = cluster_counted_words(sentences, 3, dimensions=3)
    assert sum(count for _, _, count in rows) == sum(map(len, sentences))
    kinds = {kind: {path for path, word, _ in rows if word[0] == kind} for kind in "abc"}
    assert all(len(paths) == 1 for paths in kinds.values())
    assert len(set.union(*kinds.values())) == 3
    with pytest.raises(ValueError, match="30 words are frequent enough, too few for 31"):
        cluster_counted_words(sentences, 31)
