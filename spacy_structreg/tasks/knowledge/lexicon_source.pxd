from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t

from spacy_structreg.tasks.knowledge.lexicon cimport Lexicon
from spacy_structreg.tasks.knowledge.source cimport CharacterSource


cdef class LexiconSource(CharacterSource):
    cdef readonly object words
    cdef Lexicon _lexicon
    # Words that a user prefers, or None. Their values come behind those of the words.
    cdef object _preferred
    cdef Lexicon _more
    cdef int32_t _n_values
    cdef const uint8_t[::1] _frequencies
    cdef const uint16_t[::1] _tags

    cdef int32_t value_of(self, const uint64_t* characters, Py_ssize_t n) noexcept nogil
