from libc.stdint cimport int32_t

from spacy_structreg.learn.memory cimport BufferOwner


cdef class Derivation(BufferOwner):
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t n_actions
    cdef readonly object numbering
    cdef readonly Py_ssize_t n_rows_known
    cdef readonly object units
    cdef int32_t* actions
    cdef char* sentence

    @staticmethod
    cdef Derivation make(
        Py_ssize_t n, Py_ssize_t n_actions, Py_ssize_t sentence_size, object numbering
    )
