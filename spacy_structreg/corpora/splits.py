"""Parts of corpora: training, development and test sets, folds, articles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class CtbPart:
    """A part of the Chinese Treebank.

    articles: runs of the numbers of its articles. sentences, words: how many there are by the
    papers, without empty terminals.
    """

    articles: tuple[range, ...]
    sentences: int
    words: int

    def __contains__(self, article: int) -> bool:
        return any(article in run for run in self.articles)

    def numbers(self) -> Iterator[int]:
        """The numbers of the articles, whether there are such articles or not."""
        return chain.from_iterable(self.articles)


def _runs(*bounds: tuple[int, int]) -> tuple[range, ...]:
    return tuple(range(first, last + 1) for first, last in bounds)


# Zhang and Clark 2011, "Syntactic processing using the generalized perceptron and beam search":
# Table 11 (also of Zhang, Su and Zhou 2014), Table 17 (after Duan, Zhao and Xu 2007) and Table 21.
CTB_SPLITS: Mapping[str, Mapping[str, CtbPart]] = MappingProxyType(
    {
        "segmentation": {
            "train": CtbPart(_runs((1, 270), (400, 931), (1001, 1151)), 18_085, 493_892),
            "dev": CtbPart(_runs((301, 325)), 350, 6_821),
            "test": CtbPart(_runs((271, 300)), 348, 8_008),
        },
        "parsing": {
            "train": CtbPart(_runs((1, 815), (1001, 1136)), 16_118, 437_859),
            "dev": CtbPart(_runs((886, 931), (1148, 1151)), 804, 20_453),
            "test": CtbPart(_runs((816, 885), (1137, 1147)), 1_915, 50_319),
        },
        "ctb2": {
            "train": CtbPart(_runs((1, 270)), 3_475, 85_058),
            "dev": CtbPart(_runs((301, 325)), 355, 6_821),
            "test": CtbPart(_runs((271, 300)), 348, 8_008),
        },
    }
)
"""Parts of the Chinese Treebank by the name of a split, then of the part."""


def fold_bounds(n_sentences: int, n_folds: int = 10) -> list[tuple[int, int]]:
    """Begin and end of each fold: runs of sentences that cover all, none empty.

    Neighbors stay together, so that a text lies in two folds only where one ends in it. Fold k
    goes from n·k // n_folds on. Raises ValueError for fewer sentences than folds, and for fewer
    than two folds.
    """
    if n_folds < 2:
        raise ValueError(f"{n_folds} folds; take two or more")
    if n_sentences < n_folds:
        raise ValueError(f"{n_sentences} sentences are too few for {n_folds} folds")
    ends = [n_sentences * fold // n_folds for fold in range(n_folds + 1)]
    return list(pairwise(ends))
