from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.tasks.segmentation.constraints import Constraints

class TextDecoder:
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def capacity(self) -> int: ...
    def prefer(self, words: Any) -> bool: ...
    def segment(
        self,
        texts: list[str],
        sentences: list[list[int]] | NDArray[np.int64],
        constraints: list[Constraints] | None = None,
    ) -> list[list[str]]: ...
    def tag(
        self,
        texts: list[str],
        sentences: list[list[int]] | NDArray[np.int64],
        constraints: list[Constraints] | None = None,
    ) -> list[list[tuple[str, str]]]: ...
    def spans(
        self,
        texts: list[str],
        sentences: list[list[int]] | NDArray[np.int64],
        constraints: list[Constraints] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def tagged_spans(
        self,
        texts: list[str],
        sentences: list[list[int]] | NDArray[np.int64],
        constraints: list[Constraints] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]: ...
    def nbest(
        self, text: str, k: int, constraints: Constraints | None = None
    ) -> list[tuple[float, list[Any]]]: ...
    def margins(
        self, text: str, boundaries: NDArray[np.uint8] | None = None
    ) -> NDArray[np.float64]: ...
    def tag_scores(
        self, text: str, boundaries: NDArray[np.uint8] | None = None
    ) -> NDArray[np.float64]: ...

def text_portions(texts: Iterable[str], size: int, limit: int) -> Iterator[list[str]]: ...
def checked_text(text: object) -> str: ...
