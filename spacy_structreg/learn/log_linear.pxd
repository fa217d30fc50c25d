from libc.stdint cimport int64_t

from spacy_structreg.learn.learner cimport Learner


cdef class LogLinearLearner(Learner):
    cdef double scale
    cdef public int64_t n_positions
    cdef public double sum_of_squares

    cdef void fold(self) noexcept nogil
