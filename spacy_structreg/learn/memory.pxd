"""Buffers that grow."""

from libc.stdlib cimport realloc


cdef inline int reserve(
    void** buffer, Py_ssize_t* capacity, Py_ssize_t needed, size_t item_size
) except -1 nogil:
    """Make room for `needed` items; grows by half at least, keeps the contents, never shrinks."""
    cdef Py_ssize_t grown
    cdef void* moved
    if needed <= capacity[0]:
        return 0
    grown = capacity[0] + capacity[0] // 2 + 16
    if grown < needed:
        grown = needed
    moved = realloc(buffer[0], <size_t> grown * item_size)
    if moved == NULL:
        with gil:
            raise MemoryError(f"no memory for {grown} items of {item_size} bytes")
    buffer[0] = moved
    capacity[0] = grown
    return 0
