from libc.stdint cimport int32_t

ctypedef struct Change:
    int32_t table
    int32_t row
    int32_t column
    double value


cdef class Changes:
    cdef Change* items
    cdef readonly Py_ssize_t n
    cdef Py_ssize_t _capacity
    cdef int32_t* _slots
    cdef Py_ssize_t _slot_capacity

    cdef int add(self, int32_t table, int32_t row, int32_t column, double value) except -1 nogil
    cdef double merge(self) except? -1 nogil
