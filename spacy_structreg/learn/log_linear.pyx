"""The weights of a log-linear model: a conditional random field, or a logistic regression."""

from libc.string cimport memcpy

from spacy_structreg.learn.learner cimport Learner
from spacy_structreg.learn.rows cimport TrainingRows

import numpy as np

from spacy_structreg.learn.model_file import field
from spacy_structreg.learn.learning_settings import LogLinear


cdef class LogLinearLearner(Learner):
    """The weights of one training, and how far gradient descent has come.

    tables: dense `TrainingRows`, one for each shape or list of features. Their values times `scale`
        are the weights, so that L2 shrinks all of them at once; their sums are room for a gradient,
        and zero when nobody is at work.
    settings: a `LogLinear`.
    clock: positions of sequences visited so far; `n_positions` is how many there are in all
        sequences that were compiled for it, so that the two say how many passes were made, and
        `sum_of_squares` that of the values of all their features.
    With ``optimizer = "adf"`` each row has a rate. The `rates` of a table are, for each row, that
        rate as a part of the first one, the visits of this window in which the row was used, and
        the last one of these; `window_visits` and `window_positions` count visits, and positions
        visited, since the window began.
    objective: NaN before the first epoch. converged: whether the last epoch has changed it by less
        than the tolerance.
    Raises ValueError as `Learner`, and for adaptive rows.
    """

    def __init__(self, tables, settings=None, clock=0):
        super().__init__(tables, LogLinear() if settings is None else settings, clock)
        if any([table.adaptive for table in self.tables]):
            raise ValueError("a log-linear model needs dense rows of weights")
        self.scale = 1.0
        self.objective = float("nan")

    def __reduce__(self):
        self.fold()
        return _restored, (
            self.tables, self.settings, self._clock, self.n_positions, self.sum_of_squares,
            self.objective, self.window_visits, self.window_positions,
        )

    cdef void fold(self) noexcept nogil:
        """Fold the scale of the weights into the values of the tables."""
        cdef double* values
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        if self.scale == 1.0:
            return
        for i in range(self._n_tables):
            values = (<TrainingRows> self.table_pointers[i])._values
            for k in range(
                (<TrainingRows> self.table_pointers[i]).n_rows
                * (<TrainingRows> self.table_pointers[i]).n_columns
            ):
                values[k] *= self.scale
        self.scale = 1.0

    def tables_as_weights(self):
        self.fold()
        return self.tables

    cdef object row_rates(self):
        """The addresses of the rates of all tables, which are made where they are missing."""
        rates = [table.row_rates().ctypes.data for table in self.tables]
        return np.array(rates or [0], dtype=np.uintp)

    def totals(self):
        return {
            "positions": self.n_positions,
            "squares": self.sum_of_squares,
            "window_visits": self.window_visits,
            "window_positions": self.window_positions,
        }

    def restore_totals(self, header):
        self.n_positions = field(header, "positions", int)
        self.sum_of_squares = field(header, "squares", float)
        self.window_visits = field(header, "window_visits", int)
        self.window_positions = field(header, "window_positions", int)
        if (
            min(self.n_positions, self.window_visits, self.window_positions) < 0
            or not 0.0 <= self.sum_of_squares < float("inf")
        ):
            raise ValueError("the sums over the corpus of a training cannot be negative")

    def weights(self):
        """The weights of each table as they are now: float64 of shape (n_rows, n_columns)."""
        self.fold()
        return [table.state()["values"] for table in self.tables]

    def set_weights(self, weights):
        """Set the weights of all tables, row by row: float64 of shape (n,).

        Raises ValueError if they are not so many, or one is not a finite number.
        """
        cdef const double[::1] view = np.ascontiguousarray(weights, dtype=np.float64)
        cdef TrainingRows table
        cdef Py_ssize_t n = sum([table.n_rows * table.n_columns for table in self.tables])
        cdef Py_ssize_t done = 0
        if view.shape[0] != n or not np.isfinite(weights).all():
            raise ValueError(f"expected {n:,} finite weights")
        for table in self.tables:
            n = table.n_rows * table.n_columns
            if n:
                memcpy(table._values, &view[done], n * sizeof(double))
            done += n
        self.scale = 1.0

    def average(self, bint pruned=True):
        """The weights as they are now: one `TrainedRows` for each table. None are pruned.

        The iterates of a descent are not averaged: early ones would drag the mean along.
        """
        self.fold()
        return [table.average(0) for table in self.tables]

    def copy(self):
        cdef LogLinearLearner twin
        self.fold()
        twin = super().copy()
        twin.objective = self.objective
        return twin

    def resumed(self, tables, clock):
        cdef LogLinearLearner twin = super().resumed(tables, clock)
        twin.n_positions = self.n_positions
        twin.sum_of_squares = self.sum_of_squares
        twin.window_visits = self.window_visits
        twin.window_positions = self.window_positions
        return twin

    @classmethod
    def from_trained(cls, tables, settings=None):
        """A training that goes on from trained weights, its clock at 0."""
        return super().from_trained(tables, LogLinear() if settings is None else settings)


def _restored(
    tables, settings, clock, n_positions, sum_of_squares, objective, window_visits,
    window_positions,
):
    learner = LogLinearLearner(tables, settings, clock)
    learner.n_positions = n_positions
    learner.sum_of_squares = sum_of_squares
    learner.objective = objective
    learner.window_visits = window_visits
    learner.window_positions = window_positions
    return learner
