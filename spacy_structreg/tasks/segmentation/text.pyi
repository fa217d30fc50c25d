from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        listed: list[NDArray[np.int32]] | None = None,
        listed_tags: Sequence[str] = (),
        *,
        bonuses: list[tuple[NDArray[np.int32], NDArray[np.float64]]] | None = None,
        fixed: list[NDArray[np.uint8]] | None = None,
    ) -> list[list[str]]: ...
    def tag(
        self,
        texts: list[str],
        sentences: list[list[int]] | NDArray[np.int64],
        listed: list[NDArray[np.int32]] | None = None,
        listed_tags: Sequence[str] = (),
        *,
        bonuses: list[tuple[NDArray[np.int32], NDArray[np.float64]]] | None = None,
        fixed: list[NDArray[np.uint8]] | None = None,
    ) -> list[list[tuple[str, str]]]: ...
    def spans(
        self,
        texts: list[str],
        sentences: list[list[int]] | NDArray[np.int64],
        listed: list[NDArray[np.int32]] | None = None,
        listed_tags: Sequence[str] = (),
        *,
        bonuses: list[tuple[NDArray[np.int32], NDArray[np.float64]]] | None = None,
        fixed: list[NDArray[np.uint8]] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def tagged_spans(
        self,
        texts: list[str],
        sentences: list[list[int]] | NDArray[np.int64],
        listed: list[NDArray[np.int32]] | None = None,
        listed_tags: Sequence[str] = (),
        *,
        bonuses: list[tuple[NDArray[np.int32], NDArray[np.float64]]] | None = None,
        fixed: list[NDArray[np.uint8]] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]: ...
    def margins(self, text: str, fixed: NDArray[np.uint8] | None = None) -> NDArray[np.float64]: ...
    def tag_scores(
        self, text: str, fixed: NDArray[np.uint8] | None = None
    ) -> NDArray[np.float64]: ...

def text_portions(texts: Iterable[str], size: int) -> Iterator[list[str]]: ...
def checked_text(text: object) -> str: ...
