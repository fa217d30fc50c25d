from libc.stdint cimport int64_t

from spacy_structreg.learn.learner cimport Learner


cdef class LogLinearLearner(Learner):
    cdef double scale
    cdef public int64_t n_positions
    cdef public double sum_of_squares
    # Of the window at work, if each feature has a rate: visits, and positions visited.
    cdef public int64_t window_visits
    cdef public int64_t window_positions

    cdef void fold(self) noexcept nogil
    cdef object row_rates(self)
