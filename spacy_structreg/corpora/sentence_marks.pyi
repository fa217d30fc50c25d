from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

class SentenceMarks:
    def __init__(
        self,
        *,
        full_stops: str,
        terminators: str,
        dots: str,
        breaks: str,
        followers: str,
        after_dots: str,
        special: str,
        openers: str,
        closers: str,
    ) -> None: ...
    @property
    def classes(self) -> dict[str, str]: ...
    def next(self, text: str, at: int, ends: list[int], n_open: int = 0) -> int: ...
    def ends_of_all(
        self, texts: list[str], ends_of: Callable[[str], list[int]], longest: int
    ) -> NDArray[np.int64]: ...
    def ends_of_one(
        self, text: str, ends_of: Callable[[str], list[int]], longest: int
    ) -> list[int]: ...
