"""The structured perceptron (Collins 2002) with averaging, as weights and a clock."""

from spacy_structreg.learn.rows cimport TrainingRows


cdef class Perceptron:
    """The weights of one training and its clock.

    tables: `TrainingRows`, one for each shape of features.
    clock: the number of examples visited so far, on which averaging counts (method.md, section
        2). A kernel advances it before each example and gives it to the rows as the time of the
        update.
    Raises ValueError if the clock is negative or a row was visited later than it says.
    """

    def __init__(self, tables, clock=0):
        self.tables = tuple(tables)
        self.clock = clock
        if self.clock < 0:
            raise ValueError(f"the clock stands at {self.clock}")
        for table in self.tables:
            if (<TrainingRows?> table).last_visit() > self.clock:
                raise ValueError("a weight row was visited later than the clock says")

    def average(self):
        """The averaged weights: one `TrainedRows` for each table. The training is not touched."""
        return [table.average(self.clock) for table in self.tables]

    @classmethod
    def from_trained(cls, tables):
        """A training that goes on from averaged weights, its clock at 0."""
        return cls([TrainingRows.from_trained(table) for table in tables])

    def __reduce__(self):
        return Perceptron, (self.tables, self.clock)
