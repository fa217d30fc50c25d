from libc.stdint cimport int32_t


cdef class Derivation:
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t n_actions
    cdef readonly object lineage
    cdef readonly Py_ssize_t n_rows_known
    cdef readonly object units
    cdef int32_t* actions
    cdef void* sentence

    @staticmethod
    cdef Derivation make(
        Py_ssize_t n, Py_ssize_t n_actions, size_t sentence_size, object lineage
    )
