from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.chain import ChainFeatures, CompiledChain

def cut(
    lengths: Sequence[int] | NDArray[np.int64], mini_sample: float | None, seed: int
) -> NDArray[np.int64]: ...
def count_features(
    features: ChainFeatures, learner: Learner, chains: Iterable[CompiledChain]
) -> list[NDArray[np.int64]]: ...

class ChainTrainer:
    def __init__(self, features: ChainFeatures, graph: LabelGraph, learner: Perceptron) -> None: ...
    @property
    def features(self) -> ChainFeatures: ...
    @property
    def graph(self) -> LabelGraph: ...
    @property
    def learner(self) -> Perceptron: ...
    def epoch(
        self, chains: Sequence[CompiledChain], pieces: ArrayLike, noise: int = 0
    ) -> tuple[int, int]: ...
    def count(self, chains: Iterable[CompiledChain]) -> list[NDArray[np.int64]]: ...
