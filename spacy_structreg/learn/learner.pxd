from libc.stdint cimport int64_t

from spacy_structreg.learn.memory cimport BufferOwner


cdef class Learner(BufferOwner):
    cdef readonly tuple tables
    cdef readonly object settings
    cdef readonly object numbering
    cdef readonly bint is_copy
    cdef public double objective
    cdef public bint converged
    cdef int64_t _clock
    cdef Py_ssize_t _n_tables
    cdef void** table_pointers
