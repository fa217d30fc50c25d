from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacy_structreg.features.state_templates import StateTemplate
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.search.agenda import Agenda
from spacy_structreg.search.scorer import StateScorer
from spacy_structreg.search.transition_system import TransitionSystem
from spacy_structreg.tasks.derivations import Derivation

UPDATES: dict[str, Any]

class AgendaTrainer:
    def __init__(
        self,
        system: TransitionSystem,
        templates: Iterable[StateTemplate],
        learner: Perceptron,
        width: int | None = 16,
        update: str = "early",
        merge: bool = False,
        memo: bool = True,
        margin: Any = None,
    ) -> None: ...
    @property
    def agenda(self) -> Agenda: ...
    @property
    def scorer(self) -> StateScorer: ...
    @property
    def system(self) -> TransitionSystem: ...
    @property
    def learner(self) -> Perceptron: ...
    @property
    def update(self) -> int: ...
    def epoch(
        self, derivations: Sequence[Derivation], pieces: ArrayLike, noise: int = 0
    ) -> tuple[int, int]: ...
    def restrict(self, derivations: Iterable[Derivation], least: int) -> None: ...
    def count(self, derivations: Iterable[Derivation]) -> list[NDArray[np.int64]]: ...
