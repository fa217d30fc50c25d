"""Weight rows: the weights of a feature, one column for each label, found by a 64-bit key.

`TrainingRows` hold the weights of a running training and the sums that averaging needs; they
grow as features are met. `TrainedRows` are what a training leaves behind: averaged, without
zeros, read-only, single precision, possibly lying in a mapped file. Both lay a row out in one of
two ways. *Dense*: all columns side by side, for few labels. *Adaptive*, for many: only the cells
that were ever touched, until there are so many that dense is smaller.

Averaging is lazy (method: Daumé 2006, section 2.1.1, restated with time stamps): a row records
when it was last visited, and its sum catches up when the row changes next, so that an update
costs time in proportion to what it changes and not to the size of the model.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.math cimport fabs
from libc.string cimport memcpy, memset

from spacy_structreg.learn.memory cimport BufferOwner, duplicate, reserve, reserve_zeros
from spacy_structreg.learn.penalty cimport Penalty, Span, advance, settle_cumulative, span_of

import numpy as np

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define STRUCTREG_UNROLLED static inline __attribute__((always_inline))
    #else
    #define STRUCTREG_UNROLLED static __forceinline
    #endif

    #define STRUCTREG_ROWS_AHEAD 12  /* memory is fetched for so many rows ahead */

    /* Adds rows of so many shifts times so many labels, both constants, to positions that follow
       each other. The scores of the positions that a row reaches stay in registers from row to
       row. To add zeros for rows that are not there changes no score, as none is -0, and is
       cheaper than to tell them apart. */
    STRUCTREG_UNROLLED void structreg_add_shifted(
        const float *values, const Py_ssize_t n_shifts, const Py_ssize_t n_labels,
        const int32_t *rows, Py_ssize_t n, double *scores
    ) {
        static const float zeros[64];
        double sums[64];
        const Py_ssize_t n_columns = n_shifts * n_labels, n_kept = n_columns - n_labels;
        Py_ssize_t i, k;
        for (k = 0; k < n_kept; k++)
            sums[k] = scores[k];
        for (i = 0; i < n; i++, scores += n_labels) {
            const float *row = rows[i] < 0 ? zeros : values + (int64_t) rows[i] * n_columns;
            if (i + STRUCTREG_ROWS_AHEAD < n) {
                const int32_t ahead = rows[i + STRUCTREG_ROWS_AHEAD];
                const float *next = values + (int64_t) (ahead < 0 ? 0 : ahead) * n_columns;
                STRUCTREG_PREFETCH(next);
                STRUCTREG_PREFETCH(next + n_columns - 1);
            }
            for (k = 0; k < n_labels; k++)
                sums[n_kept + k] = scores[n_kept + k];
            for (k = 0; k < n_columns; k++)
                sums[k] += row[k];
            for (k = 0; k < n_labels; k++)
                scores[k] = sums[k];
            for (k = 0; k < n_kept; k++)
                sums[k] = sums[k + n_labels];
        }
        for (k = 0; k < n_kept; k++)
            scores[k] = sums[k];
    }

    /* With an indirect function of the C library, machines that can add four doubles at a time do;
       the sums are the same. */
    #if defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    #define STRUCTREG_CLONED __attribute__((target_clones("avx2", "default")))
    #else
    #define STRUCTREG_CLONED
    #endif

    STRUCTREG_CLONED static void structreg_add_full(
        const float *__restrict row, Py_ssize_t n_columns, double *__restrict scores
    ) {
        Py_ssize_t k;
        for (k = 0; k < n_columns; k++)
            scores[k] += row[k];
    }

    static void structreg_add_dense(
        const float *values, Py_ssize_t n_columns, const int32_t *rows, Py_ssize_t n,
        Py_ssize_t step, double *scores
    ) {
        Py_ssize_t i, k;
        #define STRUCTREG_CASE(n_shifts, n_labels) \
            if (step == n_labels && n_columns == n_shifts * n_labels) { \
                structreg_add_shifted(values, n_shifts, n_labels, rows, n, scores); \
                return; \
            }
        STRUCTREG_CASE(1, 4)
        STRUCTREG_CASE(2, 4)
        STRUCTREG_CASE(3, 4)
        STRUCTREG_CASE(4, 4)
        STRUCTREG_CASE(1, 6)
        STRUCTREG_CASE(2, 6)
        STRUCTREG_CASE(3, 6)
        STRUCTREG_CASE(4, 6)
        #undef STRUCTREG_CASE
        for (i = 0; i < n; i++) {
            const float *row = values + (int64_t) rows[i] * n_columns;
            double *target = scores + i * step;
            if (rows[i] >= 0)
                for (k = 0; k < n_columns; k++)
                    target[k] += row[k];
        }
    }
    """
    void structreg_add_dense(
        const float* values, Py_ssize_t n_columns, const int32_t* rows, Py_ssize_t n,
        Py_ssize_t step, double* scores,
    ) noexcept nogil
    void structreg_add_full(
        const float* row, Py_ssize_t n_columns, double* scores,
    ) noexcept nogil

NO_FROZEN = "frozen rows cannot be changed; take the trained rows that they were made of"
BAD_COLUMNS = "the columns of a weight row do not rise, or go beyond its last column"
# Averages must fit single precision, and sums of them double.
MAX_WEIGHT = 1e30
# Counts of occurrences are exact as doubles.
MAX_COUNT_BITS = 53

cdef enum:
    MAX_ROWS = 0x7FFFFFFF
    # Keys count as small up to so many, and so many more for each row.
    SMALL_KEYS = 1024
    SMALL_SHARE = 16
    # Rows of more columns than this are adaptive unless told otherwise.
    DENSE_COLUMNS = 64
    # How many slots past its own a key may lie in a table that was not built by insertion.
    MAX_DISPLACEMENT = 1024
    # Adaptive rows grow through capacities of 2, 4, 8, … cells. Beyond 8 cells, and an eighth of
    # the columns, they become dense: to add a row costs as much either way then.
    SPARSE_CELLS = 8
    SPARSE_SHARE = 8
    # Trained rows with cells in a quarter of their columns are read as dense ones: these are few,
    # but most of what is read.
    FULL_SHARE = 4
    FULL = -1
    CELLS_OF_LINE = 16
    DENSE_CLASS = 15
    # So many rows ahead of the one that is added, memory is fetched.
    AHEAD = 12


ctypedef fused Weight:
    float
    double


