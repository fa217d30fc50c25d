"""MurmurHash64A (Austin Appleby, public domain), by which strings and long n-grams become keys."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

cdef uint64_t MULTIPLIER = 0xC6A4A7935BD1E995ULL
cdef int SHIFT = 47


cdef uint64_t murmur_hash_64a(const void* data, size_t length, uint64_t seed) noexcept nogil:
    """The hash of `length` bytes. Words are read in the byte order of the machine."""
    cdef const uint8_t* byte = <const uint8_t*> data
    cdef const uint8_t* last = byte + (length - (length & 7))
    cdef uint64_t state = seed ^ (<uint64_t> length * MULTIPLIER)
    cdef uint64_t word
    cdef size_t i
    while byte != last:
        memcpy(&word, byte, 8)
        word *= MULTIPLIER
        word ^= word >> SHIFT
        word *= MULTIPLIER
        state ^= word
        state *= MULTIPLIER
        byte += 8
    length &= 7
    if length:
        for i in range(length):
            state ^= <uint64_t> byte[i] << (8 * i)
        state *= MULTIPLIER
    state ^= state >> SHIFT
    state *= MULTIPLIER
    state ^= state >> SHIFT
    return state


def hash_string(str text not None, uint64_t seed=1):
    """MurmurHash64A of the UTF-8 bytes of `text`: with seed 1, the ids that spaCy gives strings.

    Raises UnicodeEncodeError if `text` holds a lone surrogate.
    """
    cdef bytes encoded = text.encode("utf-8")
    return murmur_hash_64a(<const char*> encoded, len(encoded), seed)
