from collections.abc import Iterable, Sequence

from spacy_structreg.features.state_templates import Group, StateTemplate
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import Rows
from spacy_structreg.search.transition_system import TransitionSystem

class StateScorer:
    def __init__(
        self,
        system: TransitionSystem,
        templates: Iterable[StateTemplate],
        tables: Sequence[Rows],
        memo: bool = True,
    ) -> None: ...
    @property
    def system(self) -> TransitionSystem: ...
    @property
    def groups(self) -> tuple[Group, ...]: ...
    @property
    def tables(self) -> tuple[Rows, ...]: ...
    @property
    def memo(self) -> bool: ...
    @property
    def n_events(self) -> int: ...

def new_learner(system: TransitionSystem, settings: Learning | None = None) -> Perceptron: ...
