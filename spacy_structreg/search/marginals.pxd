from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.search.viterbi cimport LabelGraph


cdef class SumProduct(BufferOwner):
    cdef readonly LabelGraph graph
    cdef bint open_start
    cdef bint open_end
    cdef double log_partition
    # Filled in by `solve`: of shape (n, n_labels), (n - 1, n_labels, n_labels) if they were asked
    # for, and (n_labels, n_labels), the sum of all of these.
    cdef double* nodes
    cdef double* pairs
    cdef double* totals
    cdef const double* _transitions
    cdef const double* _edges
    cdef double* _factors     # of pairs, by transitions alone; exponentials, 0 where illegal
    cdef double _factor_scale
    cdef double* _heads       # of labels at each position, then with what follows
    cdef double* _forward_sums
    cdef double* _backward_sums
    cdef double* _flow
    cdef double* _column

    cdef void bind(self, const double* transitions) noexcept nogil
    cdef int solve(
        self, const double* emissions, const double* edges, Py_ssize_t n, bint keep_pairs
    ) except -1 nogil
    cdef int reserve_positions(self, Py_ssize_t n, bint by_position) except -1 nogil
    cdef const double* _factors_to(self, Py_ssize_t position) noexcept nogil
    cdef double _exponentiate_edges(self, Py_ssize_t n) noexcept nogil
    cdef bint _by_products(self, const double* emissions, Py_ssize_t n, bint keep) noexcept nogil
    cdef void _by_logarithms(
        self, const double* emissions, Py_ssize_t n, bint keep
    ) noexcept nogil
    cdef double _pair_score(self, Py_ssize_t position, Py_ssize_t x, Py_ssize_t y) noexcept nogil
