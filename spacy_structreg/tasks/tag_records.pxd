from libc.stdint cimport int32_t, uint32_t, uint64_t


cdef class TagRecords:
    cdef readonly int n_tags
    cdef readonly int n_blocks
    cdef readonly dict arrays
    cdef object _views
    cdef const int32_t* lengths
    cdef const uint64_t* any_words
    cdef const uint64_t* any_firsts
    # Open addressing: the number of an entry, or -1.
    cdef int32_t* _word_slots
    cdef uint64_t _word_mask
    cdef const uint64_t* _words
    cdef const uint64_t* _word_tags
    cdef int32_t* _character_slots
    cdef uint64_t _character_mask
    cdef const uint64_t* _characters
    cdef const uint64_t* _first_tags
    cdef const uint64_t* _character_tags

    cdef const uint64_t* tags_of_word(self, uint64_t word) noexcept nogil
    cdef int32_t number_of(self, uint64_t character) noexcept nogil
    cdef const uint64_t* tags_of_first(self, int32_t number) noexcept nogil
    cdef uint64_t category(self, int32_t number) noexcept nogil
    cdef const uint64_t* _start(self, str name) except NULL
    cdef list _numbers(self, const uint64_t* tags)
    cdef bint is_in(self, const uint64_t* tags, int tag) noexcept nogil


cdef uint64_t word_key(const uint32_t* characters, Py_ssize_t n) noexcept nogil
