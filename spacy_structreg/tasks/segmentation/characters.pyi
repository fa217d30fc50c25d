from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.sentence import LabeledSpan
from spacy_structreg.features.scripts import Script
from spacy_structreg.learn.learner import Learner
from spacy_structreg.tasks.chain import ChainDecoder, ChainFeatures, CompiledChain
from spacy_structreg.tasks.knowledge.source import CharacterSource
from spacy_structreg.tasks.segmentation.bmes import JointScheme, SegmentationScheme
from spacy_structreg.tasks.segmentation.constraints import Constraints
from spacy_structreg.tasks.segmentation.text import TextDecoder
from spacy_structreg.tasks.segmentation.word_lattice import WordLattice

class CharacterAtoms:
    def __init__(
        self,
        types: str | None = None,
        half_width: bool = False,
        sources: Iterable[CharacterSource] = (),
        script: Script | None = None,
    ) -> None: ...
    @property
    def types(self) -> str | None: ...
    @property
    def half_width(self) -> bool: ...
    @property
    def script(self) -> Script | None: ...
    @property
    def atoms(self) -> dict[str, int]: ...
    @property
    def sources(self) -> tuple[CharacterSource, ...]: ...
    @property
    def n_sources(self) -> int: ...
    def copy(self) -> CharacterAtoms: ...
    def prefer(self, words: Any) -> bool: ...
    def seen(self, text: str) -> str: ...
    def normalization(self) -> NDArray[np.uint32]: ...
    def with_sources(self, sources: Iterable[CharacterSource]) -> CharacterAtoms: ...
    def without_sources(self) -> CharacterAtoms: ...
    def symbols(self, text: str, reach: int) -> NDArray[np.uint64]: ...
    def compile(
        self,
        words: Iterable[str],
        scheme: SegmentationScheme | JointScheme,
        features: ChainFeatures,
        learner: Learner,
        tags: Iterable[str] | None = None,
    ) -> CompiledChain | None: ...
    def compile_partial(
        self,
        text: str,
        boundaries: Sequence[bool | None],
        tags: Sequence[LabeledSpan],
        scheme: SegmentationScheme | JointScheme,
        features: ChainFeatures,
        learner: Learner,
    ) -> CompiledChain: ...

class CharacterDecoder(TextDecoder):
    def __init__(
        self,
        atoms: CharacterAtoms,
        chain: ChainDecoder,
        label_begins: NDArray[np.bool_],
        *,
        tags: Iterable[str] = (),
        label_tags: NDArray[np.int32] | None = None,
        lists: tuple[NDArray[np.uint32], NDArray[np.bool_]] | None = None,
    ) -> None: ...
    @property
    def atoms(self) -> CharacterAtoms: ...
    @property
    def chain(self) -> ChainDecoder: ...
    @property
    def label_begins(self) -> NDArray[np.bool_]: ...
    @property
    def label_tags(self) -> NDArray[np.int32]: ...
    @property
    def lists(self) -> tuple[NDArray[np.uint32], NDArray[np.bool_]] | None: ...
    @property
    def lattice(self) -> WordLattice: ...
    @property
    def capacity(self) -> int: ...
    def prefer(self, words: Any) -> bool: ...
    def margins(
        self, text: str, boundaries: NDArray[np.uint8] | None = None
    ) -> NDArray[np.float64]: ...
    def best_labels(
        self,
        text: str,
        constraints: Constraints | None = None,
        *,
        place: int | None = None,
        excluded: Iterable[int] = (),
    ) -> tuple[str, float, list[int]]: ...
    def tag_scores(
        self, text: str, boundaries: NDArray[np.uint8] | None = None
    ) -> NDArray[np.float64]: ...
