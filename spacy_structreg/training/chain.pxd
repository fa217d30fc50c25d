from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.search.viterbi cimport LabelGraph, NBestViterbi, Viterbi
from spacy_structreg.tasks.chain cimport ChainFeatures


ctypedef struct ChainView:
    # What the kernel reads of a compiled sequence.
    Py_ssize_t n
    const uint16_t* labels
    const int32_t* rows


cdef class ChainTrainer:
    cdef readonly ChainFeatures features
    cdef readonly LabelGraph graph
    cdef readonly Perceptron learner
    cdef Viterbi _viterbi
    cdef NBestViterbi _nbest
    cdef uint64_t _noise
    cdef uint64_t _draw
    cdef uint64_t _threshold
    cdef double _dropout
    cdef bint _penalised
    cdef double* _pairs  # the scores of pairs of labels that the decoder sees
    cdef int32_t* _pair_rows
    cdef double* _scores
    cdef uint16_t* _path
    cdef int32_t* _rows
    cdef uint8_t* _hidden
    cdef Py_ssize_t _score_capacity
    cdef Py_ssize_t _path_capacity
    cdef Py_ssize_t _row_capacity
    cdef Py_ssize_t _hidden_capacity

    cdef int _reserve(self, Py_ssize_t count) except -1 nogil
    cdef Py_ssize_t _visit(
        self, void** tables, const ChainView* chain, Py_ssize_t begin, Py_ssize_t count
    ) except -1 nogil
    cdef void _present(
        self, void** tables, const ChainView* chain, Py_ssize_t begin, Py_ssize_t count
    ) noexcept nogil
    cdef double _predict(
        self, const uint16_t* gold, Py_ssize_t count, double* scores
    ) except? -1 nogil
    cdef int _compare(self, const uint16_t* gold, Py_ssize_t count) except -1 nogil
    cdef void _read_pairs(self, void* table, Py_ssize_t label) noexcept nogil
    cdef void _follow(self, void* table, Py_ssize_t label) noexcept nogil
    cdef void _present_pairs(self, void* table, int64_t time) noexcept nogil
    cdef int _change_pair(self, Py_ssize_t x, Py_ssize_t y, double value) except -1 nogil
    cdef uint64_t _draw_of(self, int table) noexcept nogil
    cdef int _change(self, int table, int32_t row, int column, double value) except -1 nogil
