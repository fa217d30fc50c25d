from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Column = (
    tuple[int, Iterable[int | tuple[int, float]]]
    | tuple[int, Iterable[int | tuple[int, float]], float]
)

class LabelGraph:
    def __init__(
        self, legal: ArrayLike, starts: ArrayLike, ends: ArrayLike, by_blocks: bool | None = None
    ) -> None: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def legal(self) -> NDArray[np.bool_]: ...
    @property
    def starts(self) -> NDArray[np.bool_]: ...
    @property
    def ends(self) -> NDArray[np.bool_]: ...
    @property
    def by_blocks(self) -> bool: ...
    def prune(self, mask: ArrayLike) -> NDArray[np.bool_]: ...

class Transitions:
    def __init__(self, graph: LabelGraph) -> None: ...
    @property
    def graph(self) -> LabelGraph: ...

class Viterbi:
    def __init__(self, graph: LabelGraph) -> None: ...
    @property
    def graph(self) -> LabelGraph: ...
    @property
    def transitions(self) -> Transitions: ...

class NBestViterbi:
    def __init__(self, graph: LabelGraph) -> None: ...
    @property
    def graph(self) -> LabelGraph: ...
    @property
    def best(self) -> Viterbi: ...

class Columns:
    def __init__(self, columns: Sequence[Column]) -> None: ...

def check_scores(
    graph: LabelGraph,
    emissions: ArrayLike,
    transitions: ArrayLike,
    mask: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    columns: Columns | None = None,
) -> tuple[
    NDArray[np.float64], NDArray[np.float64], NDArray[np.uint8] | None, NDArray[np.float64]
]: ...
def viterbi(
    graph: LabelGraph,
    emissions: ArrayLike,
    transitions: ArrayLike,
    mask: ArrayLike | None = None,
    block: int = 0,
    *,
    edges: ArrayLike | None = None,
    lattice: Sequence[Column] | None = None,
    open_start: bool = False,
    open_end: bool = False,
) -> tuple[float, NDArray[np.uint16]]: ...
def viterbi_nbest(
    graph: LabelGraph,
    emissions: ArrayLike,
    transitions: ArrayLike,
    k: int,
    mask: ArrayLike | None = None,
    *,
    edges: ArrayLike | None = None,
    lattice: Sequence[Column] | None = None,
    open_start: bool = False,
    open_end: bool = False,
) -> list[tuple[float, NDArray[np.uint16]]]: ...
