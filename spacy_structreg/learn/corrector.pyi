from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.learn.perceptron import Perceptron
from spacy_structreg.learn.rows import TrainedRows, TrainingRows

class Corrector(Perceptron):
    def __init__(
        self,
        tables: Iterable[TrainingRows],
        settings: Learning | None = None,
        clock: int = 0,
        *,
        margin: float = 0.1,
    ) -> None: ...
    @property
    def n_steps(self) -> int: ...
    @property
    def margin(self) -> float: ...
    def begin(self) -> None: ...
    def set_feature_counts(self, counts: Sequence[NDArray[Any]]) -> None: ...
    def corrected(self, tables: Sequence[TrainedRows]) -> list[TrainedRows]: ...
