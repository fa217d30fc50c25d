from libc.stdint cimport int32_t, uint16_t

from spacy_structreg.learn.perceptron cimport Perceptron
from spacy_structreg.search.viterbi cimport LabelGraph, Viterbi
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
    cdef double* _transitions
    cdef double* _scores
    cdef uint16_t* _path
    cdef Py_ssize_t _score_capacity
    cdef Py_ssize_t _path_capacity

    cdef Py_ssize_t _visit(self, void** tables, const ChainView* chain) except -1 nogil
    cdef int _update(self, void** tables, const ChainView* chain) except -1 nogil
