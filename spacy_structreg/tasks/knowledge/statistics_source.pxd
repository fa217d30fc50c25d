from libc.stdint cimport int64_t, uint16_t, uint64_t

from spacy_structreg.tasks.knowledge.source cimport CharacterSource


cdef class StatisticsSource(CharacterSource):
    cdef readonly bint information
    cdef readonly object keys
    cdef readonly object values
    cdef readonly object starts
    cdef const uint64_t[::1] _keys
    cdef const uint16_t[::1] _values
    cdef const int64_t[::1] _starts
    cdef int _shift

    cdef uint16_t _value(self, uint64_t key) noexcept nogil
