from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacy_structreg.learn.log_linear import LogLinearLearner
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.chain import ChainFeatures, CompiledChain

class LogLinearTrainer:
    def __init__(
        self, features: ChainFeatures, graph: LabelGraph, learner: LogLinearLearner
    ) -> None: ...
    @property
    def features(self) -> ChainFeatures: ...
    @property
    def graph(self) -> LabelGraph: ...
    @property
    def learner(self) -> LogLinearLearner: ...
    def epoch(
        self, chains: Sequence[CompiledChain], pieces: ArrayLike, noise: int = 0
    ) -> tuple[int, int]: ...
    def count(self, chains: Iterable[CompiledChain]) -> list[NDArray[np.int64]]: ...
    def objective(
        self, chains: Sequence[CompiledChain], noisy: bool = True
    ) -> tuple[float, list[NDArray[np.float64]]]: ...
