from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.tasks.chain cimport ChainDecoder
from spacy_structreg.tasks.segmentation.text cimport BonusWords, ListedWords, TextDecoder
from spacy_structreg.tasks.segmentation.word_lattice cimport WordLattice


cdef class CharacterAtoms(BufferOwner):
    cdef readonly object types
    cdef readonly bint half_width
    cdef readonly object script
    cdef readonly dict atoms
    cdef readonly tuple sources
    cdef readonly int n_sources
    cdef void** _sources
    cdef int* _first_streams
    cdef object _tables
    cdef uint32_t _n_seen             # as what the model sees characters below this number
    cdef const uint32_t* _seen
    cdef const uint8_t* _types

    cdef int fill(
        self, const uint32_t* text, Py_ssize_t n, uint64_t* symbols, Py_ssize_t stride,
        Py_ssize_t reach,
    ) except -1 nogil
    cdef int _fill_sources(
        self, const uint64_t* characters, Py_ssize_t n, uint64_t* symbols, Py_ssize_t stride,
        Py_ssize_t reach,
    ) except -1 nogil


cdef class CharacterDecoder(TextDecoder):
    cdef readonly CharacterAtoms atoms
    cdef readonly ChainDecoder chain
    cdef readonly object label_begins
    cdef readonly object label_tags
    cdef readonly object lists
    cdef readonly WordLattice lattice
    cdef uint8_t* _begins_of
    cdef int32_t* _tag_of
    cdef const uint32_t[::1] _listed
    cdef const uint8_t[:, ::1] _allowed
    cdef uint16_t* _labels

    cdef bint load_chain(
        self, const uint32_t* characters, Py_ssize_t n, const uint8_t* constraints,
        const ListedWords* listed, const BonusWords* bonuses, bint by_lists,
    ) except -1 nogil
    cdef void _constrain(self, uint8_t constraint, uint8_t* mask) noexcept nogil
    cdef int _decode_together(self, Py_ssize_t first, Py_ssize_t last) except -1 nogil
    cdef Py_ssize_t _place(self, uint64_t character) noexcept nogil
    cdef bint _solve_both_ways(
        self, Py_ssize_t n, double[:, ::1] ahead, bint by_lists
    ) except -1 nogil
    cdef void _best_of_both(self, Py_ssize_t i, const double* ahead, double* best) noexcept nogil
    cdef bint _present_sentence(self, Py_ssize_t n, bint by_lists) except -1 nogil
    cdef void _take(self, Py_ssize_t n) noexcept nogil
