from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

class WordTrie:
    def __init__(self, words: Iterable[str]) -> None: ...
    @property
    def words(self) -> tuple[str, ...]: ...
    def find(self, text: str) -> NDArray[np.int32]: ...
