from libc.stdint cimport int64_t


cdef class Learner:
    cdef readonly tuple tables
    cdef readonly object settings
    cdef readonly object lineage
    cdef readonly bint is_copy
    cdef int64_t _clock
    cdef Py_ssize_t _n_tables
    cdef void** _tables
