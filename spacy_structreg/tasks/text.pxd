from libc.stdint cimport int32_t, uint8_t, uint32_t

cdef enum Constraint:
    # What constrains a character.
    FREE = 0
    BEGINS_WORD = 1
    CONTINUES_WORD = 2

cdef enum:
    ANY_TAG = -1


cdef class TextDecoder:
    cdef readonly tuple tags
    # The sentence at hand, without white space.
    cdef uint32_t* characters
    cdef uint8_t* constraints
    cdef int32_t* wanted_tags
    cdef bint is_constrained
    cdef bint wants_tags
    # Its solution.
    cdef uint8_t* begins
    cdef int32_t* word_tags
    cdef object _property_table    # whose memory the pointer borrows
    cdef const uint8_t* _properties
    cdef uint32_t* _text
    cdef uint8_t* _forced
    cdef int32_t* _forced_tags
    cdef uint8_t* _marks
    cdef int32_t* _marked_tags
    cdef Py_ssize_t* _limits
    cdef Py_ssize_t _text_capacity
    cdef Py_ssize_t _limit_capacity
    cdef Py_ssize_t _sentence_capacity

    cdef double solve(self, Py_ssize_t n) except? -1 nogil
    cdef int _make_room(self, Py_ssize_t n) except -1
    cdef int _load(self, list texts) except -1
    cdef int _force(self, Py_ssize_t base, Py_ssize_t n, words) except -1
    cdef Py_ssize_t _squeeze(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef void _mark(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    cdef double _decode(self, Py_ssize_t first, Py_ssize_t n) except? -1 nogil
    cdef int _choose(self, Py_ssize_t base, Py_ssize_t first, Py_ssize_t n, clusters) except -1
    cdef int _decode_all(self, list texts, list sentences, list clusters) except -1
    cdef list _words(self, str text, Py_ssize_t base)
    cdef list _tagged_words(self, str text, Py_ssize_t base)
