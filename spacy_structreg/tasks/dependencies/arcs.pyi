from collections.abc import Iterable, Sequence
from typing import TypeAlias, TypeVar

from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.tagged_words import TaggedWordTransitions, TreeDecoder

Tree: TypeAlias = tuple[list[int], list[int]]
Given: TypeAlias = tuple[Sequence[int | None], Sequence[int | None]]
SystemT = TypeVar("SystemT", bound=DependencyTransitions)

class DependencyTransitions(TaggedWordTransitions[Given, Tree]):
    @property
    def n_labels(self) -> int: ...
    def copy(self: SystemT) -> SystemT: ...
    def compile(
        self,
        words: Sequence[str],
        tags: Sequence[str],
        heads: Sequence[int | None],
        labels: Sequence[int | None],
        learner: Perceptron,
    ) -> Derivation | None: ...

class ParseDecoder(TreeDecoder[DependencyTransitions, Given, Tree]):
    def __init__(self, agenda: Agenda, labels: Iterable[str], root_label: str) -> None: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def root_label(self) -> str: ...
