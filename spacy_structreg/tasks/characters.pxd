from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from spacy_structreg.tasks.chain cimport ChainDecoder


cdef class CharacterAtoms:
    cdef readonly object types
    cdef readonly bint half_width
    cdef readonly dict atoms
    cdef object _tables
    cdef const uint32_t* _half_width
    cdef const uint8_t* _types

    cdef void fill(
        self, const uint32_t* text, Py_ssize_t n, uint64_t* symbols, Py_ssize_t stride,
        Py_ssize_t reach,
    ) noexcept nogil


cdef class CharacterDecoder:
    cdef readonly CharacterAtoms atoms
    cdef readonly ChainDecoder chain
    cdef readonly object begins
    cdef uint8_t* _begins
    cdef const uint8_t* _properties
    cdef uint32_t* _text
    cdef uint32_t* _squeezed
    cdef uint8_t* _constraints
    cdef uint8_t* _marks
    cdef uint16_t* _labels
    cdef Py_ssize_t* _limits
    cdef Py_ssize_t _text_capacity
    cdef Py_ssize_t _limit_capacity
    cdef Py_ssize_t _squeezed_capacity
    cdef Py_ssize_t _constraint_capacity
    cdef Py_ssize_t _mark_capacity
    cdef Py_ssize_t _label_capacity

    cdef int _load(self, list texts) except -1
    cdef Py_ssize_t _squeeze(
        self, const uint32_t* text, Py_ssize_t n, bint* constrained
    ) except -1 nogil
    cdef int _present(self, const uint32_t* text, Py_ssize_t n, bint constrained) except -1 nogil
    cdef void _mark(self, const uint32_t* text, Py_ssize_t n, uint8_t* marks) noexcept nogil
    cdef list _words(self, str text, const uint8_t* marks)
    cdef int _decode_all(self, list texts, list sentences) except -1
    cdef int _decode(self, const uint32_t* text, Py_ssize_t n, uint8_t* marks) except -1 nogil
