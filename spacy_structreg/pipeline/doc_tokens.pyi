from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

SPACE_TAG: Final = "_SP"

class WordHashes:
    def __init__(
        self, strings: Any, most: int = 100000, *, tag_map: Mapping[str, str] | None = None
    ) -> None: ...
    @property
    def strings(self) -> Any: ...
    @property
    def tag_map(self) -> Mapping[str, str] | None: ...
    def __len__(self) -> int: ...
    def clear(self) -> None: ...
    def parts(
        self,
        text: str,
        spans: NDArray[np.int64],
        tags: NDArray[np.int32] | None = None,
        names: tuple[str, ...] | None = None,
        ends: Sequence[int] | None = None,
    ) -> tuple[list[int], list[bool], list[int], Any]: ...