cdef class Rows(BufferOwner):
    """A hash table from keys to row numbers, and the promise to add rows to scores.

    n_rows: how many rows there are. n_columns: how many columns a row has, up to 65,536.
    """

    def __cinit__(self, *args, **kwargs):
        self._resize_index(0)

    def __len__(self):
        return self.n_rows

    cdef int _begin(self, Py_ssize_t n_columns) except -1:
        """Set the number of columns; raise TypeError on a second call."""
        if self.n_columns:
            raise TypeError("a table of weight rows cannot be initialized twice")
        if not 1 <= n_columns <= 0x10000:
            raise ValueError(f"n_columns must be at least 1 and at most 65,536, got {n_columns:,}")
        self.n_columns = n_columns
        return 0

    cdef int _resize_index(self, Py_ssize_t n_rows) except -1 nogil:
        """Make an empty index with room for `n_rows` at a load of two thirds at most.

        It is never smaller than the one before, in whose place it comes.
        """
        cdef Py_ssize_t size = 16
        while size * 2 < n_rows * 3:
            size *= 2
        reserve(&self.buffers, self._slots, size)
        reserve_zeros(&self.buffers, self._tags, size)
        self._slot_mask = <uint64_t> size - 1
        return 0

    cdef int _place(self, uint64_t key, Py_ssize_t row) except -1 nogil:
        """Insert a new key into the index; if bounded, near its own slot only."""
        cdef uint64_t mixed = spread(key)
        cdef uint64_t slot = mixed & self._slot_mask
        cdef int displacement = 0
        while self._tags[slot] != 0:
            slot = (slot + 1) & self._slot_mask
            displacement += 1
            if self._bounded and displacement > MAX_DISPLACEMENT:
                with gil:
                    raise ValueError("keys collide too often to be genuine")
        self._tags[slot] = tag_of(mixed)
        self._slots[slot].key = key
        self._slots[slot].row = <uint64_t> row
        return 0

    cdef int _append(self, uint64_t key) except -1 nogil:
        """Give the next row to a key that has none."""
        cdef Py_ssize_t i
        if self.n_rows >= MAX_ROWS:
            with gil:
                raise MemoryError(f"a table holds at most {MAX_ROWS:,} rows")
        reserve(&self.buffers, self._keys, self.n_rows + 1)
        if (self.n_rows + 1) * 3 > (<Py_ssize_t> self._slot_mask + 1) * 2:
            self._resize_index((self.n_rows + 1) * 2)
            for i in range(self.n_rows):
                self._place(self._keys[i], i)
        self._place(key, self.n_rows)
        self._keys[self.n_rows] = key
        self.n_rows += 1
        return 0

    cdef int index(self, const uint64_t[::1] keys, const int32_t[::1] numbers=None) except -1:
        """Make keys, none twice, those of the rows 0, 1, …, in time linear in their number.

        numbers: what `find` returns for them in place of 0, 1, ….

        Raises ValueError if they are too many, or chosen to collide.
        """
        cdef uint64_t slot
        cdef Py_ssize_t i
        if keys.shape[0] > MAX_ROWS:
            raise ValueError(f"a table holds at most {MAX_ROWS:,} rows, not {keys.shape[0]:,}")
        self._bounded = True
        self._resize_index(keys.shape[0])
        with nogil:
            for i in range(keys.shape[0]):
                if i + AHEAD < keys.shape[0]:
                    slot = spread(keys[i + AHEAD]) & self._slot_mask
                    STRUCTREG_PREFETCH(&self._tags[slot])
                    STRUCTREG_PREFETCH(&self._slots[slot])
                self._place(keys[i], i if numbers is None else numbers[i])
        return 0

    cdef int32_t find(self, uint64_t key) noexcept nogil:
        """The row of a key; -1 if it has none."""
        cdef uint64_t mixed = spread(key)
        return self._find_from(mixed & self._slot_mask, key, tag_of(mixed))

    cdef int32_t _find_from(self, uint64_t slot, uint64_t key, uint8_t tag) noexcept nogil:
        """`find`, from a slot on that lies before that of the key, or is it."""
        cdef Py_ssize_t left = MAX_DISPLACEMENT if self._bounded else PY_SSIZE_T_MAX
        while self._tags[slot] != 0 and left >= 0:
            if self._tags[slot] == tag and self._slots[slot].key == key:
                return <int32_t> self._slots[slot].row
            slot = (slot + 1) & self._slot_mask
            left -= 1
        return -1

    cdef void find_run(self, const uint64_t* keys, Py_ssize_t n, int32_t* rows) noexcept nogil:
        """`find` for many keys; the memory that it reads is fetched ahead, being rarely cached."""
        cdef uint64_t mixed
        cdef uint64_t slot
        cdef uint8_t tag
        cdef Py_ssize_t left
        cdef Py_ssize_t i
        # The tags of all keys first. Until there are rows, their places hold slots, which have 32
        # bits because rows have 31.
        for i in range(n):
            if i + 16 < n:
                STRUCTREG_PREFETCH(&self._tags[spread(keys[i + 16]) & self._slot_mask])
            mixed = spread(keys[i])
            tag = tag_of(mixed)
            slot = mixed & self._slot_mask
            left = MAX_DISPLACEMENT
            while self._tags[slot] != 0 and self._tags[slot] != tag and left > 0:
                slot = (slot + 1) & self._slot_mask
                left -= 1
            if self._tags[slot] != 0:
                STRUCTREG_PREFETCH(&self._slots[slot])
            rows[i] = <int32_t> <uint32_t> slot
        for i in range(n):
            slot = <uint32_t> rows[i]
            if self._tags[slot] == 0:
                rows[i] = -1
            elif self._slots[slot].key == keys[i]:
                rows[i] = <int32_t> self._slots[slot].row
            else:
                rows[i] = self._find_from(slot, keys[i], tag_of(spread(keys[i])))

    cdef void fetch_run(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        """Fetch the weights of rows ahead of `add_run`; rows that are -1 are passed over."""

    cdef void add_run(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t step, double* scores
    ) noexcept nogil:
        """Add rows[i] to the `n_columns` scores that begin at i * step, for every i below `n`.

        Rows that are -1 are passed over. With a step of the number of labels, runs of a shape
        are added to a whole sequence; with a step of 0, all rows are added up.
        """

    cdef void add_weighted(
        self, const int32_t* rows, const double* values, Py_ssize_t n, double* scores
    ) noexcept nogil:
        """Add values[i] times rows[i] to `n_columns` scores, for every i below `n`.

        values: NULL if all are 1. Rows that are -1 are passed over.
        """


cdef class FeatureCounts(Rows):
    """Number of times that each key occurs; a row is no more than a count."""

    def __init__(self):
        self._begin(1)

    def __reduce__(self):
        raise TypeError("feature counts cannot be pickled; count again")

    cdef int add(self, uint64_t key) except -1 nogil:
        """Count a key once more."""
        cdef int32_t row = self.find(key)
        if row >= 0:
            # Beyond all that a least count can be, it stays.
            self._counts[row] += self._counts[row] < MAX_ROWS
            return 0
        reserve(&self.buffers, self._counts, self.n_rows + 1)
        self._counts[self.n_rows] = 1
        return self._append(key)

    def count(self, uint64_t key):
        """Count a key once more."""
        self.add(key)


cdef class TrainingRows(Rows):
    """Rows under training: values, their sums over time, and the time of the last visit.

    n_columns: columns of a row. adaptive: lay rows out adaptively; by default, when there are
    more than 64 columns.
    l1, l2, cumulative_l1: the strengths of the penalties that every update applies to every
        weight (see `learn.penalty`); 0 for none.
    closed: whether keys without a row get none any more (see `restrict`).
    occurrences: how often each row occurred in the training corpus, int64 of shape (n,), further
        rows never; None if that has not been counted.
    rates: what a learner that has a rate for each row keeps of it (see `LogLinearLearner`), float64
        of shape (n, 3), nothing of further rows; None for other learners.
    Times count updates, from 1; a row of time s holds its value after update s and the sum of its
    values after updates 1 to s (Daumé 2006, section 2.1.1).
    Raises ValueError for strengths that are negative or do not go together.
    """

    def __init__(
        self, Py_ssize_t n_columns, adaptive=None, *, double l1=0.0, double l2=0.0,
        double cumulative_l1=0.0,
    ):
        self._begin(n_columns)
        if not (0 <= l1 < np.inf and 0 <= l2 < 1 and 0 <= cumulative_l1 < np.inf):
            raise ValueError(f"penalties must be at least 0, l2 below 1; got l1 = {l1}, l2 = {l2}, "
                             f"cumulative_l1 = {cumulative_l1}")
        if cumulative_l1 > 0 and (l1 > 0 or l2 > 0):
            raise ValueError("cumulative_l1 cannot be combined with l1 or l2")
        self.penalty = Penalty(l1, l2, cumulative_l1, l1 > 0 or l2 > 0 or cumulative_l1 > 0)
        self.adaptive = n_columns > DENSE_COLUMNS if adaptive is None else bool(adaptive)
        for i in range(DENSE_CLASS + 1):
            self._free[i] = -1

    cdef int32_t insert(self, uint64_t key) except -2 nogil:
        """The row of a key, which is made if need be, with all weights zero; -1 if it gets none."""
        cdef int32_t found = self.find(key)
        if found >= 0 or self.closed:
            return found
        self._grow_rows()
        self._append(key)
        return <int32_t> (self.n_rows - 1)

    cdef int _grow_rows(self) except -1 nogil:
        """Make room for one more row, all of whose weights are zero."""
        cdef Py_ssize_t before = self._pool_size
        reserve(&self.buffers, self._stamps, self.n_rows + 1)
        self._stamps[self.n_rows] = 0
        if self.adaptive:
            reserve(&self.buffers, self._entries, self.n_rows + 1)
            memset(&self._entries[self.n_rows], 0, sizeof(Entries))
        else:
            self._grow_pool(before + self.n_columns)
            self._fresh_cells(before, self.n_columns, 0)
            self._pool_size = before + self.n_columns
        return 0

    cdef int _grow_pool(self, Py_ssize_t needed) except -1 nogil:
        """Make room for `needed` cells in all."""
        reserve(&self.buffers, self._values, needed)
        reserve(&self.buffers, self._sums, needed)
        if self.penalty.cumulative > 0.0:
            reserve(&self.buffers, self._debts, needed)
        if self.adaptive:
            reserve(&self.buffers, self._columns, needed)
        return 0

    cdef void _fresh_cells(self, int64_t first, int64_t count, int64_t time) noexcept nogil:
        """Initialize cells as weights that were zero up to `time`."""
        cdef int64_t i
        for i in range(first, first + count):
            self._values[i] = 0.0
            self._sums[i] = 0.0
            if self.penalty.cumulative > 0.0:
                self._debts[i] = <double> time * self.penalty.cumulative

    cdef void _copy_cell(self, int64_t target, int64_t source) noexcept nogil:
        self._values[target] = self._values[source]
        self._sums[target] = self._sums[source]
        if self.penalty.cumulative > 0.0:
            self._debts[target] = self._debts[source]

    cdef int64_t _take(self, int size_class, int32_t size) except -1 nogil:
        """Cells for an adaptive row: given back ones of the same size, or new ones."""
        cdef int64_t offset = self._free[size_class]
        if offset >= 0:
            memcpy(&self._free[size_class], &self._values[offset], sizeof(int64_t))
            return offset
        offset = self._pool_size
        self._grow_pool(self._pool_size + size)
        self._pool_size += size
        return offset

    cdef void _give_back(self, int64_t offset, int size_class) noexcept nogil:
        memcpy(&self._values[offset], &self._free[size_class], sizeof(int64_t))
        self._free[size_class] = offset

    cdef int64_t _cell(self, int32_t row, int column) except -1 nogil:
        """Place of the weight of a column in the pool; an adaptive row gets it if need be."""
        cdef Entries* entries
        cdef Entries grown
        cdef int64_t offset
        cdef int32_t place = 0
        cdef int32_t i
        cdef int size_class
        if not self.adaptive:
            return <int64_t> row * self.n_columns + column
        entries = &self._entries[row]
        if self._is_full(row):
            return entries.offset + column
        # Cells lie in the order of their columns.
        while place < entries.count and self._columns[entries.offset + place] < column:
            place += 1
        if place < entries.count and self._columns[entries.offset + place] == column:
            return entries.offset + place
        if entries.count == entries.capacity:
            size_class = 0
            grown.capacity = 2
            while grown.capacity <= entries.capacity:
                grown.capacity *= 2
                size_class += 1
            if (
                grown.capacity > SPARSE_CELLS
                and grown.capacity * SPARSE_SHARE > self.n_columns
            ) or grown.capacity >= self.n_columns:
                size_class = DENSE_CLASS
                grown.capacity = <int32_t> self.n_columns
            grown.count = entries.count
            offset = self._take(size_class, grown.capacity)
            grown.offset = offset
            if size_class == DENSE_CLASS:
                self._fresh_cells(offset, self.n_columns, self._stamps[row])
                for i in range(entries.count):
                    self._copy_cell(
                        offset + self._columns[entries.offset + i], entries.offset + i
                    )
                grown.count = grown.capacity
            else:
                for i in range(entries.count):
                    self._copy_cell(offset + i, entries.offset + i)
                    self._columns[offset + i] = self._columns[entries.offset + i]
            if entries.capacity:
                self._give_back(entries.offset, size_class_of(entries.capacity))
            entries[0] = grown
            if size_class == DENSE_CLASS:
                return offset + column
        for i in range(entries.count, place, -1):
            self._copy_cell(entries.offset + i, entries.offset + i - 1)
            self._columns[entries.offset + i] = self._columns[entries.offset + i - 1]
        offset = entries.offset + place
        entries.count += 1
        self._columns[offset] = <uint16_t> column
        self._fresh_cells(offset, 1, self._stamps[row])
        return offset

    cdef void _catch_up(self, int32_t row, int64_t time) noexcept nogil:
        """Bring the sums of a row up to date since its last visit."""
        cdef Span span
        cdef int64_t first
        cdef int64_t count
        cdef int64_t i
        if time <= self._stamps[row]:
            return
        span = span_of(&self.penalty, <double> (time - self._stamps[row]))
        self._cells(row, &first, &count)
        if not self.penalty.active:
            for i in range(first, first + count):
                self._sums[i] += span.missed * self._values[i]
        else:
            for i in range(first, first + count):
                advance(
                    &self.penalty, &span, &self._values[i], &self._sums[i],
                    &self._debts[i] if self.penalty.cumulative > 0.0 else NULL,
                )
        self._stamps[row] = time

    cdef void _cells(self, int32_t row, int64_t* first, int64_t* count) noexcept nogil:
        """Place and number of the cells of a row in the pool."""
        if self.adaptive:
            first[0] = self._entries[row].offset
            count[0] = self._entries[row].count
        else:
            first[0] = <int64_t> row * self.n_columns
            count[0] = self.n_columns

    cdef uint16_t _column(self, int32_t row, int64_t first, int64_t k) noexcept nogil:
        """The column of cell `k` of an adaptive row, whose cells begin at `first`."""
        return <uint16_t> k if self._is_full(row) else self._columns[first + k]

    cdef void catch_up_run(self, const int32_t* rows, Py_ssize_t n, int64_t time) noexcept nogil:
        """Bring rows to `time` before they are read; only penalties make that necessary."""
        cdef Py_ssize_t i
        if self.penalty.active:
            for i in range(n):
                if rows[i] >= 0:
                    self._catch_up(rows[i], time)

    cdef int update(self, int32_t row, int column, double delta, int64_t time) except -1 nogil:
        """Update number `time` adds `delta` to one weight. Times never fall.

        When all has been added, each row that was changed must be settled.
        """
        cdef int64_t cell
        if self.penalty.cumulative > 0.0:
            # Cumulative L1 looks at the weight after all has been added: see `finish_update`.
            self._catch_up(row, time - 1)
            self._values[self._cell(row, column)] += delta
            return 0
        self._catch_up(row, time)
        cell = self._cell(row, column)
        self._values[cell] += delta
        self._sums[cell] += delta
        return 0

    cdef void finish_update(self, int32_t row, int64_t time) noexcept nogil:
        """End update number `time` for one row; a second time changes nothing."""
        cdef int64_t first
        cdef int64_t count
        cdef int64_t i
        if self.penalty.cumulative == 0.0 or self._stamps[row] >= time:
            return
        self._cells(row, &first, &count)
        for i in range(first, first + count):
            settle_cumulative(
                self.penalty.cumulative, &self._values[i], &self._sums[i], &self._debts[i]
            )
        self._stamps[row] = time

    cdef void forget(self, int64_t time) noexcept nogil:
        """Set all weights to zero after update `time`; their sums keep the past."""
        cdef int64_t first
        cdef int64_t count
        cdef int64_t k
        cdef Py_ssize_t i
        for i in range(self.n_rows):
            self._catch_up(<int32_t> i, time)
            self._cells(<int32_t> i, &first, &count)
            for k in range(first, first + count):
                self._values[k] = 0.0

    cdef void fetch_run(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            if rows[i] >= 0:
                if self.adaptive:
                    STRUCTREG_PREFETCH(&self._entries[rows[i]])
                else:
                    STRUCTREG_PREFETCH(&self._values[<int64_t> rows[i] * self.n_columns])

    cdef void add_run(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t step, double* scores
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef double* target
        cdef const double* values
        cdef Entries* entries
        for i in range(n):
            if rows[i] < 0:
                continue
            target = scores + i * step
            if not self.adaptive:
                values = &self._values[<int64_t> rows[i] * self.n_columns]
                for k in range(self.n_columns):
                    target[k] += values[k]
                continue
            entries = &self._entries[rows[i]]
            values = &self._values[entries.offset]
            if self._is_full(rows[i]):
                for k in range(self.n_columns):
                    target[k] += values[k]
            else:
                for k in range(entries.count):
                    target[self._columns[entries.offset + k]] += values[k]

    cdef void add_weighted(
        self, const int32_t* rows, const double* values, Py_ssize_t n, double* scores
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef int64_t first
        cdef int64_t count
        cdef int64_t k
        cdef const double* weights
        cdef double value
        if values == NULL:
            self.add_run(rows, n, 0, scores)
            return
        for i in range(n):
            if rows[i] < 0:
                continue
            value = values[i]
            self._cells(rows[i], &first, &count)
            weights = self._values + first
            if self.adaptive and not self._is_full(rows[i]):
                for k in range(count):
                    scores[self._columns[first + k]] += value * weights[k]
            else:
                for k in range(count):
                    scores[k] += value * weights[k]

    cdef void add_run_dropout(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t step, double* scores,
        uint64_t draw, uint64_t threshold,
    ) noexcept nogil:
        """As `add_run`, without the weights that are dropped (see `is_dropped`)."""
        cdef Py_ssize_t i
        cdef int64_t first
        cdef int64_t count
        cdef int64_t k
        cdef int column
        cdef bint listed
        for i in range(n):
            if rows[i] < 0:
                continue
            self._cells(rows[i], &first, &count)
            listed = self.adaptive and not self._is_full(rows[i])
            for k in range(count):
                column = self._columns[first + k] if listed else <int> k
                if not is_dropped(draw, rows[i], column, threshold):
                    scores[i * step + column] += self._values[first + k]

    cdef void add_weighted_dropout(
        self, const int32_t* rows, const double* values, Py_ssize_t n, double* scores,
        uint64_t draw, uint64_t threshold,
    ) noexcept nogil:
        """As `add_weighted`, without the weights that are dropped (see `is_dropped`)."""
        cdef Py_ssize_t i
        cdef int64_t first
        cdef int64_t count
        cdef int64_t k
        cdef int column
        cdef bint listed
        cdef double value = 1.0
        for i in range(n):
            if rows[i] < 0:
                continue
            if values != NULL:
                value = values[i]
            self._cells(rows[i], &first, &count)
            listed = self.adaptive and not self._is_full(rows[i])
            for k in range(count):
                column = self._columns[first + k] if listed else <int> k
                if not is_dropped(draw, rows[i], column, threshold):
                    scores[column] += value * self._values[first + k]

    def row(self, uint64_t key):
        """The number of the row of `key`, which is made if need be; -1 if it gets none."""
        return self.insert(key)

    def restrict(self, FeatureCounts counts not None, int64_t least):
        """Make rows of keys with at least this count, and freeze the set of keys."""
        cdef Py_ssize_t i
        for i in range(counts.n_rows):
            if counts._counts[i] >= least:
                self.insert(counts._keys[i])
        self.close()

    def gather(self, rows):
        """The keys and the weights of some rows: uint64 (n,), and float32 (n, n_columns).

        rows: their numbers. Raises IndexError if there is no such row.
        """
        cdef const int32_t[::1] numbers = np.ascontiguousarray(rows, dtype=np.int32)
        cdef Py_ssize_t n = numbers.shape[0]
        cdef Py_ssize_t i
        keys = np.empty(n, dtype=np.uint64)
        weights = np.zeros((n, self.n_columns))
        cdef uint64_t[::1] key_view = keys
        cdef double[::1] weight_view = weights.reshape(-1)
        for i in range(n):
            if not 0 <= numbers[i] < self.n_rows:
                raise IndexError(f"no row {numbers[i]}")
            key_view[i] = self._keys[numbers[i]]
        if n:
            self.add_run(&numbers[0], n, self.n_columns, &weight_view[0])
        return keys, weights.astype(np.float32)

    def note(self, counts):
        """Add to the occurrences of rows. counts: int64 of shape (n,); further rows have none."""
        total = _padded(counts, self.n_rows)
        if self.occurrences is not None:
            total[: len(self.occurrences)] += self.occurrences
        self.occurrences = total

    def counts(self, FeatureCounts counts not None):
        """Counts of the keys of rows: int64 of shape (n_rows,)."""
        cdef Py_ssize_t i
        cdef int32_t row
        found = np.zeros(self.n_rows, dtype=np.int64)
        cdef int64_t[::1] view = found
        for i in range(counts.n_rows):
            row = self.find(counts._keys[i])
            if row >= 0:
                view[row] = counts._counts[i]
        return found

    def close(self):
        """Freeze the set of keys."""
        self.closed = True

    def add(self, changes, int64_t time):
        """Update number `time` adds to weights.

        changes: (row, column, delta) for each; a weight may occur more than once. With cumulative
            L1 they must be all that this update does to their rows.
        Raises IndexError for a row or column that does not exist, ValueError if `time` is not
        positive or lies before the last visit of the row.
        """
        for row, column, _ in changes:
            if not (0 <= row < self.n_rows and 0 <= column < self.n_columns):
                raise IndexError(f"no weight at row {row}, column {column}")
            if time < max(1, self._stamps[row] + (self.penalty.cumulative > 0.0)):
                raise ValueError(f"update {time} must come after update {self._stamps[row]}")
        for row, column, delta in changes:
            self.update(row, column, delta, time)
        for row, _, _ in changes:
            self.finish_update(row, time)

    def weights(self, int32_t row, time=None):
        """The weights of a row after update `time`, by default its last visit; changes nothing.

        Returns float64 of shape (n_columns,). Raises IndexError if there is no such row, ValueError
        for a time before the last visit.
        """
        cdef Span span
        cdef double total = 0.0
        cdef double debt = 0.0
        cdef Py_ssize_t k
        if not 0 <= row < self.n_rows:
            raise IndexError(f"no row {row}")
        if time is not None and time < self._stamps[row]:
            raise ValueError(f"the row was updated later than update {time}")
        weights = np.zeros(self.n_columns)
        cdef double[::1] view = weights
        self.add_run(&row, 1, 0, &view[0])
        if time is not None:
            span = span_of(&self.penalty, <double> (<int64_t> time - self._stamps[row]))
            for k in range(self.n_columns):
                advance(&self.penalty, &span, &view[k], &total, &debt)
        return weights

    def catch_up(self, int32_t row, int64_t time):
        """Take a row over the updates up to `time`, which add nothing to it.

        Raises IndexError if there is no such row.
        """
        if not 0 <= row < self.n_rows:
            raise IndexError(f"no row {row}")
        self._catch_up(row, time)

    cdef bint _is_full(self, int32_t row) noexcept nogil:
        """True if an adaptive row has become dense."""
        return (
            self._entries[row].capacity == self.n_columns
            and self._entries[row].count == self.n_columns
        )

    def last_visit(self):
        """The time of the latest update that changed a row; 0 if there was none."""
        cdef int64_t latest = 0
        cdef Py_ssize_t i
        for i in range(self.n_rows):
            latest = max(latest, self._stamps[i])
        return latest

    def state(self):
        """Return the state as arrays by name, for `from_state`.

        keys: uint64, and stamps: int64, of shape (n_rows,), in the order of insertion.
        values and sums: float64 of shape (n_rows, n_columns); for adaptive rows of shape
        (n_cells,), where the cells of row i, columns[starts[i] : starts[i + 1]], stand in rising
        order of their columns (starts: int64 of shape (n_rows + 1,), columns: uint16).
        debts: as values, if there is cumulative L1. occurrences: int64 of shape (n_rows,), if
        they were counted. rates: float64 of shape (n_rows, 3), if there
        are any.
        """
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef int64_t first
        cdef int64_t count
        keys = np.empty(self.n_rows, dtype=np.uint64)
        stamps = np.empty(self.n_rows, dtype=np.int64)
        cdef uint64_t[::1] key_view = keys
        cdef int64_t[::1] stamp_view = stamps
        cdef int64_t[::1] start_view
        cdef uint16_t[::1] column_view
        for i in range(self.n_rows):
            key_view[i] = self._keys[i]
            stamp_view[i] = self._stamps[i]
        state = {"keys": keys, "stamps": stamps}
        shape = (self.n_rows, self.n_columns)
        if self.adaptive:
            starts = np.zeros(self.n_rows + 1, dtype=np.int64)
            start_view = starts
            for i in range(self.n_rows):
                start_view[i + 1] = start_view[i] + self._entries[i].count
            shape = (starts[self.n_rows],)
            columns = np.empty(shape, dtype=np.uint16)
            column_view = columns
            for i in range(self.n_rows):
                self._cells(<int32_t> i, &first, &count)
                for k in range(count):
                    column_view[start_view[i] + k] = self._column(<int32_t> i, first, k)
            state.update(starts=starts, columns=columns)
        state["values"] = self._gather(self._values, shape)
        state["sums"] = self._gather(self._sums, shape)
        if self.penalty.cumulative > 0.0:
            state["debts"] = self._gather(self._debts, shape)
        if self.occurrences is not None:
            state["occurrences"] = _padded(self.occurrences, self.n_rows)
        if self.rates is not None:
            state["rates"] = self.row_rates().copy()
        return state

    def row_rates(self):
        """The `rates`, with those of new rows at their beginning: float64 of shape (n_rows, 3)."""
        known = 0 if self.rates is None else len(self.rates)
        if self.rates is None or known < self.n_rows:
            rates = np.tile([1.0, 0.0, 0.0], (self.n_rows, 1))
            if known:
                rates[:known] = self.rates
            self.rates = rates
        return self.rates

    cdef object _gather(self, const double* cells, shape):
        """Contents of the cells of all rows, one row after another."""
        gathered = np.empty(shape)
        cdef double[::1] view = gathered.reshape(-1)
        cdef int64_t first
        cdef int64_t count
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i
        for i in range(self.n_rows):
            self._cells(<int32_t> i, &first, &count)
            if count:
                memcpy(&view[n], cells + first, count * sizeof(double))
            n += count
        return gathered

    @property
    def penalties(self):
        """The strengths of the penalties, under the names that the constructor gives them."""
        return {
            "l1": self.penalty.l1,
            "l2": self.penalty.l2,
            "cumulative_l1": self.penalty.cumulative,
        }

    @classmethod
    def from_state(cls, Py_ssize_t n_columns, state, penalties=None):
        """Make rows from the output of `state`; raise ValueError for invalid arrays."""
        cdef TrainingRows rows
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef int64_t cell
        cdef int64_t place
        cdef bint cumulative
        rows = cls(n_columns, adaptive="columns" in state, **(penalties or {}))
        cumulative = rows.penalty.cumulative > 0.0
        # The keys may come from a file: they must not make the index slow.
        rows._bounded = True
        n_rows = _check_layout(n_columns, state, np.float64)
        _check_array(state, "stamps", np.int64, (n_rows,))
        for name in ["sums", "debts"] if cumulative else ["sums"]:
            _check_array(state, name, np.float64, state["values"].shape)
            if not np.isfinite(state[name]).all():
                raise ValueError(f"the {name} of the weights must be finite numbers")
        if (state["stamps"] < 0).any():
            raise ValueError("a weight row was updated before the first update")
        if "occurrences" in state:
            _check_array(state, "occurrences", np.int64, (n_rows,))
            if ((state["occurrences"] < 0) | (state["occurrences"] >= 1 << MAX_COUNT_BITS)).any():
                raise ValueError("the occurrences of a weight row are negative or too many")
            rows.occurrences = np.array(state["occurrences"])
        if "rates" in state:
            _check_array(state, "rates", np.float64, (n_rows, 3))
            if not ((state["rates"] >= 0) & (state["rates"] <= [1.0, 1e15, 1e15])).all():
                raise ValueError("a rate of a weight row is out of range")
            rows.rates = np.array(state["rates"])
        counts = np.diff(state["starts"]) if rows.adaptive else n_columns
        visits = np.repeat(np.maximum(state["stamps"], 1), counts).reshape(state["values"].shape)
        if (np.abs(state["sums"]) / visits > MAX_WEIGHT).any():
            raise ValueError(f"the mean of a weight is beyond {MAX_WEIGHT:g}")
        cdef const uint64_t[::1] keys = np.ascontiguousarray(state["keys"])
        cdef const int64_t[::1] stamps = np.ascontiguousarray(state["stamps"])
        cdef const double[::1] values = np.ascontiguousarray(state["values"]).reshape(-1)
        cdef const double[::1] sums = np.ascontiguousarray(state["sums"]).reshape(-1)
        cdef const double[::1] debts = sums
        cdef const int64_t[::1] starts = np.arange(n_rows + 1) * n_columns
        cdef const uint16_t[::1] columns = None
        if cumulative:
            debts = np.ascontiguousarray(state["debts"]).reshape(-1)
        if rows.adaptive:
            starts = np.ascontiguousarray(state["starts"])
            columns = np.ascontiguousarray(state["columns"])
        for i in range(keys.shape[0]):
            if rows.adaptive and not _are_columns(
                &columns[starts[i]], starts[i + 1] - starts[i], n_columns
            ):
                raise ValueError(BAD_COLUMNS)
            if rows.insert(keys[i]) != i:
                raise ValueError("the weight rows have a duplicate key")
            rows._stamps[i] = stamps[i]
            for k in range(starts[i + 1] - starts[i]):
                place = starts[i] + k
                cell = rows._cell(<int32_t> i, columns[place] if rows.adaptive else <int> k)
                rows._values[cell] = values[place]
                rows._sums[cell] = sums[place]
                if cumulative:
                    rows._debts[cell] = debts[place]
        rows._bounded = False
        return rows

    @classmethod
    def from_trained(cls, TrainedRows trained not None, penalties=None):
        """Make rows whose weights at time 0 are trained weights.

        Raises ValueError for frozen rows.
        """
        arrays = trained.arrays
        if "values" not in arrays:
            raise ValueError(NO_FROZEN)
        values = arrays["values"].astype(np.float64)
        state = {
            **arrays,
            "values": values,
            "sums": np.zeros_like(values),
            "debts": np.zeros_like(values),
            "stamps": np.zeros(len(arrays["keys"]), dtype=np.int64),
        }
        if "occurrences" in arrays:
            # The least count of so many bits.
            state["occurrences"] = (1 << arrays["occurrences"].astype(np.int64)) >> 1
        return cls.from_state(trained.n_columns, state, penalties)

    def copy(self):
        """Return an independent copy: same keys, row numbers and weights."""
        cdef TrainingRows twin = TrainingRows(self.n_columns, self.adaptive, **self.penalties)
        cdef Py_ssize_t n_rows = self.n_rows
        cdef Py_ssize_t n_cells = self._pool_size
        cdef Py_ssize_t i
        twin._resize_index(n_rows)
        for i in range(n_rows):
            twin._place(self._keys[i], i)
        duplicate(&twin.buffers, twin._keys, self._keys, n_rows)
        duplicate(&twin.buffers, twin._stamps, self._stamps, n_rows)
        duplicate(&twin.buffers, twin._values, self._values, n_cells)
        duplicate(&twin.buffers, twin._sums, self._sums, n_cells)
        if self.penalty.cumulative > 0.0:
            duplicate(&twin.buffers, twin._debts, self._debts, n_cells)
        if self.adaptive:
            duplicate(&twin.buffers, twin._entries, self._entries, n_rows)
            duplicate(&twin.buffers, twin._columns, self._columns, n_cells)
        memcpy(twin._free, self._free, sizeof(self._free))
        twin.closed = self.closed
        twin.occurrences = self.occurrences
        twin.rates = None if self.rates is None else self.rates.copy()
        twin.n_rows = n_rows
        twin._pool_size = n_cells
        return twin

    def average(self, int64_t time, double prune=0.0):
        """The mean of the weights over updates 1 to `time`, as `TrainedRows`; changes nothing.

        prune: means of this absolute value or less are left out.
        Rows are sorted by key and zeros are left out, so that the result depends on the weights
        alone and not on the order in which features were met. At time 0 the weights themselves
        are taken. Raises ValueError if a row was visited after `time`.
        """
        if time < self.last_visit():
            raise ValueError(f"no average at update {time}: the rows were updated later")
        counts = np.empty(self.n_rows, dtype=np.int32)
        cdef int32_t[::1] count_view = counts
        cdef float least = <float> prune
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.n_rows):
                count_view[i] = self._average_row(<int32_t> i, time, least, NULL, NULL)
        kept = np.flatnonzero(counts)
        keys = np.empty(len(kept), dtype=np.uint64)
        cdef uint64_t[::1] key_view = keys
        cdef int64_t[::1] row_view = kept
        for i in range(row_view.shape[0]):
            key_view[i] = self._keys[row_view[i]]
        order = np.argsort(keys)
        keys, kept = keys[order], kept[order]
        del order
        row_view = kept
        if not self.adaptive:
            values = np.empty((len(kept), self.n_columns), dtype=np.float32)
            arrays = {"keys": keys, "values": values}
        else:
            starts = np.zeros(len(kept) + 1, dtype=np.int64)
            np.cumsum(counts[kept], out=starts[1:])
            values = np.empty(starts[len(kept)], dtype=np.float32)
            columns = np.empty(len(values), dtype=np.uint16)
            arrays = {"keys": keys, "starts": starts, "columns": columns, "values": values}
        cdef float[::1] value_view = values.reshape(-1)
        cdef uint16_t[::1] column_view = columns if self.adaptive else None
        cdef Py_ssize_t n = 0
        with nogil:
            for i in range(row_view.shape[0]):
                if self.adaptive:
                    n += self._average_row(
                        <int32_t> row_view[i], time, least, &value_view[n], &column_view[n]
                    )
                else:
                    self._average_row(<int32_t> row_view[i], time, least, &value_view[n], NULL)
                    n += self.n_columns
        if self.occurrences is not None:
            # The exponent of a count is the number of its bits.
            bits = np.frexp(_padded(self.occurrences, self.n_rows)[kept])[1]
            arrays["occurrences"] = bits.astype(np.uint8)
        return TrainedRows(self.n_columns, arrays)

    cdef int32_t _average_row(
        self, int32_t row, int64_t time, float prune, float* values, uint16_t* columns
    ) noexcept nogil:
        """Count the means of a row that are above `prune`; they are written, if there is room.

        values: room for them and, in the layout that is not adaptive, for the zeros between them.
        columns: room for their columns, if rows are adaptive.
        """
        cdef Span span = span_of(&self.penalty, <double> (time - self._stamps[row]))
        cdef int64_t first
        cdef int64_t count
        cdef int64_t k
        cdef int32_t n = 0
        cdef double weight
        cdef double total
        cdef double debt = 0.0
        cdef float mean
        self._cells(row, &first, &count)
        for k in range(count):
            weight = self._values[first + k]
            mean = <float> weight
            if time > 0:
                total = self._sums[first + k]
                advance(&self.penalty, &span, &weight, &total, &debt)
                mean = <float> (total / <double> time)
            if fabs(mean) <= prune:
                mean = 0.0
            if values != NULL and not self.adaptive:
                values[k] = mean
            if mean == 0.0:
                continue
            if values != NULL and self.adaptive:
                values[n] = mean
                columns[n] = self._column(row, first, k)
            n += 1
        return n

    def __reduce__(self):
        arguments = (self.n_columns, self.state(), self.penalties)
        return _restored_rows, (arguments, self.closed)


cdef inline uint16_t* columns_of(const int32_t* row) noexcept nogil:
    """The columns of the cells of a row that is not full."""
    return <uint16_t*> (row + 1)


cdef inline float* weights_of(const int32_t* row) noexcept nogil:
    """The weights of the cells of a row, or of all its columns."""
    return <float*> (row + 1 + (0 if row[0] == FULL else (row[0] + 1) // 2))


cdef class TrainedRows(Rows):
    """Averaged rows, read-only, in single precision.

    n_columns: columns of a row.
    arrays: keys, uint64 of shape (n_rows,), rising; and values, float32, of shape (n_rows,
        n_columns) for dense rows. Adaptive rows have values of shape (n_cells,) with columns,
        uint16 of the same shape, and starts, int64 of shape (n_rows + 1,): the cells of row i are
        starts[i] to starts[i + 1]. If it was counted how often each row occurred in training,
        occurrences, uint8 of shape (n_rows,), are the numbers of bits of the counts, 0 for never.
        Dense values are used where they lie, mapped files included; of the cells of adaptive rows
        there is a copy, in which a row lies in one place.
    Raises ValueError if the arrays are not of this form, whatever they contain instead.
    """

    def __init__(self, Py_ssize_t n_columns, arrays):
        cdef const float[::1] values
        self._begin(n_columns)
        self.adaptive = "columns" in arrays
        names = ["keys", "values", "starts", "columns"] if self.adaptive else ["keys", "values"]
        if "occurrences" in arrays:
            names.append("occurrences")
        self._arrays = {name: _read_only(arrays, name) for name in names}
        self.n_rows = _check_layout(n_columns, self._arrays, np.float32)
        if "occurrences" in arrays:
            _check_array(self._arrays, "occurrences", np.uint8, (self.n_rows,))
            if self.n_rows and self._arrays["occurrences"].max() > MAX_COUNT_BITS:
                raise ValueError("the occurrences of a weight row are too many")
        key_array = self._arrays["keys"]
        if not _are_rising(key_array):
            raise ValueError("the keys of the weight rows are not in ascending order")
        self.n_numbers = self.n_rows
        numbers = None
        if self.adaptive:
            numbers = self._lay_out()
        elif self.n_rows:
            values = self._arrays["values"].reshape(-1)
            self._values = &values[0]
        self.index(key_array, numbers)
        self._index_small(key_array, numbers)

    cdef object _lay_out(self):
        """Copy the cells of adaptive rows into `_cells`; return where each row begins there."""
        cdef const int64_t[::1] starts = self._arrays["starts"]
        cdef const uint16_t[::1] columns = self._arrays["columns"]
        cdef const float[::1] values = self._arrays["values"]
        cdef int32_t[::1] numbers = np.empty(self.n_rows, dtype=np.int32)
        cdef int32_t* row
        cdef float* weights
        cdef const uint16_t* read
        cdef int64_t size = 0
        cdef Py_ssize_t n_columns = self.n_columns
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        cdef int64_t count
        for i in range(self.n_rows):
            numbers[i] = <int32_t> size
            count = starts[i + 1] - starts[i]
            if not count:
                raise ValueError("a weight row has no column")
            size += 1 + (n_columns if is_full(count, n_columns) else count + (count + 1) // 2)
            if size > MAX_ROWS:
                raise MemoryError(f"a table holds at most {MAX_ROWS:,} cells")
        reserve(&self.buffers, self._cells, size)
        self.n_numbers = size
        with nogil:
            for i in range(self.n_rows):
                row = self._cells + numbers[i]
                read = &columns[starts[i]]
                count = starts[i + 1] - starts[i]
                if not _are_columns(read, count, n_columns):
                    with gil:
                        raise ValueError(BAD_COLUMNS)
                row[0] = FULL if is_full(count, n_columns) else <int32_t> count
                weights = weights_of(row)
                if row[0] == FULL:
                    memset(weights, 0, n_columns * sizeof(float))
                    for k in range(count):
                        weights[read[k]] = values[starts[i] + k]
                else:
                    memcpy(columns_of(row), read, count * sizeof(uint16_t))
                    memcpy(weights, &values[starts[i]], count * sizeof(float))
        return np.asarray(numbers)

    cdef int _index_small(
        self, const uint64_t[::1] keys, const int32_t[::1] numbers
    ) except -1:
        """Find rows by their keys themselves, if these are small; rising keys."""
        cdef Py_ssize_t i
        if keys.shape[0] == 0 or keys[keys.shape[0] - 1] >= <uint64_t> (
            SMALL_KEYS + SMALL_SHARE * keys.shape[0]
        ):
            return 0
        self._n_small = keys[keys.shape[0] - 1] + 1
        reserve(&self.buffers, self._row_of, <Py_ssize_t> self._n_small)
        memset(self._row_of, 0xFF, self._n_small * sizeof(int32_t))
        for i in range(keys.shape[0]):
            self._row_of[keys[i]] = <int32_t> i if numbers is None else numbers[i]
        return 0

    cdef int32_t find(self, uint64_t key) noexcept nogil:
        if self._n_small:
            return self._row_of[key] if key < self._n_small else -1
        return Rows.find(self, key)

    cdef void find_run(self, const uint64_t* keys, Py_ssize_t n, int32_t* rows) noexcept nogil:
        cdef Py_ssize_t i
        if self._n_small:
            for i in range(n):
                rows[i] = self._row_of[keys[i]] if keys[i] < self._n_small else -1
            return
        Rows.find_run(self, keys, n, rows)

    cdef void fetch_run(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            if rows[i] >= 0:
                self._fetch(rows[i])

    cdef void _fetch(self, int32_t row) noexcept nogil:
        """Fetch the beginning of a row."""
        if self.adaptive:
            STRUCTREG_PREFETCH(self._cells + row)
            STRUCTREG_PREFETCH(self._cells + row + CELLS_OF_LINE)
        else:
            STRUCTREG_PREFETCH(&self._values[<int64_t> row * self.n_columns])

    cdef void add_run(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t step, double* scores
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef int32_t k
        cdef const int32_t* row
        cdef const float* weights
        cdef const uint16_t* columns
        cdef double* target
        if not self.adaptive:
            structreg_add_dense(self._values, self.n_columns, rows, n, step, scores)
            return
        for i in range(n):
            # Who adds up few rows has fetched them.
            if step and i + AHEAD < n and rows[i + AHEAD] >= 0:
                self._fetch(rows[i + AHEAD])
            if rows[i] < 0:
                continue
            row = self._cells + rows[i]
            target = scores + i * step
            weights = weights_of(row)
            if row[0] == FULL:
                structreg_add_full(weights, self.n_columns, target)
                continue
            columns = columns_of(row)
            for k in range(row[0]):
                target[columns[k]] += weights[k]

    cdef void add_weighted(
        self, const int32_t* rows, const double* values, Py_ssize_t n, double* scores
    ) noexcept nogil:
        cdef const float* weights
        cdef const int32_t* row
        cdef Py_ssize_t i
        cdef Py_ssize_t k
        if values == NULL:
            self.add_run(rows, n, 0, scores)
            return
        for i in range(n):
            if rows[i] < 0:
                continue
            row = self._cells + rows[i] if self.adaptive else NULL
            if row != NULL and row[0] != FULL:
                weights = weights_of(row)
                for k in range(row[0]):
                    scores[columns_of(row)[k]] += values[i] * weights[k]
                continue
            weights = (
                self._values + <int64_t> rows[i] * self.n_columns if row == NULL
                else weights_of(row)
            )
            for k in range(self.n_columns):
                scores[k] += values[i] * weights[k]

    @property
    def key_limit(self):
        """Return the largest key plus 1; 0 without rows."""
        keys = self.arrays["keys"]
        return int(keys[len(keys) - 1]) + 1 if len(keys) else 0

    @property
    def arrays(self):
        """The arrays by name, read-only; changing the dict changes nothing here."""
        return dict(self._arrays)

    def weights(self, uint64_t key):
        """The weights of a key, all zero if it has no row: float64, shape (n_columns,)."""
        dense = np.zeros(self.n_columns)
        cdef double[::1] view = dense
        cdef int32_t row = self.find(key)
        self.add_run(&row, 1, 0, &view[0])
        return dense

    def __reduce__(self):
        return TrainedRows, (self.n_columns, {k: np.array(v) for k, v in self.arrays.items()})


cdef class PatchedRows(TrainedRows):
    """Trained rows with some rows replaced, made in time linear in their number.

    Predictions are those of a table that was made anew, bit by bit, if a little slower.

    base: the rows as they were; if it is patched itself, what its patch says still holds.
    keys: of rows of `base` or new ones, none twice. weights: float32 of shape (n_keys, n_columns);
        a row of zeros stands for none.
    Raises ValueError as `TrainedRows`, and for frozen rows.
    """

    def __init__(self, TrainedRows base not None, keys, weights):
        cdef const uint64_t[::1] key_view
        cdef const uint8_t[::1] filled
        cdef bint is_known
        cdef Py_ssize_t i
        from spacy_structreg.learn.row_arrays import replaced_rows

        self._begin(base.n_columns)
        before = {
            "keys": np.empty(0, dtype=np.uint64),
            "values": np.empty((0, self.n_columns), dtype=np.float32),
        }
        if isinstance(base, PatchedRows):
            before = (<PatchedRows> base)._patch._arrays
            base = (<PatchedRows> base)._base
        if type(base) is not TrainedRows:
            raise ValueError(NO_FROZEN)
        patch = replaced_rows(before, keys, weights, keep_empty=True)
        self._base = base
        self._patch = TrainedRows(self.n_columns, patch)
        if base.n_numbers + self._patch.n_numbers > MAX_ROWS:
            raise MemoryError(f"a table holds at most {MAX_ROWS:,} cells")
        self.adaptive = base.adaptive
        self.n_rows = base.n_rows
        key_view = patch["keys"]
        filled = patch["values"].any(axis=1).view(np.uint8)
        for i in range(key_view.shape[0]):
            is_known = base.find(key_view[i]) >= 0
            if filled[i] and not is_known:
                self.n_rows += 1
            elif is_known and not filled[i] and self.adaptive:
                self.n_rows -= 1

    @property
    def n_patched(self):
        """Number of rows that differ from the base."""
        return self._patch.n_rows

    # Rows of the patch have the numbers after those of the base.

    cdef int32_t find(self, uint64_t key) noexcept nogil:
        cdef int32_t row = self._patch.find(key)
        return self._base.find(key) if row < 0 else <int32_t> self._base.n_numbers + row

    cdef void find_run(self, const uint64_t* keys, Py_ssize_t n, int32_t* rows) noexcept nogil:
        cdef Py_ssize_t i
        cdef int32_t row
        self._base.find_run(keys, n, rows)
        for i in range(n):
            row = self._patch.find(keys[i])
            if row >= 0:
                rows[i] = <int32_t> self._base.n_numbers + row

    cdef void fetch_run(self, const int32_t* rows, Py_ssize_t n) noexcept nogil:
        pass

    cdef void add_run(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t step, double* scores
    ) noexcept nogil:
        cdef Py_ssize_t n_base = self._base.n_numbers
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t i
        cdef int32_t row
        for i in range(n):
            if rows[i] >= n_base:
                self._base.add_run(rows + first, i - first, step, scores + first * step)
                row = rows[i] - <int32_t> n_base
                self._patch.add_run(&row, 1, 0, scores + i * step)
                first = i + 1
        self._base.add_run(rows + first, n - first, step, scores + first * step)

    cdef void add_weighted(
        self, const int32_t* rows, const double* values, Py_ssize_t n, double* scores
    ) noexcept nogil:
        cdef Py_ssize_t n_base = self._base.n_numbers
        cdef Py_ssize_t i
        cdef int32_t row
        if values == NULL:
            self.add_run(rows, n, 0, scores)
            return
        for i in range(n):
            if rows[i] >= n_base:
                row = rows[i] - <int32_t> n_base
                self._patch.add_weighted(&row, values + i, 1, scores)
            else:
                self._base.add_weighted(rows + i, values + i, 1, scores)

    @property
    def arrays(self):
        """Return the arrays of a table with its patch merged in."""
        from spacy_structreg.learn.row_arrays import replaced_rows

        patch = self._patch._arrays
        return replaced_rows(self._base.arrays, patch["keys"], patch["values"])


def _restored_rows(arguments, closed):
    rows = TrainingRows.from_state(*arguments)
    if closed:
        rows.close()
    return rows


cdef inline bint is_full(int64_t count, Py_ssize_t n_columns) noexcept nogil:
    """True if a trained row of so many cells has room for all columns."""
    return count * FULL_SHARE >= n_columns


cdef inline int size_class_of(int32_t capacity) noexcept nogil:
    """Number of the list of free cells for an adaptive row of a sparse capacity."""
    cdef int size_class = 0
    while capacity > 2:
        capacity //= 2
        size_class += 1
    return size_class


def _padded(counts, n_rows):
    """A copy of counts, with zeros for the rows that were made since."""
    padded = np.zeros(n_rows, dtype=np.int64)
    padded[: len(counts)] = counts
    return padded


def _read_only(arrays, name):
    """A view of an array that cannot be written to; ValueError if there is no such array."""
    if not isinstance(arrays.get(name), np.ndarray):
        raise ValueError(f"the weight rows lack {name!r}")
    view = np.ascontiguousarray(arrays[name]).view()
    view.setflags(write=False)
    return view


def _check_array(arrays, name, dtype, shape):
    array = arrays.get(name)
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape:
        raise ValueError(f"the weight rows lack {name!r} as {np.dtype(dtype)} of shape {shape}")


def _check_layout(n_columns, arrays, dtype):
    """Validate the arrays of rows, all but the columns of cells; return the number of rows."""
    keys = _read_only(arrays, "keys")
    values = _read_only(arrays, "values")
    n_rows = keys.size
    if n_rows > MAX_ROWS:
        raise ValueError(f"a table holds at most {MAX_ROWS:,} rows, not {n_rows:,}")
    _check_array(arrays, "keys", np.uint64, (n_rows,))
    if "columns" in arrays:
        starts = _read_only(arrays, "starts")
        _check_array(arrays, "starts", np.int64, (n_rows + 1,))
        _check_array(arrays, "columns", np.uint16, (values.size,))
        _check_array(arrays, "values", dtype, (values.size,))
        _check_offsets(starts, values.size)
    else:
        _check_array(arrays, "values", dtype, (n_rows, n_columns))
    flat = values.reshape(-1)
    if not (
        _are_bounded[float](flat, MAX_WEIGHT) if dtype == np.float32
        else _are_bounded[double](flat, MAX_WEIGHT)
    ):
        raise ValueError(f"a weight is not a finite number, or beyond {MAX_WEIGHT:g}")
    return n_rows


cdef int _check_offsets(const int64_t[::1] starts, Py_ssize_t n_cells) except -1:
    """Raise ValueError unless rows lie one after another, and take up all cells."""
    cdef Py_ssize_t n_rows = starts.shape[0] - 1
    cdef bint is_rising = starts[0] == 0 and starts[n_rows] == n_cells
    cdef Py_ssize_t i
    # Not by differences, which wrap around.
    for i in range(n_rows):
        is_rising &= starts[i] <= starts[i + 1]
    if not is_rising:
        raise ValueError("the offsets of the weight rows are not in ascending order")
    return 0


cdef inline bint _are_columns(
    const uint16_t* columns, Py_ssize_t n, Py_ssize_t n_columns
) noexcept nogil:
    """True if columns exist, and rise."""
    cdef bint is_rising = True
    cdef Py_ssize_t i
    for i in range(1, n):
        is_rising &= columns[i - 1] < columns[i]
    return is_rising and (n == 0 or columns[n - 1] < n_columns)


cdef bint _are_rising(const uint64_t[::1] keys) noexcept nogil:
    """True if each key is greater than the one before."""
    cdef bint is_rising = True
    cdef Py_ssize_t i
    for i in range(keys.shape[0] - 1):
        is_rising &= keys[i] < keys[i + 1]
    return is_rising


cdef bint _are_bounded(const Weight[::1] weights, Weight most) noexcept nogil:
    """True if weights are finite numbers from -most to most."""
    cdef bint is_bounded = True
    cdef Py_ssize_t i
    for i in range(weights.shape[0]):
        is_bounded &= (weights[i] >= -most) & (weights[i] <= most)
    return is_bounded
