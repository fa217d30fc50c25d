from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

MAX_TAGS: int

def key_of_codes(codes: Any) -> Any: ...
def check_tags(n_tags: int) -> None: ...

class TagRecords:
    def __init__(self, n_tags: int, arrays: Mapping[str, NDArray[np.generic]]) -> None: ...
    @property
    def n_tags(self) -> int: ...
    @property
    def n_blocks(self) -> int: ...
    @property
    def arrays(self) -> dict[str, NDArray[np.generic]]: ...
    @staticmethod
    def collect(
        sentences: Iterable[Sequence[tuple[str, str]]],
        tags: Sequence[str],
        atoms: CharacterAtoms,
        *,
        lengths: bool = True,
        dictionary: bool = True,
        closed: Collection[str] = (),
        closed_firsts: Collection[str] = (),
        least_begun: int | None = 30,
        least_seen: int = 1,
        passes: int = 1,
    ) -> TagRecords: ...
    def longest(self) -> list[int]: ...
    def word(self, word: str, atoms: CharacterAtoms) -> list[int]: ...
    def first(self, character: str, atoms: CharacterAtoms) -> list[int]: ...

class GrowingRecords(TagRecords):
    def __init__(
        self,
        tags: Sequence[str],
        *,
        lengths: bool = True,
        dictionary: bool = True,
        closed: Collection[str] = (),
        closed_firsts: Collection[str] = (),
        least_begun: int | None = 30,
        least_seen: int = 1,
        state: Mapping[str, NDArray[np.generic]] | None = None,
    ) -> None: ...
    def state(self) -> dict[str, NDArray[np.generic]]: ...
    def add(self, word: str, tag: int, atoms: CharacterAtoms) -> None: ...
