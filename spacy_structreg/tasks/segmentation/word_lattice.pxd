from libc.stdint cimport int32_t, uint8_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.search.viterbi cimport Lattice
from spacy_structreg.tasks.segmentation.text cimport ListedWords


cdef class WordLattice(BufferOwner):
    # Of the sentence that was built last; the pointers stay until the next.
    cdef Lattice lattice
    cdef uint8_t* constraints  # of each column
    cdef int32_t* tags         # of words that begin there; or ANY_TAG
    cdef int32_t* _positions
    cdef int32_t* _first
    cdef int32_t* _before
    # What a column is one of, and of which: see `build`.
    cdef uint8_t* _kinds
    cdef int32_t* _keys
    cdef Py_ssize_t _n_before

    cdef int build(
        self, Py_ssize_t n, const uint8_t* constraints, const ListedWords* words
    ) except -1 nogil
    cdef int _add(
        self, Py_ssize_t position, uint8_t kind, int32_t key, uint8_t constraint, int32_t tag
    ) except -1 nogil
    cdef int _put_before(self, Py_ssize_t column) except -1 nogil
    cdef Py_ssize_t _begun(self, Py_ssize_t low, Py_ssize_t high, int32_t tag) noexcept nogil
    cdef bint _is_over(
        self, Py_ssize_t column, Py_ssize_t position, const ListedWords* words
    ) noexcept nogil
