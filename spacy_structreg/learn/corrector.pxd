from spacy_structreg.learn.changes cimport Change, Changes
from spacy_structreg.learn.perceptron cimport Perceptron

ctypedef struct Demand:
    # A lead that is asked for: that by the changes items[first : first + n].
    Py_ssize_t first
    Py_ssize_t n
    double squared  # what a step of 1 adds to the lead
    double least
    double multiplier


cdef class Corrector(Perceptron):
    cdef readonly Py_ssize_t n_steps
    cdef readonly double margin
    cdef Changes _items
    cdef Changes _moved  # the rows of all demands, since the weights were asked for
    cdef Demand* _demands
    cdef Py_ssize_t _n_demands
    cdef double* _shares  # of the tables
    cdef double* _row_shares  # of the rows that were counted, one table after the other
    cdef Py_ssize_t* _first_row_share

    cdef double _share(self, const Change* item) noexcept nogil
    cdef double _lead(self, const Demand* demand) except? -1 nogil
    cdef int _move(self, const Demand* demand, double step) except -1 nogil
    cdef int _ascend(self) except -1 nogil
