from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from spacy_structreg.learn.rows cimport TrainedRows

cdef enum WeightKind:
    FLOAT32  # as they are
    INT16    # to be multiplied by the scale
    INT8     # the same
    LEVEL    # uint8, the number of one of the levels

cdef extern from *:
    """
    #include <stdint.h>

    typedef struct {
        const uint8_t *cells;
        const int32_t *rows;
        int32_t zeros;
        double scale;
    } structreg_term;
    """
    ctypedef struct Term "structreg_term":
        # A dense row of each position, -1 for none, of which four weights count: `cells` are those
        # of its table, from the first of the four on.
        const uint8_t* cells
        const int32_t* rows
        int32_t zeros
        double scale


cdef void sum_terms(
    WeightKind kind, const Term* terms, Py_ssize_t n_terms, Py_ssize_t n, double* scores
) noexcept nogil


cdef class FrozenRows(TrainedRows):
    # The row for which `find` gave a number begins at `cells + number`, unaligned. A dense row is
    # `n_columns` weights of `kind`; an adaptive one is the number of its cells less one, their
    # columns, rising, and their weights, the number and the columns in `column_size` bytes each.
    cdef const uint8_t* cells
    cdef WeightKind kind
    cdef int weight_size
    cdef int column_size  # 0 where rows are dense
    cdef double scale
    cdef double levels[256]
    # Where the block of each hash begins, and the last one ends; of small keys, each row itself;
    # of a perfect hash, the displacements.
    cdef const uint32_t* _directory
    cdef uint64_t* _blocks  # of each block, where it begins, and in the low half its marks
    cdef uint64_t _n_blocks
    cdef uint64_t _n_direct  # how many keys are small; 0 if there are blocks or slots
    cdef uint64_t _n_slots  # of a perfect hash, whose buckets count as blocks; 0 if there are none
    cdef Py_ssize_t _row_size  # bytes of a dense row
    cdef int32_t _zeros  # where a dense row of zeros stands
    cdef uint64_t _salt
    cdef int _check_size
    cdef uint32_t _check_mask

    cdef int _take_layout(self) except -1
    cdef int _take_levels(self) except -1
    cdef int _check_blocks(self, Py_ssize_t size) except -1
    cdef int _check_slots(self, Py_ssize_t size, uint64_t n_rows) except -1
    cdef int _check_direct(self, Py_ssize_t size) except -1
    cdef int _check_row(self, Py_ssize_t* place, Py_ssize_t end) except -1 nogil
    cdef void _find_slots(self, const uint64_t* keys, Py_ssize_t n, int32_t* rows) noexcept nogil
