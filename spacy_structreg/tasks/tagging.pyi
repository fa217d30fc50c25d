from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.transition_system import TransitionSystem
from spacy_structreg.tasks.derivations import Derivation
from spacy_structreg.tasks.word_fields import TagSets, WordFields

TAGGING_ATOMS: tuple[str, ...]
TAGGING_EVENTS: tuple[str, ...]
CATEGORY_ATOMS: frozenset[str]
TAG_SET_ATOMS: frozenset[str]
NEEDS_WORD_CLASSES: frozenset[str]
NEEDS_GUIDE: frozenset[str]
OTHER_WORDS: int

class TagTransitions(TransitionSystem):
    def __init__(
        self,
        words: WordFields,
        n_tags: int,
        atoms: Iterable[str],
        dictionary: TagSets | None = None,
        new_guide: Callable[[], TagDecoder] | None = None,
    ) -> None: ...
    @property
    def words(self) -> WordFields: ...
    @property
    def n_tags(self) -> int: ...
    @property
    def guide(self) -> TagDecoder | None: ...
    @property
    def dictionary(self) -> TagSets | None: ...
    def copy(self, dictionary: TagSets | None = None) -> TagTransitions: ...
    def load_words(self, words: Sequence[str], allowed: ArrayLike | None = None) -> None: ...
    def compile(
        self, words: Sequence[str], tags: Sequence[int | None], learner: Perceptron
    ) -> Derivation | None: ...

class TagDecoder:
    def __init__(self, agenda: Agenda, tags: Iterable[str]) -> None: ...
    @property
    def agenda(self) -> Agenda: ...
    @property
    def system(self) -> TagTransitions: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def capacity(self) -> int: ...
    def tag(
        self, sentences: list[list[str]], allowed: NDArray[np.uint8] | None = None
    ) -> list[list[str]]: ...
    def nbest(
        self, words: list[str], k: int, allowed: NDArray[np.uint8] | None = None
    ) -> list[tuple[float, list[str]]]: ...
