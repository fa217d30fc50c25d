from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class TextDecoder:
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def capacity(self) -> int: ...
    def segment(
        self,
        texts: list[str],
        sentences: list[list[int]],
        listed: list[NDArray[np.int32]] | None = None,
        listed_tags: Sequence[str] = (),
        *,
        white_space: bool = False,
    ) -> list[list[str]]: ...
    def tag(
        self,
        texts: list[str],
        sentences: list[list[int]],
        listed: list[NDArray[np.int32]] | None = None,
        listed_tags: Sequence[str] = (),
        *,
        white_space: bool = False,
    ) -> list[list[tuple[str, str]]]: ...
    def spans(
        self,
        text: str,
        sentences: list[int],
        listed: NDArray[np.int32] | None = None,
        listed_tags: Sequence[str] = (),
    ) -> NDArray[np.int64]: ...
    def margins(self, text: str) -> NDArray[np.float64]: ...
