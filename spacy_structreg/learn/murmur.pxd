from libc.stdint cimport uint64_t


cdef uint64_t murmur_hash_64a(const void* data, size_t length, uint64_t seed) noexcept nogil
