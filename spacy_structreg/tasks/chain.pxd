from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t

from spacy_structreg.search.viterbi cimport LabelGraph, NBestViterbi, Viterbi

cdef enum:
    MAX_ATOMS_OF_SHAPE = 8

ctypedef struct ShapeSpec:
    int n_atoms
    int streams[MAX_ATOMS_OF_SHAPE]
    int offsets[MAX_ATOMS_OF_SHAPE]  # from the anchor, ≥ 0
    int bits[MAX_ATOMS_OF_SHAPE]
    bint packed
    int lowest
    int n_shifts


cdef class ChainFeatures:
    cdef readonly tuple shapes
    cdef readonly dict atoms
    cdef readonly Py_ssize_t n_labels
    cdef readonly int reach
    cdef readonly int overhang
    cdef readonly int n_shapes
    cdef readonly int n_streams
    cdef readonly int tag_bigram
    cdef readonly Py_ssize_t n_pair_rows
    cdef ShapeSpec* specs

    cdef Py_ssize_t rows_of(self, Py_ssize_t n) noexcept nogil
    cdef void keys(
        self, int shape, const uint64_t* symbols, Py_ssize_t stride, Py_ssize_t first,
        Py_ssize_t count, uint64_t* keys,
    ) noexcept nogil
    cdef void emissions(
        self, void** tables, const int32_t* rows, Py_ssize_t n, double* scores
    ) noexcept nogil
    cdef void slice_rows(
        self, const int32_t* rows, Py_ssize_t n, Py_ssize_t begin, Py_ssize_t count,
        int32_t* part,
    ) noexcept nogil
    cdef void hide_rows(
        self, const uint8_t* hidden, Py_ssize_t count, int32_t* rows
    ) noexcept nogil


cdef class CompiledChain:
    cdef readonly Py_ssize_t n
    cdef readonly object lineage
    cdef readonly Py_ssize_t n_rows_known
    cdef uint16_t* labels
    cdef int32_t* rows

    @staticmethod
    cdef CompiledChain make(Py_ssize_t n, Py_ssize_t n_rows, object lineage)


cdef class ChainDecoder:
    cdef readonly ChainFeatures features
    cdef readonly LabelGraph graph
    cdef readonly tuple tables
    cdef void** _tables
    cdef Viterbi _viterbi
    cdef NBestViterbi _nbest
    cdef double* _transitions
    cdef uint64_t* _symbols
    cdef uint64_t* _keys
    cdef int32_t* _rows
    cdef double* _scores
    cdef uint8_t* _mask
    cdef Py_ssize_t _symbol_capacity
    cdef Py_ssize_t _key_capacity
    cdef Py_ssize_t _row_capacity
    cdef Py_ssize_t _score_capacity
    cdef Py_ssize_t _mask_capacity
    cdef Py_ssize_t stride

    cdef uint64_t* symbols_for(self, Py_ssize_t n) except NULL nogil
    cdef uint8_t* mask_for(self, Py_ssize_t n) except NULL nogil
    cdef const double* _emissions(
        self, Py_ssize_t begin, Py_ssize_t count
    ) except NULL nogil
    cdef double decode(self, Py_ssize_t n, bint masked, uint16_t* path) except? -1 nogil
    cdef int solve_nbest(self, Py_ssize_t n, bint masked) except -1 nogil
    cdef double nbest_path(self, Py_ssize_t rank, uint16_t* path) except? -1 nogil
