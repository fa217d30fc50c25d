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
    # Partial annotation, for `TransitionSystem.constrain`; NULL if `actions` are gold.
    cdef char* known

    @staticmethod
    cdef Derivation make(
        Py_ssize_t n, Py_ssize_t n_actions, Py_ssize_t sentence_size, object numbering
    )
