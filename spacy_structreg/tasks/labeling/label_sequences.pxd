from spacy_structreg.search.marginals cimport SumProduct
from spacy_structreg.tasks.chain cimport ChainDecoder


cdef class LabelDecoder:
    cdef readonly ChainDecoder chain
    cdef SumProduct _sums

    cdef Py_ssize_t _load(self, symbols, lists) except -1
