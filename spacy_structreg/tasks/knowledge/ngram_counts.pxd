from libc.stdint cimport uint16_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner


cdef inline uint64_t code_of(uint64_t character) noexcept nogil:
    """The code of a character, of 16 bits and not 0: see `ngram_counts.pyx`."""
    if character > 0xFFFF:
        return 0xD800 | (character & 0x7FF)
    return character if character else 0xFFFF


cdef struct MergedRun:
    # What is left of a run: its first record, and where the others lie.
    uint64_t key
    uint64_t tail
    const uint64_t* next
    const uint64_t* end


cdef class TextChunk(BufferOwner):
    cdef object tables
    cdef const uint16_t[::1] _codes
    cdef const unsigned char[::1] _ends
    cdef uint16_t* _text
    cdef Py_ssize_t _n
    cdef uint64_t* _keys
    cdef uint64_t* _scratch
    cdef Py_ssize_t* _begins

    cdef int _add(self, int kind, const void* characters, Py_ssize_t n) except -1 nogil
    cdef Py_ssize_t _sort(self) except -1 nogil
    cdef Py_ssize_t _write(self, uint64_t* run) noexcept nogil


cdef class RunMerger(BufferOwner):
    cdef readonly long long minimum
    cdef list _runs
    cdef MergedRun* _heap
    cdef Py_ssize_t _n
    # The record before, and of its beginnings of 2, 3 and 4 characters: how often, and followed by
    # how much.
    cdef uint64_t _key
    cdef bint _begun
    cdef long long _frequency[3]
    cdef long long _variety[3]

    cdef void _sift(self, Py_ssize_t at) noexcept nogil
    cdef Py_ssize_t _merge(
        self, uint64_t* keys, long long* frequencies, long long* varieties, Py_ssize_t room
    ) noexcept nogil
    cdef Py_ssize_t _close(
        self, int shared, uint64_t* keys, long long* frequencies, long long* varieties,
        Py_ssize_t filled,
    ) noexcept nogil
