from libc.stdint cimport uint64_t

from spacy_structreg.learn.memory cimport BufferOwner


cdef class CharacterSource(BufferOwner):
    cdef readonly dict atoms

    cdef int fill(
        self, const uint64_t* characters, Py_ssize_t n, uint64_t* symbols, Py_ssize_t stride,
        Py_ssize_t reach,
    ) except -1 nogil
    cpdef CharacterSource copy(self)
