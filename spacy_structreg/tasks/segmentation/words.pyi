from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.transition_system import TransitionSystem
from spacy_structreg.search.visited_states import VisitedState
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.joint.tag_records import TagRecords
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms
from spacy_structreg.tasks.segmentation.constraints import Constraints
from spacy_structreg.tasks.segmentation.text import TextDecoder

class WordTransitions(TransitionSystem):
    def __init__(
        self,
        characters: CharacterAtoms,
        n_tags: int = 1,
        by_words: bool = False,
        max_word_length: int | None = None,
        records: TagRecords | None = None,
        prune: bool = True,
        joins_runs: bool = False,
    ) -> None: ...
    @property
    def characters(self) -> CharacterAtoms: ...
    @property
    def n_tags(self) -> int: ...
    @property
    def by_words(self) -> bool: ...
    @property
    def max_word_length(self) -> int: ...
    @property
    def records(self) -> TagRecords | None: ...
    @property
    def prune(self) -> bool: ...
    @property
    def joins_runs(self) -> bool: ...
    def copy(
        self, prune: bool | None = None, records: TagRecords | None = None
    ) -> WordTransitions: ...
    def load_text(self, text: str, constraints: ArrayLike | None = None) -> None: ...
    def compile(
        self, words: Iterable[str], tags: Sequence[int] | None, learner: Perceptron
    ) -> Derivation | None: ...
    def compile_partial(
        self,
        text: str,
        boundaries: Sequence[bool | None],
        tags: Iterable[tuple[int, int, int]],
        learner: Perceptron,
    ) -> Derivation: ...

class WordGuide:
    @property
    def adds_scores(self) -> bool: ...
    @property
    def looks_ahead(self) -> bool: ...
    @property
    def capacity(self) -> int: ...
    def prefer(self, words: Any) -> bool: ...

class WordDecoder(TextDecoder):
    def __init__(
        self, agenda: Agenda, tags: Iterable[str] = (), guide: WordGuide | None = None
    ) -> None: ...
    @property
    def agenda(self) -> Agenda: ...
    @property
    def system(self) -> WordTransitions: ...
    @property
    def guide(self) -> WordGuide | None: ...
    @property
    def capacity(self) -> int: ...
    def prefer(self, words: Any) -> bool: ...
    def best_states(
        self, text: str, constraints: Constraints | None = None
    ) -> tuple[str, float, list[VisitedState], list[dict[int, float]]]: ...
