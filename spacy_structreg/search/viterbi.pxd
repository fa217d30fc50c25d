from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t


cdef class LabelGraph:
    # What may follow what: the legal predecessors of label y are
    # predecessors[first_predecessor[y] : first_predecessor[y + 1]], rising.
    cdef readonly Py_ssize_t n_labels
    cdef readonly object legal
    cdef readonly object starts
    cdef readonly object ends
    cdef int32_t* first_predecessor
    cdef int32_t* predecessors
    cdef uint8_t* may_start
    cdef uint8_t* may_end


cdef class Viterbi:
    cdef readonly LabelGraph graph
    cdef double* _prefix
    cdef double* _next
    cdef uint16_t* _back
    cdef Py_ssize_t _capacity
    cdef bint open_start
    cdef bint open_end

    cdef int reserve_positions(self, Py_ssize_t n) except -1 nogil
    cdef void advance(
        self, const double* emissions, const double* transitions, const uint8_t* mask,
        Py_ssize_t first, Py_ssize_t count,
    ) noexcept nogil
    cdef double finish(self, Py_ssize_t n, uint16_t* path) noexcept nogil


cdef class NBestViterbi:
    cdef readonly LabelGraph graph
    cdef double* _prefix
    cdef uint32_t* _back
    cdef Py_ssize_t _prefix_capacity
    cdef Py_ssize_t _back_capacity
    cdef bint open_start
    cdef bint open_end

    cdef int solve(
        self, const double* emissions, const double* transitions, const uint8_t* mask,
        Py_ssize_t n, Py_ssize_t k,
    ) except -1 nogil
    cdef double path(
        self, Py_ssize_t n, Py_ssize_t k, Py_ssize_t rank, uint16_t* path
    ) noexcept nogil
