from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NULL_SYMBOL: int
PADDING: int
WORDS: int
NGRAMS: int
GAZETTEERS: int

def symbol_of(text: str) -> int: ...
def ngram_symbols(word: str) -> bytes: ...

class TokenKeys:
    def __init__(
        self,
        n_word_fields: int,
        columns: Sequence[int],
        streams: Sequence[int],
        word: int,
        lists: Sequence[Sequence[tuple[int, Sequence[tuple[int, int, int]]]]],
    ) -> None: ...
    @property
    def arguments(self) -> tuple[object, ...]: ...
    def extract(
        self,
        words: list[bytes],
        tokens: Sequence[Sequence[str]],
        gazetteers: list[bytes] | None,
        reach: int,
    ) -> tuple[
        NDArray[np.uint64], tuple[tuple[NDArray[np.int64], NDArray[np.uint64], None], ...]
    ]: ...
