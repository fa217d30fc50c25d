"""The difference of two feature vectors, ΔΦ: which weights an update would change, and how much."""

from libc.stdint cimport int32_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner, reserve, reserve_zeros


cdef class Changes(BufferOwner):
    """A list of changes to weights, each named by table, row and column.

    It keeps its memory, so that a kernel fills it anew for every update without allocating.
    """

    def __len__(self):
        return self.n

    def __reduce__(self):
        # Between updates there is nothing in it.
        return Changes, ()

    cdef int add(self, int32_t table, int32_t row, int32_t column, double value) except -1 nogil:
        """Append one change."""
        reserve(&self.buffers, self.items, self.n + 1)
        self.items[self.n] = Change(table, row, column, value)
        self.n += 1
        return 0

    cdef double merge(self) except? -1 nogil:
        """Add up the changes of each weight, drop those that come to nothing.

        Returns the square of the norm, ‖ΔΦ‖². The order in which weights came first is kept.
        """
        cdef Py_ssize_t size = 16
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t i
        cdef Change* item
        cdef Change* other
        cdef uint64_t slot
        cdef double squared = 0.0
        while size < 2 * self.n:
            size *= 2
        # Slots hold numbers of items, counted from 1.
        reserve_zeros(&self.buffers, self._slots, size)
        for i in range(self.n):
            item = &self.items[i]
            slot = (
                (<uint64_t> item.row << 24) ^ (<uint64_t> item.table << 16) ^ <uint64_t> item.column
            ) * <uint64_t> 0x9E3779B97F4A7C15ULL >> 32
            while True:
                slot &= <uint64_t> size - 1
                if self._slots[slot] == 0:
                    self._slots[slot] = <int32_t> (kept + 1)
                    self.items[kept] = item[0]
                    kept += 1
                    break
                other = &self.items[self._slots[slot] - 1]
                if (
                    other.row == item.row
                    and other.column == item.column
                    and other.table == item.table
                ):
                    other.value += item.value
                    break
                slot += 1
        self.n = 0
        for i in range(kept):
            if self.items[i].value != 0.0:
                self.items[self.n] = self.items[i]
                self.n += 1
                squared += self.items[i].value * self.items[i].value
        return squared
