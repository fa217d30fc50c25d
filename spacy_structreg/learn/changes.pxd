from libc.stdint cimport int32_t

from spacy_structreg.learn.memory cimport BufferOwner

ctypedef struct Change:
    int32_t table
    int32_t row
    int32_t column
    double value


cdef class Changes(BufferOwner):
    cdef Change* items
    cdef readonly Py_ssize_t n
    cdef int32_t* _slots

    cdef int add(self, int32_t table, int32_t row, int32_t column, double value) except -1 nogil
    cdef double merge(self) except? -1 nogil
