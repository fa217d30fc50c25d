"""Corrections of trained weights: the smallest change that makes a sentence come out right."""

from libc.math cimport fabs
from libc.stdint cimport int64_t

from spacy_structreg.learn.changes cimport Change, Changes
from spacy_structreg.learn.memory cimport reserve, reserve_zeros
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.learn.rows cimport TrainingRows

import numpy as np

from spacy_structreg.learn.rows import PatchedRows, TrainedRows

cdef enum:
    # How many weights a patch has before a table is made anew.
    MAX_PATCH = 1 << 18
    # Passes over the demands after each new one, and changes that all of them look at. Few are
    # needed, as most demands do not touch.
    MAX_SWEEPS = 100
    MAX_WORK = 200_000

# By how much of the margin a lead may fall short.
cdef double TOLERANCE = 0.01


cdef class Corrector(Perceptron):
    """Trained weights with corrections: the smallest change that meets all demands.

    Each output that a kernel finds too close to the gold one adds a demand, w·ΔΦ ≥ margin. The
    weights are those of least Σ (w - w₀)² / share that meet all demands so far: for the first one
    by a step of passive-aggressive learning (Crammer et al. 2006, section 3); for more by dual
    coordinate ascent (Hildreth 1957), which takes back what later demands make needless.

    Weights of frequent features have a small share in a change, which would be felt everywhere
    (compare Dredze, Crammer & Pereira 2008): that of its table is in proportion to the number of
    its rows, and squared as long as nothing has been counted; of a row that was counted n times it
    is divided by (1 + n)².

    tables: as trained. settings: of algorithm "pa", which tells kernels what to oppose, and clock
        "mistakes"; the clock stands still, so that `average` gives the weights as they are.
    n_steps: how many demands were added. margin: the lead that is asked for; above 0, at most 1,
        beyond which kernels do not look.
    """

    def __init__(self, tables, settings=None, clock=0, *, double margin=0.1):
        cdef Py_ssize_t i
        super().__init__(tables, settings, clock)
        if self.settings.algorithm != "pa" or self.settings.clock != "mistakes":
            raise ValueError("corrections need algorithm = 'pa' and clock = 'mistakes'")
        if not 0 < margin <= 1:
            raise ValueError(f"margin must be above 0 and at most 1, got {margin}")
        self.margin = margin
        self._items = Changes()
        self._moved = Changes()
        reserve(&self.buffers, self._shares, self._n_tables)
        reserve_zeros(&self.buffers, self._first_row_share, self._n_tables + 1)
        most = max([table.n_rows for table in self.tables], default=0)
        for i, table in enumerate(self.tables):
            self._shares[i] = (max(1, table.n_rows) / max(1, most)) ** 2

    def __reduce__(self):
        raise TypeError("running corrections cannot be pickled; save the corrected model instead")

    def begin(self):
        """Drop all demands; the current weights become the reference point."""
        self._items.n = 0
        self._n_demands = 0

    def set_feature_counts(self, counts):
        """Set the feature counts: weights of frequent features move less.

        counts: for each table, how often its rows were, int64 of shape (n,); further rows never.
        In place of what was counted before.
        """
        cdef const int64_t[::1] view
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t total = sum([len(each) for each in counts])
        if len(counts) != self._n_tables:
            raise ValueError(f"expected the counts of {self._n_tables} tables, got {len(counts)}")
        reserve(&self.buffers, self._row_shares, total + 1)
        most = max([table.n_rows for table in self.tables], default=0)
        for i, table in enumerate(self.tables):
            self._shares[i] = max(1, table.n_rows) / max(1, most)
            view = np.ascontiguousarray(counts[i], dtype=np.int64)
            for k in range(view.shape[0]):
                self._row_shares[n + k] = 1.0 / (1.0 + view[k]) ** 2
            n += view.shape[0]
            self._first_row_share[i + 1] = n
        self.begin()

    def corrected(self, tables):
        """The weights as they are now: a `TrainedRows` for each table.

        tables: the weights as they were when this was asked last, or at the beginning.
        """
        cdef TrainingRows table
        cdef Py_ssize_t i
        rows = [set() for _ in self.tables]
        for i in range(self._moved.n):
            rows[self._moved.items[i].table].add(self._moved.items[i].row)
        self._moved.n = 0
        corrected = []
        for trained, table, changed in zip(tables, self.tables, rows, strict=True):
            if changed:
                trained = PatchedRows(trained, *table.gather(sorted(changed)))
                if trained.n_patched * trained.n_columns > MAX_PATCH:
                    trained = TrainedRows(trained.n_columns, trained.arrays)
            corrected.append(trained)
        return corrected

    cdef int apply(self, double loss) except -1 nogil:
        """Add the demand that `changes` state, unless it is met already; empties `changes`.

        loss: 1 less the lead of gold.
        """
        cdef Demand demand
        cdef Py_ssize_t i
        cdef Change* item
        cdef double lead = 1.0 - loss
        if lead >= self.margin * (1.0 - TOLERANCE):
            self.changes.n = 0
            return 0
        self.changes.merge()
        demand = Demand(self._items.n, self.changes.n, 0.0, 0.0, 0.0)
        for i in range(self.changes.n):
            item = &self.changes.items[i]
            demand.squared += self._share(item) * item.value * item.value
            self._items.add(item.table, item.row, item.column, item.value)
            self._moved.add(item.table, item.row, 0, 0.0)
        self.changes.n = 0
        if demand.squared == 0.0:
            # The two outputs have the same features: no weights tell them apart.
            return 0
        # Scores may have parts that are no weights.
        demand.least = self.margin - (lead - self._lead(&demand))
        reserve(&self.buffers, self._demands, self._n_demands + 1)
        self._demands[self._n_demands] = demand
        self._n_demands += 1
        self.n_steps += 1
        self._ascend()
        return 0

    cdef double _share(self, const Change* item) noexcept nogil:
        """Return the step size of a weight, from the count of its feature."""
        cdef Py_ssize_t place = self._first_row_share[item.table] + item.row
        if place < self._first_row_share[item.table + 1]:
            return self._shares[item.table] * self._row_shares[place]
        return self._shares[item.table]

    cdef double _lead(self, const Demand* demand) except? -1 nogil:
        """Return the margin of a demand by the current weights."""
        cdef Change* item
        cdef double lead = 0.0
        cdef int64_t cell
        cdef Py_ssize_t i
        for i in range(demand.first, demand.first + demand.n):
            item = &self._items.items[i]
            # The cell first: it may have to be made, and then all of them move.
            cell = (<TrainingRows> self.table_pointers[item.table])._cell(item.row, item.column)
            lead += item.value * (<TrainingRows> self.table_pointers[item.table])._values[cell]
        return lead

    cdef int _move(self, const Demand* demand, double step) except -1 nogil:
        """Take a step in the direction of a demand."""
        cdef Change* item
        cdef Py_ssize_t i
        for i in range(demand.first, demand.first + demand.n):
            item = &self._items.items[i]
            (<TrainingRows> self.table_pointers[item.table]).update(
                item.row, item.column, step * self._share(item) * item.value, self._clock
            )
        return 0

    cdef int _ascend(self) except -1 nogil:
        """Iterate until all demands are met within the tolerance, or the iterations are used up."""
        cdef Demand* demand
        cdef double step
        cdef double largest
        cdef Py_ssize_t work = 0
        cdef Py_ssize_t i
        cdef int _sweep
        for _sweep in range(MAX_SWEEPS):
            largest = 0.0
            for i in range(self._n_demands - 1, -1, -1):
                demand = &self._demands[i]
                step = max((demand.least - self._lead(demand)) / demand.squared, -demand.multiplier)
                if step != 0.0:
                    self._move(demand, step)
                    demand.multiplier += step
                    largest = max(largest, fabs(step) * demand.squared)
                work += demand.n
                if work > MAX_WORK:
                    return 0
            if largest <= 0.5 * TOLERANCE * self.margin:
                break
        return 0
