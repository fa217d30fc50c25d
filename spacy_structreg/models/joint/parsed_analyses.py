"""The best analyses of a joint tagger with trees over them: how probable they are, and their arcs.

A tagger of given words tags the words of each analysis anew, which makes further ones. Two parsers
build trees over all of them, one from the first word to the last, the other backward. They err at
different places, so that an arc of both is more probable than one of either (Sagae & Lavie 2006). A
log-linear model of four numbers says which analysis is the right one: the scores of the tagger and
of both parsers, and the number of words, as more words have more scores to add up. The expected
arcs of its distribution guide a joint parser.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.sentences import sentence_ends
from spacy_structreg.learn.threads import side_by_side
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.models.tagging import Tagger

ANY_LABEL: Final = -1


class AnalysisWeights(NamedTuple):
    """Weights of the log-linear model: of scores of tagger and parsers, and of numbers of words."""

    tagger: float = 0.04
    parser: float = 0.002
    backward: float = 0.001
    n_words: float = -1.3


class ParsedAnalysis(NamedTuple):
    """Words with tags, and the best tree of each parser over them.

    tagger_score: by the joint tagger; of tags by the tagger of given words, that of the best
    analysis with the same words.
    """

    tagger_score: float
    parser_scores: tuple[float, ...]
    trees: tuple[Sentence, ...]


class AnalysisParser:
    """Parses the best analyses of a joint tagger.

    tagger: finds words with tags: its `nbest` is called. retagger: tags their words anew. parsers:
    one that reads forward and one that reads backward. n_best: how many of the tagger's analyses
    are parsed, ≥ 1, besides those of other tags. remember: keep the analyses of all sentences, for
    calls with the same.
    """

    def __init__(
        self,
        tagger: Any,
        retagger: Tagger,
        parsers: Sequence[DependencyParser],
        n_best: int,
        *,
        remember: bool = False,
    ) -> None:
        self._tagger = tagger
        self._retagger = retagger
        self._parsers = parsers
        self._n_best = n_best
        self._known: dict[str, list[ParsedAnalysis]] | None = {} if remember else None

    def analyses(self, sentence: str) -> list[ParsedAnalysis]:
        """The analyses of a sentence, each once.

        sentence: without white space. Raises ValueError if a model has not been trained.
        """
        if self._known is not None and sentence in self._known:
            return self._known[sentence]
        scores: dict[tuple[tuple[str, ...], tuple[str, ...]], float] = {}
        of_words: dict[tuple[str, ...], float] = {}
        for score, pairs in self._tagger.nbest(sentence, self._n_best):
            words, tags = zip(*pairs, strict=True)
            scores.setdefault((words, tags), score)
            of_words.setdefault(words, score)
        for words, score in of_words.items():
            scores.setdefault((words, tuple(self._retagger.predict(words))), score)
        found = []
        for (words, tags), score in scores.items():
            best = [parser.nbest(words, tags, 1)[0] for parser in self._parsers]
            trees = (Sentence(words, tags, tree.heads, tree.labels) for _, tree in best)
            found.append(ParsedAnalysis(score, tuple(of_tree for of_tree, _ in best), (*trees,)))
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
    """Numbers that analyses are weighed by, of shape (n_analyses, 4)."""
    return np.array(
        [[each.tagger_score, *each.parser_scores, len(each.trees[0].words)] for each in analyses]
    )


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    powers: NDArray[np.float64] = np.exp(scores - scores.max())
    shares: NDArray[np.float64] = powers / powers.sum()
    return shares


def fitted_weights(
    parser: AnalysisParser,
    gold: Sequence[Sentence],
    *,
    l2: float = 1e-3,
    n_threads: int = 1,
) -> AnalysisWeights:
    """Weights with which the best analyses of gold sentences are the most probable.

    The best analyses are those whose trees have the highest labeled F on the average. l2: strength
    of the penalty on weights of numbers that are scaled to a standard deviation of 1, per sentence.
    Returns the default if no sentence has analyses that differ.
    """
    lists = []
    texts = ("".join(sentence.words) for sentence in gold)
    parsed = side_by_side(parser.analyses, texts, n_threads)
    for sentence, analyses in zip(gold, parsed, strict=True):
        figures = np.array(
            [[_labeled_f(sentence, tree) for tree in each.trees] for each in analyses]
        ).mean(axis=1)
        if figures.min() < figures.max():
            features = _features(analyses)
            best = figures == figures.max()
            lists.append((features - features.mean(axis=0), best / best.sum()))
    if not lists:
        return AnalysisWeights()
    scale = np.sqrt(np.mean([(features**2).mean(axis=0) for features, _ in lists], axis=0))
    scale[scale == 0.0] = 1.0
    weights = np.zeros(len(scale))
    # Newton's method, on a convex function of four numbers.
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


def _labeled_f(gold: Sentence, found: Sentence) -> float:
    from spacy_structreg.metrics.dependencies import TextParsingScorer

    scorer = TextParsingScorer()
    scorer.add([gold], [found])
    return scorer.scores().as_dict("las_f")["las_f"] or 0.0


@dataclass(frozen=True)
class ArcGuide:
    """Scores of arcs by the trees over the best analyses of a tagger, for a `WordTreeDecoder`.

    labels: of arcs, by their numbers. weight: the score of an arc that is in all trees, and again
    of its label. by_sentence: whether the text is cut as punctuation says, whatever the model takes
    for one text, and each sentence is analyzed by itself. Texts have no white space.
    """

    parser: AnalysisParser
    weights: AnalysisWeights
    labels: Sequence[str]
    weight: float
    by_sentence: bool

    def __call__(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        scores: dict[tuple[int, int, int], float] = {}
        ends = sentence_ends(text) if self.by_sentence else [len(text)]
        for begin, end in pairwise([0, *ends]):
            analyses = self.parser.analyses(text[begin:end])
            shares = probabilities(analyses, self.weights)
            for arc, share in expected_arcs(analyses, shares, self.labels, begin).items():
                scores[arc] = self.weight * share
        return (
            np.array(list(scores), dtype=np.int32).reshape(-1, 3),
            np.array(list(scores.values()), dtype=np.float64),
        )


def expected_arcs(
    analyses: Iterable[ParsedAnalysis],
    shares: NDArray[np.float64],
    labels: Sequence[str],
    begin: int = 0,
) -> dict[tuple[int, int, int], float]:
    """The probability of each arc of the trees of a sentence, and of each with its label.

    shares: the probability of each analysis, which its trees share equally. labels: those of arcs,
    by their numbers. begin: the place of the sentence in its text. Keys are the first characters of
    child and head, -1 for the root, and the number of the label, `ANY_LABEL` for all together.
    """
    number: dict[str | None, int] = {label: i for i, label in enumerate(labels)}
    expected: defaultdict[tuple[int, int, int], float] = defaultdict(float)
    for share, analysis in zip(shares.tolist(), analyses, strict=True):
        for tree in analysis.trees:
            for child, head, label in _arcs(tree, begin):
                for named in {ANY_LABEL, number.get(label, ANY_LABEL)}:
                    expected[child, head, named] += share / len(analysis.trees)
    return expected


def _arcs(tree: Sentence, begin: int) -> Iterator[tuple[int, int, str | None]]:
    """Yield the arcs of a tree by the first characters of child and head, -1 for the root."""
    firsts = list(accumulate(map(len, tree.words), initial=begin))
    for first, head, label in zip(firsts, tree.heads, tree.labels, strict=False):
        assert head is not None
        yield first, ROOT if head == ROOT else firsts[head], label
