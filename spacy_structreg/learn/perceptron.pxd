from libc.stdint cimport int64_t


cdef class Perceptron:
    cdef readonly tuple tables
    cdef public int64_t clock
