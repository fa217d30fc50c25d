"""Keywords of texts by TF-IDF or TextRank, and words that one corpus has more of than another.

Everything here works on words as strings, without spaCy. `background_idf` reads a table that comes
with the package: words of free text of many kinds in both scripts, and how rare they are.
"""

from __future__ import annotations

import lzma
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Method: TypeAlias = Literal["tfidf", "textrank"]
"""Names of ways to score words: TF-IDF or TextRank."""

TABLE: Final = Path(__file__).with_name("word_rarity.txt.xz")
SPAN: Final = 5
DAMPING: Final = 0.85
MOST_ITERATIONS: Final = 100
# Of the ranks, whose mean is 1.
TOLERANCE: Final = 1e-6


@cache
def idf_table() -> dict[str, float]:
    """The words of the background, and the inverse document frequency of each.

    It is the negative natural logarithm of the share of texts that have the word, texts of 300
    words being meant. Not to be changed: all callers share it.
    """
    with lzma.open(TABLE, "rt", encoding="utf-8") as lines:
        table: dict[str, float] = {}
        for line in lines:
            idf, *words = line.split()
            table.update(dict.fromkeys(words, float(idf)))
    return table


@cache
def _unknown() -> float:
    return max(idf_table().values())


def background_idf(word: str) -> float:
    """The inverse document frequency of a word; one that the table lacks is as rare as any in it.

    Upper case does not count where only the word in lower case is known.
    """
    table = idf_table()
    found = table.get(word)
    return table.get(word.lower(), _unknown()) if found is None else found


def tf_idf(
    counts: Mapping[str, float], idf: Callable[[str], float] = background_idf
) -> dict[str, float]:
    """The share of each word in a text, times its inverse document frequency.

    counts: of the words of the text. idf: of a word.
    """
    total = sum(counts.values())
    return {word: count / total * idf(word) for word, count in counts.items() if count}


def count_neighbors(words: Sequence[str | None], span: int = SPAN) -> Counter[tuple[str, str]]:
    """The pairs of words that stand within a span of one another, each in its order, and how often.

    words: of a text, None for one that does not count, but takes a place. span: in words, both of
    the pair included; 2 for neighbors alone.
    """
    return Counter(
        (word, other)
        for i, word in enumerate(words)
        if word is not None
        for other in words[i + 1 : i + span]
        if other is not None
    )


def text_rank(
    pairs: Mapping[tuple[str, str], float], words: Iterable[str] = (), *, damping: float = DAMPING
) -> dict[str, float]:
    """The rank of words in the graph of their neighbors (TextRank, Mihalcea and Tarau 2004).

    An edge has no direction, and the weight of its pair. The best word has 1, and ranks are shifted
    as jieba does it, whose ranks they are after convergence.

    pairs: weights of edges, above 0. words: further ones, whether or not they have neighbors.
    damping: from 0 to 1, what of the rank comes from neighbors.
    """
    names = sorted({*words, *(word for pair in pairs for word in pair)})
    if not names:
        return {}
    places = {name: place for place, name in enumerate(names)}
    ends = np.array([[places[a], places[b]] for a, b in pairs], dtype=np.int64).reshape(-1, 2)
    sources = np.concatenate([ends[:, 0], ends[:, 1]])
    targets = np.concatenate([ends[:, 1], ends[:, 0]])
    weights = np.tile(np.fromiter(pairs.values(), np.float64, len(pairs)), 2)
    shares = weights / np.bincount(sources, weights, len(names))[sources]
    ranks: Any = np.ones(len(names))
    for _ in range(MOST_ITERATIONS):
        received = np.bincount(targets, shares * ranks[sources], len(names))
        before, ranks = ranks, 1 - damping + damping * received
        if np.abs(ranks - before).max() < TOLERANCE:
            break
    shift = ranks.min() / 10
    scaled = (ranks - shift) / (ranks.max() - shift)
    return dict(zip(names, scaled.tolist(), strict=True))


