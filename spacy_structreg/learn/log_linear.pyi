from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.learn.learner import Learner
from spacy_structreg.learn.rows import TrainedRows, TrainingRows
from spacy_structreg.learn.settings import LogLinear

class LogLinearLearner(Learner):
    n_positions: int
    sum_of_squares: float
    objective: float
    converged: bool
    def __init__(
        self, tables: Iterable[TrainingRows], settings: LogLinear | None = None, clock: int = 0
    ) -> None: ...
    def tables_as_weights(self) -> tuple[TrainingRows, ...]: ...
    def average(self, pruned: bool = True) -> list[TrainedRows]: ...
    def weights(self) -> list[NDArray[np.float64]]: ...
    def set_weights(self, weights: NDArray[np.float64]) -> None: ...
    def copy(self) -> LogLinearLearner: ...
    def resumed(self, tables: Iterable[TrainingRows], clock: int) -> LogLinearLearner: ...
    @classmethod
    def from_trained(
        cls, tables: Iterable[TrainedRows], settings: LogLinear | None = None
    ) -> LogLinearLearner: ...
