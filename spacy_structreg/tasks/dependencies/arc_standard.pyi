from collections.abc import Iterable, Sequence

from spacy_structreg.tasks.dependencies.arcs import DependencyTransitions
from spacy_structreg.tasks.word_fields import WordFields

ARC_STANDARD_ATOMS: tuple[str, ...]
ARC_STANDARD_EVENTS: tuple[str, ...]

class ArcStandard(DependencyTransitions):
    def __init__(
        self,
        words: WordFields,
        n_labels: int,
        atoms: Iterable[str],
        events: Iterable[str] = ("action",),
    ) -> None: ...
    def oracle(self, heads: Sequence[int], labels: Sequence[int]) -> list[int]: ...
