"""The best analyses of a joint tagger with trees over them: how probable they are, and their arcs.

A log-linear model of three numbers says which analysis is the right one: the scores of the tagger
and of the parser, and the number of words, as more words have more scores to add up. The expected
arcs of its distribution guide a joint parser; its most probable analysis, with the tree, is what
reranking would find (a pipeline that passes on k analyses instead of one).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.dependencies import ROOT, DependencySentence
from spacy_structreg.corpora.sentences import sentence_ends
from spacy_structreg.estimators.dependencies.dependency_parser import DependencyParser
from spacy_structreg.metrics.dependencies import TextParsingScorer

ANY_LABEL: Final = -1


class AnalysisWeights(NamedTuple):
    """Weights of the log-linear model: of the scores of tagger and parser, and of each word."""

    tagger: float = 0.03
    parser: float = 0.005
    word: float = -2.0


class ParsedAnalysis(NamedTuple):
    """An analysis of a sentence by a joint tagger, and the best tree over it."""

    tagger_score: float
    parser_score: float
    tree: DependencySentence


class AnalysisParser:
    """Parses the best analyses of a joint tagger.

    tagger: finds words with tags: its `nbest` is called. n_best: how many of its analyses are
    parsed, ≥ 1. remember: keep the analyses of all sentences, for calls with the same.
    """

    def __init__(
        self, tagger: Any, parser: DependencyParser, n_best: int, *, remember: bool = False
    ) -> None:
        self._tagger = tagger
        self._parser = parser
        self._n_best = n_best
        self._known: dict[str, list[ParsedAnalysis]] | None = {} if remember else None

    def analyses(self, sentence: str) -> list[ParsedAnalysis]:
        """The analyses of a sentence, those that the tagger holds for better first.

        sentence: without white space. Raises ValueError if a model has not been trained.
        """
        if self._known is not None and sentence in self._known:
            return self._known[sentence]
        found = []
        for tagger_score, pairs in self._tagger.nbest(sentence, self._n_best):
            words, tags = zip(*pairs, strict=True)
            ((parser_score, tree),) = self._parser.nbest(words, tags, 1)
            parsed = DependencySentence(words, tags, tree.heads, tree.labels)
            found.append(ParsedAnalysis(tagger_score, parser_score, parsed))
        if self._known is not None:
            self._known[sentence] = found
        return found


def probabilities(
    analyses: Sequence[ParsedAnalysis], weights: AnalysisWeights
) -> NDArray[np.float64]:
    """The probability of each analysis of a sentence, of shape (n_analyses,)."""
    scores: NDArray[np.float64] = _features(analyses) @ np.array(weights)
    return _softmax(scores)


def _features(analyses: Sequence[ParsedAnalysis]) -> NDArray[np.float64]:
    """Numbers that analyses are weighed by, of shape (n_analyses, 3)."""
    return np.array([[first, second, len(tree.words)] for first, second, tree in analyses])


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    powers: NDArray[np.float64] = np.exp(scores - scores.max())
    shares: NDArray[np.float64] = powers / powers.sum()
    return shares


def fitted_weights(
    parser: AnalysisParser, gold: Iterable[DependencySentence], *, l2: float = 1e-3
) -> AnalysisWeights:
    """Weights with which the best analyses of gold sentences are the most probable.

    The best analyses are those with the highest labeled F. l2: strength of the penalty on weights
    of numbers that are scaled to a standard deviation of 1, per sentence. Returns the default if no
    sentence has analyses that differ.
    """
    lists = []
    for sentence in gold:
        analyses = parser.analyses("".join(sentence.words))
        figures = np.array([_labeled_f(sentence, each.tree) for each in analyses])
        if figures.min() < figures.max():
            features = _features(analyses)
            best = figures == figures.max()
            lists.append((features - features.mean(axis=0), best / best.sum()))
    if not lists:
        return AnalysisWeights()
    scale = np.sqrt(np.mean([(features**2).mean(axis=0) for features, _ in lists], axis=0))
    scale[scale == 0.0] = 1.0
    weights = np.zeros(len(scale))
    # Newton's method, on a convex function of three numbers.
    for _ in range(20):
        gradient = l2 * len(lists) * weights
        curvature = l2 * len(lists) * np.eye(len(scale))
        for features, wanted in lists:
            scaled = features / scale
            found = _softmax(scaled @ weights)
            mean = found @ scaled
            gradient += mean - wanted @ scaled
            curvature += scaled.T @ (found[:, None] * scaled) - np.outer(mean, mean)
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if np.abs(step).max() < 1e-6:
            break
    return AnalysisWeights(*(weights / scale).tolist())


def _labeled_f(gold: DependencySentence, found: DependencySentence) -> float:
    scorer = TextParsingScorer()
    scorer.add([gold], [found])
    return scorer.scores().all.as_dict()["las_f"] or 0.0


@dataclass(frozen=True)
class ArcGuide:
    """Scores of arcs by the trees over the best analyses of a tagger, for a `WordTreeDecoder`.

    labels: of arcs, by their numbers. weight: the score of an arc that is in all trees, and again
    of its label. by_sentence: whether the text is cut at the ends of sentences, each of which is
    analyzed by itself.
    """

    parser: AnalysisParser
    weights: AnalysisWeights
    labels: Sequence[str]
    weight: float
    by_sentence: bool

    def __call__(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        number: dict[str | None, int] = {label: i for i, label in enumerate(self.labels)}
        expected: dict[tuple[int, int, int], float] = {}
        ends = sentence_ends(text) if self.by_sentence else [len(text)]
        for begin, end in pairwise([0, *ends]):
            analyses = self.parser.analyses(text[begin:end])
            shares = (self.weight * probabilities(analyses, self.weights)).tolist()
            for share, analysis in zip(shares, analyses, strict=True):
                for child, head, label in _arcs(analysis.tree, begin):
                    for named in {ANY_LABEL, number.get(label, ANY_LABEL)}:
                        arc = child, head, named
                        expected[arc] = expected.get(arc, 0.0) + share
        return (
            np.array(list(expected), dtype=np.int32).reshape(-1, 3),
            np.array(list(expected.values()), dtype=np.float64),
        )


def _arcs(tree: DependencySentence, begin: int) -> Iterator[tuple[int, int, str | None]]:
    """Yield the arcs of a tree by the first characters of child and head, -1 for the root."""
    firsts = [begin]
    for word in tree.words:
        firsts.append(firsts[-1] + len(word))
    for child, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True)):
        assert head is not None
        yield firsts[child], ROOT if head == ROOT else firsts[head], label
