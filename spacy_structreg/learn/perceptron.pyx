"""The structured perceptron and its passive-aggressive relatives, as weights and a clock."""

from libc.stdint cimport int64_t

from spacy_structreg.learn.changes cimport Changes
from spacy_structreg.learn.learner cimport Learner
from spacy_structreg.learn.rows cimport TrainingRows

from spacy_structreg.learn.learning_settings import Learning

CLOCKS = {"examples": EXAMPLES, "mistakes": MISTAKES, "epochs": EPOCHS}


cdef class Perceptron(Learner):
    """The weights of one training, how they are updated, and when.

    tables: `TrainingRows`, one for each shape of features, with the penalties of `settings`.
    settings: a `Learning`, whose `UpdateRule` says what kernels decode and how long a step is.
    clock: the number of updates so far, which averaging and penalties count. A row read for update
        number t must be at t - 1.
    A kernel fills `changes` with ΔΦ = Φ(gold) - Φ(predicted) and calls `apply`.
    Raises ValueError as `Learner`.
    """

    def __init__(self, tables, settings=None, clock=0):
        super().__init__(tables, Learning() if settings is None else settings, clock)
        rule = self.settings.rule
        self.cost = rule.cost
        self.margin = rule.margin
        self._passive = rule.passive
        self._longest = rule.longest
        self._slack = rule.slack
        self.ticks = CLOCKS[self.settings.clock]
        self.changes = Changes()
        self._restart = self.settings.restart
        self._penalised = any(self.settings.penalties.values())

    def __reduce__(self):
        return Perceptron, (self.tables, self.settings, self._clock)

    cdef void begin_epoch(self) noexcept nogil:
        """Start an epoch; with `restart`, from zero weights."""
        cdef Py_ssize_t i
        self.changes.n = 0
        if self._restart and self._clock:
            for i in range(self._n_tables):
                (<TrainingRows> self.table_pointers[i]).forget(self._clock)
        if self.ticks == EPOCHS:
            self._clock += 1

    cdef void begin_example(self) noexcept nogil:
        """Count a visit of an example, before `apply`."""
        if self.ticks == EXAMPLES:
            self._clock += 1

    cdef int64_t read_time(self) noexcept nogil:
        """The time at which rows are to be read for the next example."""
        return self._clock

    cdef int apply(self, double loss) except -1 nogil:
        """Update the weights by `changes`, with the step of the rule; empties `changes`.

        loss: by how much the output that was decoded is too good; only passive rules read it.
        """
        cdef double step = 1.0
        cdef double squared
        cdef Py_ssize_t i
        if self._passive:
            squared = self.changes.merge()
            if squared == 0.0 or loss <= 0.0:
                self.changes.n = 0
                return 0
            step = min(self._longest, loss / (squared + self._slack))
        if self.ticks == MISTAKES:
            self._clock += 1
        for i in range(self.changes.n):
            (<TrainingRows> self.table_pointers[self.changes.items[i].table]).update(
                self.changes.items[i].row, self.changes.items[i].column,
                step * self.changes.items[i].value, self._clock,
            )
        if self._penalised:
            for i in range(self.changes.n):
                (<TrainingRows> self.table_pointers[self.changes.items[i].table]).finish_update(
                    self.changes.items[i].row, self._clock
                )
        self.changes.n = 0
        return 0

    def average(self, bint pruned=True):
        """The averaged weights: one `TrainedRows` for each table. The training is not touched.

        pruned: leave out small ones and round the others, as the settings have it.
        """
        from spacy_structreg.learn.model_average import rounded_rows

        if not pruned:
            return [table.average(self._clock) for table in self.tables]
        return [
            rounded_rows(
                table.average(self._clock, self.settings.prune_of(table.n_rows)),
                self.settings.precision,
            )
            for table in self.tables
        ]

    @classmethod
    def from_trained(cls, tables, settings=None):
        """A training that goes on from averaged weights, its clock at 0."""
        return super().from_trained(tables, Learning() if settings is None else settings)
