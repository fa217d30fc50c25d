from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.search.transition_system import TransitionSystem
from spacy_structreg.tasks.tagging import WordAtoms

def atoms_of_nodes(nodes: Iterable[str]) -> Mapping[str, tuple[str, int]]: ...

class TaggedWordTransitions(TransitionSystem):
    @property
    def words(self) -> WordAtoms: ...
    def fields(self) -> NDArray[np.uint64]: ...

def hash_of_tag(tag: str) -> int: ...

class TaggedWordBuffer:
    @property
    def capacity(self) -> int: ...
