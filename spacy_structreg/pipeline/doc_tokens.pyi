from typing import Any

import numpy as np
from numpy.typing import NDArray

class WordHashes:
    def __init__(self, strings: Any, most: int = 100000) -> None: ...
    @property
    def strings(self) -> Any: ...
    def __len__(self) -> int: ...
    def clear(self) -> None: ...
    def tokens(self, text: str, spans: NDArray[np.int64]) -> tuple[list[int], list[bool]]: ...
    def tags(
        self,
        text: str,
        spans: NDArray[np.int64],
        numbers: NDArray[np.int32],
        names: tuple[str, ...],
        of_space: str,
    ) -> NDArray[np.uint64]: ...
