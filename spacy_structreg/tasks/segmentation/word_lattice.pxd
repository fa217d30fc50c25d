from libc.stdint cimport int32_t, uint8_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.search.viterbi cimport Lattice
from spacy_structreg.tasks.segmentation.text cimport BonusWords, ListedWords


cdef class WordLattice(BufferOwner):
    # Of the sentence that was built last; the pointers stay until the next.
    cdef Lattice lattice
    cdef uint8_t* constraints  # of each column
    cdef int32_t* tags         # of words that begin there; or ANY_TAG, or OTHER_TAGS
    cdef int32_t* _positions
    cdef int32_t* _first
    cdef int32_t* _before
    # What a column is one of, and of which: see `build`.
    cdef uint8_t* _kinds
    cdef int32_t* _keys
    # Where the word begins, if a longer one from there has a bonus, else -1; its tag, as in `tags`;
    # and whether it must be one of those.
    cdef int32_t* _starts
    cdef int32_t* _start_tags
    cdef uint8_t* _must_be
    cdef double* _scores
    cdef double* _last
    cdef Py_ssize_t _n_before

    cdef int build(
        self, Py_ssize_t n, const uint8_t* constraints, const ListedWords* words,
        const BonusWords* bonuses,
    ) except -1 nogil
    cdef int _add_others(
        self, Py_ssize_t position, int32_t deadline, uint8_t constraint, Py_ssize_t low,
        Py_ssize_t high, const ListedWords* words, const BonusWords* bonuses,
    ) except -1 nogil
    cdef int _add_begin(
        self, Py_ssize_t position, int32_t deadline, int32_t start, int32_t tag, Py_ssize_t low,
        Py_ssize_t high, const ListedWords* words, const BonusWords* bonuses,
    ) except -1 nogil
    cdef bint _may_end(
        self, Py_ssize_t column, Py_ssize_t position, const ListedWords* words,
        const BonusWords* bonuses, double* score,
    ) noexcept nogil
    cdef bint _goes_on(
        self, Py_ssize_t column, Py_ssize_t position, const BonusWords* bonuses
    ) noexcept nogil
    cdef void _drop_unreached(self, Py_ssize_t position) noexcept nogil
    cdef int _add(
        self, Py_ssize_t position, uint8_t kind, int32_t key, uint8_t constraint, int32_t tag
    ) except -1 nogil
    cdef int _put_before(self, Py_ssize_t column, double score) except -1 nogil
    cdef Py_ssize_t _begun(self, Py_ssize_t low, Py_ssize_t high, int32_t tag) noexcept nogil
    cdef bint _is_over(
        self, Py_ssize_t column, Py_ssize_t position, const ListedWords* words
    ) noexcept nogil
