from collections.abc import Iterable

from spacy_structreg.learn.changes import Changes
from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.rows import TrainedRows, TrainingRows

class Perceptron(Learner):
    def __init__(
        self, tables: Iterable[TrainingRows], settings: Learning | None = None, clock: int = 0
    ) -> None: ...
    @property
    def ticks(self) -> int: ...
    @property
    def changes(self) -> Changes: ...
    @property
    def cost(self) -> float: ...
    @property
    def margin(self) -> float: ...
    def average(self, pruned: bool = True) -> list[TrainedRows]: ...
    @classmethod
    def from_trained(
        cls, tables: Iterable[TrainedRows], settings: Learning | None = None
    ) -> Perceptron: ...
