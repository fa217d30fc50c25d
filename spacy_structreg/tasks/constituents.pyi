from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from spacy_structreg.corpora.binarization import Step
from spacy_structreg.corpora.constituents import Constituent
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.tagged_words import TaggedWordTransitions, TreeDecoder
from spacy_structreg.tasks.word_fields import WordFields

GivenConstituent: TypeAlias = tuple[int, int, str | None]
CONSTITUENT_ATOMS: tuple[str, ...]
CONSTITUENT_EVENTS: tuple[str, ...]
MAX_LABELS: int
MAX_UNARIES: int

class ConstituentTransitions(
    TaggedWordTransitions[Iterable[GivenConstituent], tuple[Constituent, ...]]
):
    def __init__(
        self,
        words: WordFields,
        labels: Iterable[str],
        atoms: Iterable[str],
        max_unaries: int = 3,
        heads: Iterable[tuple[str, str]] | None = None,
    ) -> None: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def max_unaries(self) -> int: ...
    @property
    def heads(self) -> tuple[tuple[str, str], ...] | None: ...
    def copy(self) -> ConstituentTransitions: ...
    def oracle(self, n_words: int, constituents: Sequence[Constituent]) -> list[int]: ...
    def steps(self, actions: Iterable[int]) -> list[Step]: ...
    def compile(
        self,
        words: Sequence[str],
        tags: Sequence[str],
        constituents: Sequence[Constituent],
        learner: Perceptron,
    ) -> Derivation | None: ...
    def most_steps(self, n_words: int) -> int: ...

class ConstituentDecoder(
    TreeDecoder[ConstituentTransitions, Iterable[GivenConstituent], tuple[Constituent, ...]]
):
    def __init__(self, agenda: Agenda) -> None: ...

def heads_of_words(constituents: Any, n_words: int) -> Any: ...
