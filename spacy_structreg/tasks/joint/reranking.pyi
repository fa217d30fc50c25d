from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.tasks.segmentation.characters import CharacterDecoder
from spacy_structreg.tasks.segmentation.words import WordTransitions

class RerankingDecoder(CharacterDecoder):
    def __init__(
        self, characters: CharacterDecoder, scorer: StateScorer, *, n_best: int, weight: float
    ) -> None: ...
    @property
    def scorer(self) -> StateScorer: ...
    @property
    def system(self) -> WordTransitions: ...
    @property
    def n_best(self) -> int: ...
    @property
    def weight(self) -> float: ...
    def prefer(self, words: Any) -> bool: ...
    def nbest(
        self,
        text: str,
        k: int,
        listed: NDArray[np.int32] | None = None,
        listed_tags: Sequence[str] = (),
        *,
        bonuses: tuple[NDArray[np.int32], NDArray[np.float64]] | None = None,
        fixed: NDArray[np.uint8] | None = None,
    ) -> list[tuple[float, list[Any]]]: ...
