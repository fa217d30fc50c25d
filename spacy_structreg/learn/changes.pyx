"""The difference of two feature vectors, ΔΦ: which weights an update would change, and how much."""

from libc.stdint cimport int32_t
from libc.stdlib cimport free, qsort

from spacy_structreg.learn.memory cimport reserve


cdef int compare(const void* first, const void* second) noexcept nogil:
    cdef const Change* a = <const Change*> first
    cdef const Change* b = <const Change*> second
    if a.table != b.table:
        return -1 if a.table < b.table else 1
    if a.row != b.row:
        return -1 if a.row < b.row else 1
    if a.column != b.column:
        return -1 if a.column < b.column else 1
    return 0


cdef class Changes:
    """A list of changes to weights, each named by table, row and column.

    It keeps its memory, so that a kernel fills it anew for every update without allocating.
    """

    def __dealloc__(self):
        free(self.items)

    def __len__(self):
        return self.n

    def __reduce__(self):
        # Between updates there is nothing in it.
        return Changes, ()

    cdef int add(self, int32_t table, int32_t row, int32_t column, double value) except -1 nogil:
        """Append one change."""
        reserve(<void**> &self.items, &self._capacity, self.n + 1, sizeof(Change))
        self.items[self.n] = Change(table, row, column, value)
        self.n += 1
        return 0

    cdef double merge(self) noexcept nogil:
        """Add up the changes of each weight, drop those that come to nothing.

        Returns the square of the norm, ‖ΔΦ‖².
        """
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t i
        cdef double squared = 0.0
        qsort(self.items, self.n, sizeof(Change), compare)
        for i in range(self.n):
            if kept > 0 and compare(&self.items[kept - 1], &self.items[i]) == 0:
                self.items[kept - 1].value += self.items[i].value
                continue
            if kept > 0 and self.items[kept - 1].value == 0.0:
                kept -= 1
            self.items[kept] = self.items[i]
            kept += 1
        if kept > 0 and self.items[kept - 1].value == 0.0:
            kept -= 1
        self.n = kept
        for i in range(kept):
            squared += self.items[i].value * self.items[i].value
        return squared
