from libc.stdint cimport int32_t, uint16_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.learn.rows cimport Rows

cdef enum:
    # The class of a word, and the first 4, 6, 10 and 20 bits of its path.
    N_CLASS_FIELDS = 5


cdef class WordClasses(BufferOwner):
    cdef readonly tuple names
    cdef readonly bint is_tree
    cdef readonly Py_ssize_t n
    cdef Py_ssize_t _n_classes
    cdef dict _arrays
    cdef Rows _index
    cdef const uint16_t* _numbers
    cdef uint64_t* _fields     # (n_classes + 1, N_CLASS_FIELDS); the last row is of no class

    cdef const uint64_t* fields_of(self, uint64_t key) noexcept nogil
