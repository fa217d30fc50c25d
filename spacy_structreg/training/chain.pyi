from collections.abc import Sequence

from numpy.typing import ArrayLike

from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.viterbi import LabelGraph
from spacy_structreg.tasks.chain import ChainFeatures, CompiledChain

class ChainTrainer:
    def __init__(
        self, features: ChainFeatures, graph: LabelGraph, learner: Perceptron
    ) -> None: ...
    @property
    def features(self) -> ChainFeatures: ...
    @property
    def graph(self) -> LabelGraph: ...
    @property
    def learner(self) -> Perceptron: ...
    def epoch(self, chains: Sequence[CompiledChain], order: ArrayLike) -> tuple[int, int]: ...
