from libc.stdint cimport int32_t, uint8_t

from spacy_structreg.search.scorer cimport StateScorer
from spacy_structreg.tasks.segmentation.characters cimport CharacterDecoder
from spacy_structreg.tasks.segmentation.words cimport WordTransitions


ctypedef struct RankedAnalysis:
    double score
    Py_ssize_t rank   # by the model of characters


cdef class RerankingDecoder(CharacterDecoder):
    cdef readonly StateScorer scorer
    cdef readonly WordTransitions system
    cdef readonly Py_ssize_t n_best
    cdef readonly double weight
    cdef char* _states
    cdef uint8_t* _masks
    cdef double* _scores
    cdef int32_t* _actions
    cdef RankedAnalysis* _ranked   # the best first

    cdef double _score_words(self, Py_ssize_t n) except? -1 nogil
    cdef double _total(self, double of_characters, Py_ssize_t n) except? -1 nogil
