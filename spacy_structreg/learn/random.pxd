"""Random numbers inside kernels: SplitMix64 (Steele, Lea & Flood 2014), one word of state."""

from libc.stdint cimport uint64_t


cdef inline uint64_t next_word(uint64_t* state) noexcept nogil:
    """The next 64 random bits."""
    cdef uint64_t word
    state[0] += <uint64_t> 0x9E3779B97F4A7C15ULL
    word = state[0]
    word = (word ^ (word >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9ULL
    word = (word ^ (word >> 27)) * <uint64_t> 0x94D049BB133111EBULL
    return word ^ (word >> 31)


cdef inline double next_unit(uint64_t* state) noexcept nogil:
    """A random number from 0 up to, but not including, 1."""
    return <double> (next_word(state) >> 11) * (1.0 / 9007199254740992.0)
