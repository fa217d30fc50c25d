from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy


cdef enum:
    BYTES_OF_WORD = 8


# The hash of whole words in steps, so that what is hashed again and again is mixed once: the state
# after `murmur_begin` takes each mixed word by `murmur_take`, and ends by `murmur_end`.

cdef inline uint64_t murmur_multiplier() noexcept nogil:
    return 0xC6A4A7935BD1E995ULL


cdef inline uint64_t murmur_begin(size_t n_words, uint64_t seed) noexcept nogil:
    return seed ^ (<uint64_t> (n_words * BYTES_OF_WORD) * murmur_multiplier())


cdef inline uint64_t murmur_mix(uint64_t word) noexcept nogil:
    """A word as `murmur_take` wants it; 0 for 0, and for nothing else."""
    word *= murmur_multiplier()
    word ^= word >> 47
    return word * murmur_multiplier()


cdef inline uint64_t murmur_take(uint64_t state, uint64_t mixed) noexcept nogil:
    return (state ^ mixed) * murmur_multiplier()


cdef inline uint64_t murmur_end(uint64_t state) noexcept nogil:
    state ^= state >> 47
    state *= murmur_multiplier()
    return state ^ (state >> 47)


cdef inline uint64_t murmur_hash_64a(const void* data, size_t length, uint64_t seed) noexcept nogil:
    """The hash of `length` bytes. Words are read in the byte order of the machine."""
    cdef const uint8_t* byte = <const uint8_t*> data
    cdef const uint8_t* last = byte + (length - (length & 7))
    cdef uint64_t state = seed ^ (<uint64_t> length * murmur_multiplier())
    cdef uint64_t word
    cdef size_t i
    while byte != last:
        memcpy(&word, byte, BYTES_OF_WORD)
        state = murmur_take(state, murmur_mix(word))
        byte += BYTES_OF_WORD
    length &= 7
    if length:
        for i in range(length):
            state ^= <uint64_t> byte[i] << (8 * i)
        state *= murmur_multiplier()
    return murmur_end(state)
