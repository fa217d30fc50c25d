from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.learn.rows cimport Rows


cdef class TagRecords(BufferOwner):
    cdef readonly int n_tags
    cdef readonly int n_blocks
    cdef readonly dict arrays
    cdef object _views
    cdef const int32_t* lengths
    cdef const uint64_t* any_words
    cdef const uint64_t* any_firsts
    cdef Rows _word_index
    cdef const uint64_t* _word_tags
    cdef Rows _character_index
    cdef const uint64_t* _first_tags
    cdef const uint64_t* _character_tags

    cdef const uint64_t* tags_of_word(self, uint64_t word) noexcept nogil
    cdef int32_t number_of(self, uint64_t character) noexcept nogil
    cdef const uint64_t* tags_of_first(self, int32_t number) noexcept nogil
    cdef uint64_t category(self, int32_t number) noexcept nogil
    cdef const uint64_t* _start(self, str name) except NULL
    cdef list _numbers(self, const uint64_t* tags)
    cdef bint is_in(self, const uint64_t* tags, int tag) noexcept nogil


cdef class GrowingRecords(TagRecords):
    cdef bint _limits_lengths
    cdef bint _has_dictionary
    cdef int64_t _least_begun  # 0 for none
    cdef int64_t _least_seen
    cdef int64_t _most  # times that the most frequent word was seen
    cdef int64_t* _word_counts
    cdef uint64_t* _word_seen  # tags that a word was seen with; and with those that any word has
    cdef uint64_t* _word_open
    cdef int64_t* _first_counts
    cdef uint64_t* _first_seen
    cdef uint64_t* _first_open
    cdef int64_t* _character_counts
    cdef uint64_t* _character_seen

    cdef int _restore(self, state) except -1
    cdef int observe(self, const uint32_t* characters, Py_ssize_t n, int tag) except -1 nogil
    cdef int32_t _row_of_word(self, uint64_t word) except -1 nogil
    cdef int32_t _row_of_character(self, uint64_t character) except -1 nogil


cdef uint64_t word_key(const uint32_t* characters, Py_ssize_t n) noexcept nogil
