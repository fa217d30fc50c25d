from collections.abc import Iterable, Sequence
from typing import TypeAlias, TypeVar

from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.tagged_words import TaggedWordTransitions

Tree: TypeAlias = tuple[list[int], list[int]]
Given: TypeAlias = tuple[Sequence[int | None], Sequence[int | None]]
SystemT = TypeVar("SystemT", bound=DependencyTransitions)

class DependencyTransitions(TaggedWordTransitions):
    @property
    def n_labels(self) -> int: ...
    def copy(self: SystemT) -> SystemT: ...
    def load_words(
        self,
        words: Sequence[str],
        tags: Sequence[str],
        heads: Sequence[int | None] | None = None,
        labels: Sequence[int | None] | None = None,
    ) -> None: ...
    def compile(
        self,
        words: Sequence[str],
        tags: Sequence[str],
        heads: Sequence[int | None],
        labels: Sequence[int | None],
        learner: Perceptron,
    ) -> Derivation | None: ...
    def tree(self, actions: Iterable[int]) -> Tree: ...

class ParseDecoder:
    def __init__(self, agenda: Agenda, labels: Iterable[str], root_label: str) -> None: ...
    @property
    def agenda(self) -> Agenda: ...
    @property
    def system(self) -> DependencyTransitions: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def root_label(self) -> str: ...
    @property
    def capacity(self) -> int: ...
    def parse(
        self,
        sentences: list[tuple[list[str], list[str]]],
        given: Sequence[Given | None] | None = None,
    ) -> list[Tree | None]: ...
    def nbest(self, words: list[str], tags: list[str], k: int) -> list[tuple[float, Tree]]: ...
