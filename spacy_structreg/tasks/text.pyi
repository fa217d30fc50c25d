from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.tasks.user_words import Cluster

class TextDecoder:
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def capacity(self) -> int: ...
    def segment(
        self,
        texts: list[str],
        sentences: list[list[int]],
        clusters: list[Sequence[Cluster]] | None = None,
    ) -> list[list[str]]: ...
    def tag(
        self,
        texts: list[str],
        sentences: list[list[int]],
        clusters: list[Sequence[Cluster]] | None = None,
    ) -> list[list[tuple[str, str]]]: ...
    def spans(
        self, text: str, sentences: list[int], clusters: Sequence[Cluster] | None = None
    ) -> NDArray[np.int64]: ...
    def word_tag_names(self, text: str) -> list[str]: ...
