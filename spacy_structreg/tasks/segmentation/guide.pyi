from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacy_structreg.tasks.chain import ChainDecoder
from spacy_structreg.tasks.segmentation.characters import CharacterDecoder
from spacy_structreg.tasks.segmentation.words import WordGuide

EDGES: Final[str]

class ChainGuide(WordGuide):
    def __init__(
        self,
        decoder: CharacterDecoder,
        labels: ArrayLike,
        *,
        weight: float = 1.0,
        adds_scores: bool = True,
        looks_ahead: bool = True,
        window: float | None = None,
    ) -> None: ...
    @property
    def decoder(self) -> CharacterDecoder: ...
    @property
    def chain(self) -> ChainDecoder: ...
    @property
    def labels(self) -> NDArray[np.int32]: ...
    @property
    def weight(self) -> float: ...
    @property
    def window(self) -> float: ...
    @property
    def capacity(self) -> int: ...
    def prefer(self, words: Any) -> bool: ...
    def tables(
        self, text: str
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]: ...
