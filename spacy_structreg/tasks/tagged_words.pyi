from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.transition_system import TransitionSystem
from spacy_structreg.tasks.word_fields import WordFields

NODE_FIELDS: Mapping[str, int]
GivenT = TypeVar("GivenT")
TreeT = TypeVar("TreeT")
SystemT = TypeVar("SystemT", bound=TaggedWordTransitions[Any, Any])

def atoms_of_nodes(nodes: Iterable[str]) -> Mapping[str, tuple[str, int]]: ...

class TaggedWordTransitions(TransitionSystem, Generic[GivenT, TreeT]):
    @property
    def words(self) -> WordFields: ...
    def load_words(
        self, words: Sequence[str], tags: Sequence[str], given: GivenT | None = None
    ) -> None: ...
    def tree(self, actions: Iterable[int]) -> TreeT: ...

def hash_of_tag(tag: str) -> int: ...

class TaggedWordBuffer:
    @property
    def capacity(self) -> int: ...

class TreeDecoder(Generic[SystemT, GivenT, TreeT]):
    def __init__(self, agenda: Agenda) -> None: ...
    @property
    def agenda(self) -> Agenda: ...
    @property
    def system(self) -> SystemT: ...
    @property
    def capacity(self) -> int: ...
    def parse(
        self,
        sentences: list[tuple[list[str], list[str]]],
        given: Sequence[GivenT | None] | None = None,
        *,
        arrays: bool = False,
    ) -> list[TreeT | None]: ...
    def nbest(self, words: list[str], tags: list[str], k: int) -> list[tuple[float, TreeT]]: ...
