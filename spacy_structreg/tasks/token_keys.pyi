from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.tasks.word_fields import WordFields

PADDING: int
WORDS: int
NGRAMS: int
GAZETTEERS: int
FIRST_COLUMN: int

class LoadedTokens: ...

class TokenKeys:
    def __init__(
        self,
        words: WordFields,
        columns: Sequence[str],
        streams: Sequence[int],
        lists: Sequence[Sequence[tuple[int, Sequence[tuple[int, int, int]]]]],
    ) -> None: ...
    @property
    def arguments(self) -> tuple[object, ...]: ...
    def extract(
        self,
        sequences: Iterable[Sequence[Sequence[str]]],
        match: Callable[[list[str]], list[list[str]]] | None,
        reach: int,
    ) -> tuple[
        NDArray[np.uint64], tuple[tuple[NDArray[np.int64], NDArray[np.uint64], None], ...]
    ]: ...
