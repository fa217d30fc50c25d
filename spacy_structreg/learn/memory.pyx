"""Arrays that grow, and the base of the classes that own some: see `memory.pxd`."""


cdef class BufferOwner:
    """Owner of growing arrays, which are freed with it; for those of one call, a local variable."""

    def __dealloc__(self):
        free_buffers(&self.buffers)

    def __reduce__(self):
        raise TypeError("working memory cannot be pickled; pickle the model instead")
