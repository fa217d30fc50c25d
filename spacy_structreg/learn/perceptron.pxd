from libc.stdint cimport int64_t

from spacy_structreg.learn.changes cimport Changes
from spacy_structreg.learn.learner cimport Learner

cdef enum Clock:
    EXAMPLES
    MISTAKES
    EPOCHS


cdef class Perceptron(Learner):
    cdef readonly Clock ticks
    cdef readonly Changes changes
    # Of the update rule: see `learning_settings.UpdateRule`.
    cdef readonly double cost
    cdef readonly double margin
    cdef bint _passive
    cdef double _longest
    cdef double _slack
    cdef bint _penalised
    cdef bint _restart

    cdef void begin_epoch(self) noexcept nogil
    cdef int64_t read_time(self) noexcept nogil
    cdef void begin_example(self) noexcept nogil
    cdef int apply(self, double loss) except -1 nogil
