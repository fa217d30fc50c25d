cimport cython
from libc.stdint cimport int32_t, uint8_t, uint64_t

from spacy_structreg.search.scorer cimport StateScorer
from spacy_structreg.search.transition_system cimport TransitionSystem


ctypedef struct Candidate:
    double rank
    double score
    int32_t parent
    int32_t action
    int32_t following  # in the list of its slot


ctypedef struct Ranked:
    double rank
    int32_t place  # of the candidate


ctypedef struct Item:
    double score
    int32_t parent
    int32_t action
    int32_t step
    bint is_gold


@cython.final
cdef class Agenda:
    cdef readonly StateScorer scorer
    cdef readonly TransitionSystem system
    cdef readonly Py_ssize_t width
    cdef readonly bint merge
    cdef Item* items
    cdef readonly Py_ssize_t n_items
    cdef Py_ssize_t _item_capacity
    cdef char* _states
    cdef Py_ssize_t _state_capacity
    cdef Candidate* _candidates
    cdef Py_ssize_t _n_candidates
    cdef Py_ssize_t _candidate_capacity
    cdef int32_t _free_candidate
    cdef int32_t* _heads
    cdef Py_ssize_t _head_capacity
    cdef Ranked* _ranked
    cdef Py_ssize_t _ranked_capacity
    cdef uint64_t* _signatures
    cdef Py_ssize_t _signature_capacity
    cdef uint8_t* _mask
    cdef double* _scores
    # The ranks of the best candidates of the slot that candidates went to last, the least first.
    cdef Py_ssize_t _keep
    cdef Py_ssize_t _bounded_slot
    cdef double* _bounds
    cdef Py_ssize_t _n_bounds
    cdef Py_ssize_t _bound_capacity
    # A training's: the gold actions, and what each other action costs.
    cdef const int32_t* gold
    cdef Py_ssize_t n_gold
    cdef double cost

    cdef void* state(self, Py_ssize_t item) noexcept nogil
    cdef int begin(self) except -1 nogil
    cdef Py_ssize_t open(self, Py_ssize_t slot, Py_ssize_t width) except -1 nogil
    cdef int expand(self, Py_ssize_t first, Py_ssize_t count) except -1 nogil
    cdef Py_ssize_t search(self, Py_ssize_t n_best, Py_ssize_t* n_found) except -1 nogil
    cdef int _propose(
        self, Py_ssize_t item, const uint8_t* mask, const double* scores
    ) except -1 nogil
    cdef void _add_bound(self, double rank, Py_ssize_t slot) noexcept nogil
    cdef void _raise_bound(self, double rank) noexcept nogil
    cdef Py_ssize_t _gather(self, Py_ssize_t slot) except -1 nogil
    cdef bint _is_better(self, const Ranked* one, const Ranked* other) noexcept nogil
    cdef void _sort(self, Py_ssize_t n, Py_ssize_t most) noexcept nogil
    cdef void _sift_down(self, Py_ssize_t n, Py_ssize_t place) noexcept nogil
    cdef bint _is_new(self, uint64_t signature, Py_ssize_t room) noexcept nogil
