from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.search.viterbi cimport LabelGraph, NBestViterbi, Viterbi
from spacy_structreg.tasks.chain cimport ChainData, ChainFeatures, Listed


cdef class ChainTrainer(BufferOwner):
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
    cdef double* _edges  # the scores of pairs at each position, if there are edge features
    cdef uint16_t* _path
    cdef const uint16_t* _gold  # of the piece at work
    cdef uint16_t* _latent      # its best labels within a mask
    cdef double* _outside       # of `_best_outside`: (count, 2, n_labels)
    cdef int32_t* _origins
    cdef int32_t* _rows
    cdef uint8_t* _hidden

    cdef int _reserve(self, Py_ssize_t count, bint partial) except -1 nogil
    cdef Py_ssize_t _visit(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) except -1 nogil
    cdef void _score_piece(
        self, void** tables, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) noexcept nogil
    cdef double _predict(
        self, const uint8_t* mask, Py_ssize_t count, double* scores
    ) except? -1 nogil
    cdef double _best_outside(
        self, const uint8_t* mask, Py_ssize_t count, const double* scores
    ) noexcept nogil
    cdef bint _is_right(self, const uint8_t* mask, Py_ssize_t i, Py_ssize_t label) noexcept nogil
    cdef void _score_list(
        self, void** tables, int number, const Listed* listed, Py_ssize_t begin, Py_ssize_t i,
        int64_t time, double* scores,
    ) noexcept nogil
    cdef void _score_cells(
        self, void** tables, int number, const Listed* listed, int64_t first, Py_ssize_t n,
        int64_t time, double* scores,
    ) noexcept nogil
    cdef double _pair(self, Py_ssize_t i, Py_ssize_t x, Py_ssize_t y) noexcept nogil
    cdef int _compare(
        self, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) except -1 nogil
    cdef int _compare_lists(
        self, const ChainData* chain, Py_ssize_t begin, Py_ssize_t count
    ) except -1 nogil
    cdef int _change_listed(
        self, int number, const Listed* listed, Py_ssize_t begin, Py_ssize_t i, int column,
        double sign,
    ) except -1 nogil
    cdef bint _is_hidden(self, int number, Py_ssize_t i, Py_ssize_t k) noexcept nogil
    cdef void _read_pairs(self, void* table, Py_ssize_t label) noexcept nogil
    cdef void _refresh_pairs(self, void* table, Py_ssize_t label) noexcept nogil
    cdef void _score_pairs(self, void* table, int64_t time) noexcept nogil
    cdef int _change_pair(self, Py_ssize_t x, Py_ssize_t y, double value) except -1 nogil
    cdef int _change(self, int table, int32_t row, int column, double value) except -1 nogil
