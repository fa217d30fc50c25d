from libc.stdint cimport int32_t, uint8_t, uint32_t

from spacy_structreg.search.viterbi cimport Transitions
from spacy_structreg.tasks.chain cimport ChainDecoder
from spacy_structreg.tasks.segmentation.characters cimport CharacterDecoder
from spacy_structreg.tasks.segmentation.words cimport GuideView, WordGuide


cdef class ChainGuide(WordGuide):
    cdef readonly CharacterDecoder decoder
    cdef readonly ChainDecoder chain
    cdef readonly object labels
    cdef readonly double weight
    cdef readonly double window
    cdef const int32_t* _labels
    cdef Py_ssize_t _n_tags
    cdef Transitions _backward
    cdef double* _transposed
    cdef double* _ahead
    cdef double* _following
    cdef double* _heuristic
    cdef double* _most       # (n_labels,): the best score of a step to a label
    cdef uint8_t* _legal     # (n_labels, n_labels): whether there is one, as `_transposed`
    cdef int32_t* _within    # labels of a position
    cdef uint8_t* _allowed
    cdef int32_t* _actions   # that lead to each label, or -1
    cdef uint8_t* _begins
    cdef int32_t* _sure

    cdef bint _look_ahead_narrowly(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t n
    ) except -1 nogil
    cdef int _look_ahead(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t n
    ) except -1 nogil
    cdef const double* _best_completions(self, Py_ssize_t n) except NULL nogil
    cdef int _list_actions(self, Py_ssize_t n) except -1 nogil
    cdef bint _open_window(
        self, const double* emissions, const uint8_t* mask, Py_ssize_t n
    ) except -1 nogil
