cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.learn.penalty cimport Penalty

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define STRUCTREG_PREFETCH(address) __builtin_prefetch(address)
    #else
    #define STRUCTREG_PREFETCH(address) ((void) 0)
    #endif
    """
    void STRUCTREG_PREFETCH(const void* address) noexcept nogil

ctypedef struct Slot:
    uint64_t key
    uint64_t row


cdef inline bint is_dropped(
    uint64_t draw, int32_t row, int column, uint64_t threshold
) noexcept nogil:
    """True if a draw drops a weight; the same wherever the weight is met."""
    cdef uint64_t mixed = draw ^ (<uint64_t> row << 20) ^ <uint64_t> column
    mixed = (mixed ^ (mixed >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9ULL
    mixed = (mixed ^ (mixed >> 27)) * <uint64_t> 0x94D049BB133111EBULL
    return (mixed ^ (mixed >> 31)) < threshold


cdef inline uint64_t draw_of_table(uint64_t draw, int table) noexcept nogil:
    """The draw of an example for one table, so that tables drop weights independently."""
    return draw ^ <uint64_t> (table + 1) * <uint64_t> 0x9E3779B97F4A7C15ULL


cdef inline uint64_t spread(uint64_t key) noexcept nogil:
    """The bits of a key, mixed: the lowest say where it belongs, the highest are its tag."""
    cdef uint64_t mixed = (key ^ (key >> 29)) * <uint64_t> 0x9E3779B97F4A7C15ULL
    return mixed ^ (mixed >> 32)


cdef inline uint8_t tag_of(uint64_t mixed) noexcept nogil:
    cdef uint8_t tag = <uint8_t> (mixed >> 56)
    return tag if tag else 1


ctypedef struct Entries:
    # The cells of one adaptive row: pool[offset : offset + count], with capacity for more.
    int64_t offset
    int32_t count
    int32_t capacity


cdef class Rows(BufferOwner):
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_columns
    cdef readonly bint adaptive
    cdef bint _bounded
    cdef Slot* _slots
    # A byte of each slot: 0 if it is empty, else eight bits of its key. Nearly all keys that have
    # no row are told by these alone, which are few enough to stay in the cache.
    cdef uint8_t* _tags
    cdef uint64_t _slot_mask
    cdef uint64_t* _keys  # of the rows; NULL where rows are never added

    cdef int _begin(self, Py_ssize_t n_columns) except -1
    cdef int _resize_index(self, Py_ssize_t n_rows) except -1 nogil

    @cython.final
    cdef int _place(self, uint64_t key, Py_ssize_t row) except -1 nogil

    cdef int _append(self, uint64_t key) except -1 nogil
    cdef int index(self, const uint64_t[::1] keys, const int32_t[::1] numbers=*) except -1
    cdef int32_t find(self, uint64_t key) noexcept nogil
    cdef int32_t _find_from(self, uint64_t slot, uint64_t key, uint8_t tag) noexcept nogil
    cdef void find_run(self, const uint64_t* keys, Py_ssize_t n, int32_t* rows) noexcept nogil
    cdef void fetch_run(self, const int32_t* rows, Py_ssize_t n) noexcept nogil
    cdef void add_run(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t step, double* scores
    ) noexcept nogil
    cdef void add_weighted(
        self, const int32_t* rows, const double* values, Py_ssize_t n, double* scores
    ) noexcept nogil


cdef class FeatureCounts(Rows):
    cdef uint32_t* _counts

    cdef int add(self, uint64_t key) except -1 nogil


cdef class TrainingRows(Rows):
    cdef Penalty penalty
    cdef readonly bint closed
    cdef readonly object occurrences
    cdef public object rates
    cdef int64_t* _stamps
    cdef Entries* _entries
    cdef double* _values
    cdef double* _sums
    cdef double* _debts
    cdef uint16_t* _columns
    cdef Py_ssize_t _pool_size
    cdef int64_t _free[16]  # heads of the lists of free cells, by size class

    cdef int32_t insert(self, uint64_t key) except -2 nogil
    cdef void catch_up_run(self, const int32_t* rows, Py_ssize_t n, int64_t time) noexcept nogil
    cdef int update(self, int32_t row, int column, double delta, int64_t time) except -1 nogil
    cdef void forget(self, int64_t time) noexcept nogil
    cdef void finish_update(self, int32_t row, int64_t time) noexcept nogil
    cdef void add_run_dropout(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t step, double* scores,
        uint64_t draw, uint64_t threshold,
    ) noexcept nogil
    cdef void add_weighted_dropout(
        self, const int32_t* rows, const double* values, Py_ssize_t n, double* scores,
        uint64_t draw, uint64_t threshold,
    ) noexcept nogil
    cdef bint _is_full(self, int32_t row) noexcept nogil
    cdef void _catch_up(self, int32_t row, int64_t time) noexcept nogil
    cdef int64_t _cell(self, int32_t row, int column) except -1 nogil
    cdef void _fresh_cells(self, int64_t first, int64_t count, int64_t time) noexcept nogil
    cdef void _copy_cell(self, int64_t target, int64_t source) noexcept nogil
    cdef void _cells(self, int32_t row, int64_t* first, int64_t* count) noexcept nogil
    cdef uint16_t _column(self, int32_t row, int64_t first, int64_t k) noexcept nogil
    cdef object _gather(self, const double* cells, shape)
    cdef int32_t _average_row(
        self, int32_t row, int64_t time, float prune, float* values, uint16_t* columns
    ) noexcept nogil
    cdef int64_t _take(self, int size_class, int32_t size) except -1 nogil
    cdef void _give_back(self, int64_t offset, int size_class) noexcept nogil
    cdef int _grow_rows(self) except -1 nogil
    cdef int _grow_pool(self, Py_ssize_t needed) except -1 nogil


cdef class TrainedRows(Rows):
    cdef dict _arrays
    # `find` returns numbers below this: of dense rows, their own; of adaptive ones, where they
    # begin in `_cells`. There a row is the number of its cells, their columns, and their weights;
    # or FULL, and the weights of all columns.
    cdef Py_ssize_t n_numbers
    cdef const float* _values
    cdef int32_t* _cells
    # Where keys are small numbers: the row of each number, -1 for none; else there are none.
    cdef int32_t* _row_of
    cdef uint64_t _n_small

    cdef object _lay_out(self)
    cdef void _fetch(self, int32_t row) noexcept nogil
    cdef int _index_small(
        self, const uint64_t[::1] keys, const int32_t[::1] numbers
    ) except -1


cdef class PatchedRows(TrainedRows):
    cdef TrainedRows _base
    cdef TrainedRows _patch