class KeywordCounts:
    """Counts of a text from which its keywords are chosen; it may be added part by part.

    Memory grows with the number of different words and pairs, not with the length of the text.
    """

    def __init__(self, method: Method = "tfidf") -> None:
        self.method = method
        self._words: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._phrases: Counter[tuple[str, ...]] = Counter()
        # The keywords that there may be, as they are shown.
        self._texts: dict[tuple[str, ...], str] = {}

    def add(self, words: Sequence[str | None]) -> None:
        """Count words of a part of the text, such as a sentence; None stands for any other word."""
        self._words.update(word for word in words if word is not None)
        if self.method == "textrank":
            self._pairs.update(count_neighbors(words))

    def propose(
        self, words: Iterable[str], phrases: Iterable[tuple[Sequence[str], str]] = ()
    ) -> None:
        """Say what may be keywords: all occurrences of words and phrases that have been added.

        phrases: the words of each, and its text.
        """
        for word in words:
            self._texts.setdefault((word,), word)
        for parts, text in phrases:
            key = tuple(parts)
            self._phrases[key] += 1
            self._texts.setdefault(key, text)

    def best(self, n: int) -> list[tuple[str, float]]:
        """The n best keywords and their scores, best first; of equal ones the first in the text.

        A phrase has the part of the scores of its words that is due to its occurrences, divided by
        the square root of their number: for TF-IDF, as if words were independent. A word, or
        phrase, that stands in one better phrase only is left out.
        """
        scores = (
            tf_idf(self._words)
            if self.method == "tfidf"
            else text_rank(self._pairs, words=self._words)
        )
        counts = self._words
        found: list[tuple[float, tuple[str, ...]]] = []
        for key in self._texts:
            if len(key) == 1:
                found.append((scores[key[0]], key))
            else:
                shares = sum(scores[word] / counts[word] for word in key)
                found.append((self._phrases[key] * shares / len(key) ** 0.5, key))
        found.sort(key=lambda each: -each[0])
        chosen: list[tuple[float, tuple[str, ...]]] = []
        for score, key in found:
            if len(chosen) == n:
                break
            if not any(self._count(key) == self._count(k) and _within(key, k) for _, k in chosen):
                chosen.append((score, key))
        return [(self._texts[key], score) for score, key in chosen]

    def _count(self, key: tuple[str, ...]) -> int:
        return self._phrases[key] if len(key) > 1 else self._words[key[0]]


def _within(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    n = len(words)
    return any(phrase[i : i + n] == words for i in range(len(phrase) - n + 1))


# Two corpora --------------------------------------------------------------------------------------


def log_likelihood(
    counts: Any, total: float, other_counts: Any, other_total: float
) -> NDArray[np.float64]:
    """The log-likelihood ratios of words that differ in frequency in two corpora (Dunning 1993).

    It is G², twice the logarithm of the ratio of likelihoods of the two by two table of the word
    and the others in both corpora; 10.83 is significant at 0.001 for a single word. Words that the
    other corpus has more of have it with a minus.

    counts, other_counts: shape (n,), of the words in either corpus. total, other_total: of all
    words of either, above 0.
    """
    first, second = (np.asarray(each, dtype=np.float64) for each in (counts, other_counts))
    share = (first + second) / (total + other_total)
    ratio = np.zeros(first.shape)
    for observed, expected in (
        (first, total * share),
        (second, other_total * share),
        (total - first, total * (1 - share)),
        (other_total - second, other_total * (1 - share)),
    ):
        there = observed > 0
        ratio[there] += observed[there] * np.log(observed[there] / expected[there])
    return np.where(first / total >= second / other_total, 2.0, -2.0) * np.maximum(ratio, 0)


class ComparedWord(NamedTuple):
    """A word, its G² (`log_likelihood`), and how often it is in the corpus and in the other one."""

    word: str
    log_likelihood: float
    n: int
    n_other: int


def compare_counts(
    counts: Mapping[str, int], others: Mapping[str, int], n: int | None = None
) -> list[ComparedWord]:
    """The n words that a corpus has more of than another, surest first; None for all of them.

    counts, others: of all words of either. Raises ValueError if one has none.
    """
    total, other_total = sum(counts.values()), sum(others.values())
    if not total or not other_total:
        raise ValueError("there is nothing to compare: one of the two corpora has no words")
    words = list(counts)
    in_other = [others.get(word, 0) for word in words]
    found = log_likelihood([counts[word] for word in words], total, in_other, other_total)
    order = [i for i in np.argsort(-found, kind="stable").tolist() if found[i] > 0]
    return [
        ComparedWord(words[i], float(found[i]), counts[words[i]], in_other[i]) for i in order[:n]
    ]
