from collections.abc import Iterable
from typing import NamedTuple

from spacy_structreg.search.transition_system import TransitionSystem

class VisitedState(NamedTuple):
    action: int
    legal: list[int]
    external: dict[int, float]
    atoms: dict[str, list[int]]

def visited_states(system: TransitionSystem, actions: Iterable[int]) -> list[VisitedState]: ...
def fired_events(system: TransitionSystem) -> list[list[tuple[str, int]]]: ...
