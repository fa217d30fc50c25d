from libc.stdint cimport int64_t, uint64_t

from spacy_structreg.search.marginals cimport SumProduct
from spacy_structreg.tasks.chain cimport MAX_LISTS, ChainDecoder

ctypedef struct Sequences:
    # The streams, `stride` apart, and the lists of sequences of `n` positions in all.
    Py_ssize_t n
    Py_ssize_t stride
    const uint64_t* symbols
    const int64_t* starts[MAX_LISTS]
    const uint64_t* keys[MAX_LISTS]
    const double* values[MAX_LISTS]


cdef class LabelDecoder:
    cdef readonly ChainDecoder chain
    cdef SumProduct _sums

    cdef list _read(self, Sequences* read, symbols, lists, Py_ssize_t n_sequences)
    cdef int _load(
        self, const Sequences* read, Py_ssize_t number, Py_ssize_t first, Py_ssize_t n
    ) except -1 nogil
    cdef Py_ssize_t _load_one(self, symbols, lists) except -1
