from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.tasks.chain import ChainDecoder
from spacy_structreg.tasks.tokens import FeatureList

class LabelDecoder:
    def __init__(self, chain: ChainDecoder) -> None: ...
    @property
    def chain(self) -> ChainDecoder: ...
    @property
    def capacity(self) -> int: ...
    def label(
        self,
        symbols: NDArray[np.uint64],
        lists: Sequence[FeatureList] = (),
        allowed: NDArray[np.bool_] | None = None,
        lengths: Sequence[int] | NDArray[np.int64] | None = None,
    ) -> NDArray[np.uint16]: ...
    def nbest(
        self, symbols: NDArray[np.uint64], lists: Sequence[FeatureList], k: int
    ) -> list[tuple[float, NDArray[np.uint16]]]: ...
    def marginals(
        self, symbols: NDArray[np.uint64], lists: Sequence[FeatureList] = ()
    ) -> NDArray[np.float64]: ...
