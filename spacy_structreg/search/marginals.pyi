import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacy_structreg.search.viterbi import LabelGraph

class SumProduct:
    def __init__(self, graph: LabelGraph) -> None: ...
    @property
    def graph(self) -> LabelGraph: ...

def marginals(
    graph: LabelGraph,
    emissions: ArrayLike,
    transitions: ArrayLike,
    edges: ArrayLike | None = None,
    *,
    open_start: bool = False,
    open_end: bool = False,
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]: ...
