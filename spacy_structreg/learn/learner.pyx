"""The base of all learners: tables of rows, a clock, and the numbering of rows."""

from libc.stdint cimport int64_t
from libc.string cimport memcmp

from spacy_structreg.learn.memory cimport BufferOwner, reserve
from spacy_structreg.learn.rows cimport TrainingRows

# Times are exact as doubles, and a training may go on from here.
MAX_CLOCK = 1 << 52


cdef class Learner(BufferOwner):
    """The weights of one training. Its kinds, `Perceptron` and `LogLinear`, say how they change.

    tables: `TrainingRows`, one for each shape or list of features, with the penalties of settings.
    clock: how far the training has come; what it counts is the kind's to say.
    numbering: an object that stands for the numbers of rows; copies have the same.
    objective: what the last epoch has found of what is minimized, if anything is. converged:
        whether another epoch would change little; a perceptron never says so.
    Raises ValueError if the clock is out of range, a row was visited later than it says, or a table
    has other penalties.
    """

    def __init__(self, tables, settings, clock=0):
        cdef Py_ssize_t i
        if self.table_pointers != NULL:
            raise TypeError("a learner cannot be initialized twice")
        self.tables = tuple(tables)
        self.settings = settings
        self._clock = clock
        self.numbering = object()
        if not 0 <= self._clock <= MAX_CLOCK:
            raise ValueError(f"clock must be at least 0 and at most {MAX_CLOCK}, got {self._clock}")
        self._n_tables = len(self.tables)
        reserve(&self.buffers, self.table_pointers, self._n_tables)
        for i, table in enumerate(self.tables):
            if (<TrainingRows?> table).last_visit() > self._clock:
                raise ValueError("a weight row was updated later than the clock")
            if table.penalties != self.settings.penalties:
                raise ValueError("the penalties of a weight table differ from those of the learner")
            self.table_pointers[i] = <void*> table

    @property
    def clock(self):
        """Number of updates so far. It may be set forward, as by updates without changes."""
        return self._clock

    @clock.setter
    def clock(self, int64_t time):
        if not self._clock <= time <= MAX_CLOCK:
            raise ValueError(f"the clock cannot be set from {self._clock} to {time}")
        self._clock = time

    def tables_as_weights(self):
        """The tables, whose values are the weights as they are now."""
        return self.tables

    def average(self, bint pruned=True):
        """The weights to predict with: a `TrainedRows` of each table. The training goes on.

        pruned: leave out small ones, as the settings have it.
        """
        raise NotImplementedError

    def note(self, counts):
        """Add to the occurrences of the rows of each table: int64 arrays of shape (n,)."""
        for table, count in zip(self.tables, counts, strict=True):
            table.note(count)

    def totals(self):
        """Sums over the corpus that the training needs besides weights, by name: numbers."""
        return {}

    def restore_totals(self, header):
        """Restore the `totals` from the header of a file; raise ValueError for invalid ones."""

    def n_rows(self):
        """Number of weight rows, over all tables."""
        return sum([table.n_rows for table in self.tables])

    def owns(self, numbering, Py_ssize_t n_rows_known):
        """Return True if row numbers are shared with learners of that numbering.

        n_rows_known: how many rows that learner had when the numbers were given out.
        """
        return numbering is self.numbering and n_rows_known <= self.n_rows()

    def copy(self):
        """Return a learner of the same weights that cannot add rows.

        What was compiled for the original before it was copied fits the copy too.
        """
        return self.resumed([table.copy() for table in self.tables], self._clock)

    def resumed(self, tables, clock):
        """Return a learner with the weights of an interrupted training that cannot add rows.

        tables: their first rows are those of this learner, which has learned nothing since; what
        was compiled for it fits the other too. clock: of that training.
        Raises ValueError if these are other rows, and as the class.
        """
        cdef Learner twin = type(self)(tables, self.settings, clock)
        cdef TrainingRows mine
        cdef TrainingRows others
        if len(twin.tables) != len(self.tables):
            raise ValueError(f"there are {len(twin.tables)} tables of weight rows")
        for mine, others in zip(self.tables, twin.tables):
            if (
                others.n_rows < mine.n_rows
                or others.n_columns != mine.n_columns
                or others.adaptive != mine.adaptive
                or (mine.n_rows and memcmp(
                    mine._keys, others._keys, mine.n_rows * sizeof(mine._keys[0])
                ))
            ):
                raise ValueError("the weight rows do not match the features of this corpus")
            others.closed = mine.closed
        twin.numbering = self.numbering
        twin.is_copy = True
        return twin

    @classmethod
    def from_trained(cls, tables, settings):
        """A training that goes on from trained weights, its clock at 0."""
        return cls(
            [TrainingRows.from_trained(table, settings.penalties) for table in tables], settings
        )
