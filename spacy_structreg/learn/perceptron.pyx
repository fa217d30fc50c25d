"""The structured perceptron and its passive-aggressive relatives, as weights and a clock."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from spacy_structreg.learn.changes cimport Changes
from spacy_structreg.learn.rows cimport TrainingRows

from spacy_structreg.learn.settings import Learning

# Times are exact as doubles, and a training may go on from here.
MAX_CLOCK = 1 << 52

RULES = {"perceptron": PERCEPTRON, "pa": PA, "pa_i": PA_I, "pa_ii": PA_II}
CLOCKS = {"examples": EXAMPLES, "mistakes": MISTAKES, "epochs": EPOCHS}


cdef class Perceptron:
    """The weights of one training, how they are updated, and when.

    tables: `TrainingRows`, one for each shape of features, with the penalties of `settings`.
    settings: a `Learning`.
    clock: the number of updates so far, which averaging and penalties count (method.md, section
        2). A row read for update number t must be at t - 1.
    A kernel fills `changes` with ΔΦ = Φ(gold) - Φ(predicted) and calls `apply`.
    Raises ValueError if the clock is out of range, a row was visited later than it says, or a table
    has other penalties.
    """

    def __init__(self, tables, settings=None, clock=0):
        cdef Py_ssize_t i
        self.tables = tuple(tables)
        self.settings = Learning() if settings is None else settings
        self._clock = clock
        self.lineage = object()
        self.rule = RULES[self.settings.update]
        self.ticks = CLOCKS[self.settings.clock]
        self.changes = Changes()
        self._aggressiveness = self.settings.aggressiveness
        self._penalised = any(self.settings.penalties.values())
        if not 0 <= self._clock <= MAX_CLOCK:
            raise ValueError(f"the clock stands at {self._clock}")
        free(self._tables)
        self._tables = <void**> malloc(max(1, len(self.tables)) * sizeof(void*))
        if self._tables == NULL:
            raise MemoryError("no memory for a learner")
        for i, table in enumerate(self.tables):
            if (<TrainingRows?> table).last_visit() > self._clock:
                raise ValueError("a weight row was visited later than the clock says")
            if table.penalties != self.settings.penalties:
                raise ValueError("a table of weight rows has other penalties than the learner")
            self._tables[i] = <void*> table

    def __dealloc__(self):
        free(self._tables)

    def __reduce__(self):
        return Perceptron, (self.tables, self.settings, self._clock)

    @property
    def clock(self):
        """The number of updates so far. It may be put forward, as if updates had added nothing."""
        return self._clock

    @clock.setter
    def clock(self, int64_t time):
        if not self._clock <= time <= MAX_CLOCK:
            raise ValueError(f"the clock stands at {self._clock} and cannot be put to {time}")
        self._clock = time

    cdef void begin_epoch(self) noexcept nogil:
        """Note that a pass over the corpus begins."""
        self.changes.n = 0
        if self.ticks == EPOCHS:
            self._clock += 1

    cdef void begin_example(self) noexcept nogil:
        """Note that an example is visited, after it was read and before `apply`."""
        if self.ticks == EXAMPLES:
            self._clock += 1

    cdef int64_t read_time(self) noexcept nogil:
        """The time at which rows are to be read for the next example."""
        return self._clock

    cdef int apply(self, double loss) except -1 nogil:
        """Update the weights by `changes`, as far as the rule has it; empties `changes`.

        loss: of the passive-aggressive rules, ≥ 0.
        """
        cdef double step = 1.0
        cdef double squared
        cdef Py_ssize_t i
        if self.rule != PERCEPTRON:
            squared = self.changes.merge()
            if squared == 0.0 or loss <= 0.0:
                self.changes.n = 0
                return 0
            if self.rule == PA_II:
                step = loss / (squared + 0.5 / self._aggressiveness)
            else:
                step = min(self._aggressiveness, loss / squared)
        if self.ticks == MISTAKES:
            self._clock += 1
        for i in range(self.changes.n):
            (<TrainingRows> self._tables[self.changes.items[i].table]).update(
                self.changes.items[i].row, self.changes.items[i].column,
                step * self.changes.items[i].value, self._clock,
            )
        if self._penalised:
            for i in range(self.changes.n):
                (<TrainingRows> self._tables[self.changes.items[i].table]).settle(
                    self.changes.items[i].row, self._clock
                )
        self.changes.n = 0
        return 0

    def average(self):
        """The averaged weights: one `TrainedRows` for each table. The training is not touched."""
        return [table.average(self._clock) for table in self.tables]

    def n_rows(self):
        """How many weight rows there are, over all tables."""
        return sum([table.n_rows for table in self.tables])

    def owns(self, lineage, Py_ssize_t n_rows_known):
        """Whether row numbers mean the same here as in a learner of `lineage`.

        n_rows_known: how many rows that learner had when the numbers were given out.
        """
        return lineage is self.lineage and n_rows_known <= self.n_rows()

    def copy(self):
        """A learner of the same weights and rows, which gets no new rows.

        What was compiled for the original before it was copied fits the copy too.
        """
        cdef Perceptron twin = Perceptron(
            [table.copy() for table in self.tables], self.settings, self._clock
        )
        twin.lineage = self.lineage
        twin.is_copy = True
        return twin

    @classmethod
    def from_trained(cls, tables, settings=None):
        """A training that goes on from averaged weights, its clock at 0."""
        settings = Learning() if settings is None else settings
        return cls(
            [TrainingRows.from_trained(table, settings.penalties) for table in tables], settings
        )
