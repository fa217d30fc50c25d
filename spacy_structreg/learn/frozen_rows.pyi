from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.learn.rows import TrainedRows

MAX_KEYS: int
N_PADDING: int
MAX_BYTES: int
NO_ROW: int

class FrozenRows(TrainedRows):
    def __init__(self, n_columns: int, arrays: Mapping[str, NDArray[Any]]) -> None: ...
    @property
    def key_limit(self) -> int: ...
    @property
    def bits(self) -> int: ...

def hashes_of(keys: NDArray[np.uint64], salt: int) -> NDArray[np.uint64]: ...
def displacements_of(
    mixed: NDArray[np.uint64], n_buckets: int, n_slots: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]] | None: ...
