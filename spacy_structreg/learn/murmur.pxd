from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy


cdef inline uint64_t murmur_hash_64a(const void* data, size_t length, uint64_t seed) noexcept nogil:
    """The hash of `length` bytes. Words are read in the byte order of the machine."""
    cdef uint64_t multiplier = 0xC6A4A7935BD1E995ULL
    cdef const uint8_t* byte = <const uint8_t*> data
    cdef const uint8_t* last = byte + (length - (length & 7))
    cdef uint64_t state = seed ^ (<uint64_t> length * multiplier)
    cdef uint64_t word
    cdef size_t i
    while byte != last:
        memcpy(&word, byte, 8)
        word *= multiplier
        word ^= word >> 47
        word *= multiplier
        state ^= word
        state *= multiplier
        byte += 8
    length &= 7
    if length:
        for i in range(length):
            state ^= <uint64_t> byte[i] << (8 * i)
        state *= multiplier
    state ^= state >> 47
    state *= multiplier
    state ^= state >> 47
    return state
