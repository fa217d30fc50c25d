from collections.abc import Iterable, Sequence

from spacy_structreg.tasks.dependencies.arcs import DependencyTransitions
from spacy_structreg.tasks.word_fields import WordFields

ARC_EAGER_ATOMS: tuple[str, ...]
ARC_EAGER_EVENTS: tuple[str, ...]
ARC_ATOMS: tuple[str, ...]

class ArcEager(DependencyTransitions):
    def __init__(
        self,
        words: WordFields,
        n_labels: int,
        atoms: Iterable[str],
        events: Iterable[str] = ("action",),
    ) -> None: ...
    def oracle(self, heads: Sequence[int], labels: Sequence[int]) -> list[int]: ...
