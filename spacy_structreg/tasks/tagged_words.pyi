from collections.abc import Iterable, Mapping

from spacy_structreg.search.transition_system import TransitionSystem
from spacy_structreg.tasks.tagging import WordAtoms

def atoms_of_nodes(nodes: Iterable[str]) -> Mapping[str, tuple[str, int]]: ...
def hash_of_tag(tag: str) -> int: ...

class TaggedWordTransitions(TransitionSystem):
    @property
    def words(self) -> WordAtoms: ...

class TaggedWordBuffer:
    @property
    def capacity(self) -> int: ...
