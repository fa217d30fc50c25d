from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.joint.tag_records import TagRecords
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.constraints import Constraints
from spacy_structreg.tasks.segmentation.words import WordDecoder, WordGuide, WordTransitions

class WordTreeTransitions(WordTransitions):
    def __init__(
        self,
        characters: CharacterAtoms,
        n_tags: int,
        n_labels: int,
        max_word_length: int | None = None,
        records: TagRecords | None = None,
        prune: bool = True,
        many_roots: bool = False,
        best_labels: bool = True,
    ) -> None: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def many_roots(self) -> bool: ...
    def copy(
        self, prune: bool | None = None, records: TagRecords | None = None
    ) -> WordTreeTransitions: ...
    def oracle(
        self,
        lengths: Sequence[int],
        tags: Sequence[int],
        heads: Sequence[int],
        labels: Sequence[int],
    ) -> list[int]: ...
    def compile_trees(
        self,
        words: Sequence[str],
        tags: Sequence[int],
        heads: Sequence[int],
        labels: Sequence[int],
        learner: Perceptron,
    ) -> Derivation | None: ...

class WordTreeDecoder(WordDecoder):
    def __init__(
        self,
        agenda: Agenda,
        tags: Iterable[str],
        arc_labels: Iterable[str],
        root_label: str,
        guide: WordGuide | None = None,
        arc_guide: Callable[[str], tuple[NDArray[np.int32], NDArray[np.float64]]] | None = None,
    ) -> None: ...
    @property
    def arc_labels(self) -> tuple[str, ...]: ...
    @property
    def root_label(self) -> str: ...
    @property
    def arc_guide(
        self,
    ) -> Callable[[str], tuple[NDArray[np.int32], NDArray[np.float64]]] | None: ...
    def trees(
        self,
        texts: list[str],
        sentences: list[list[int]] | NDArray[np.int64],
        constraints: list[Constraints] | None = None,
    ) -> tuple[
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
    ]: ...
