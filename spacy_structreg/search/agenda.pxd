cimport cython
from libc.stdint cimport int32_t, uint8_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.search.scorer cimport StateScorer
from spacy_structreg.search.transition_system cimport TransitionSystem


ctypedef struct Candidate:
    double rank
    double score
    double inside
    int32_t parent
    int32_t below
    int32_t action
    int32_t following  # in the list of its slot


ctypedef struct Ranked:
    double rank
    int32_t place  # of the candidate


ctypedef struct Bound:
    double rank
    uint64_t signature  # if states are merged


ctypedef struct Bounded:
    Py_ssize_t slot
    Py_ssize_t n  # of its bounds
    double least  # candidates of lower rank need not be kept


ctypedef struct Item:
    double score
    int32_t parent
    int32_t action
    int32_t step
    bint is_gold
    # Of tasks with a stack, when merging:
    double inside    # the score of the actions since the top was put there,
    bint inside_is_gold  # and whether they are gold
    int32_t below    # if its action took what lay below, the item that was there; else -1
    int32_t origin   # the item in which the top was put there,
    int32_t link     # and of that, the items that it was put on: a list


ctypedef struct Link:
    double score        # of the action
    int32_t item
    int32_t following   # -1 for the last


@cython.final
cdef class Agenda(BufferOwner):
    cdef readonly StateScorer scorer
    cdef readonly TransitionSystem system
    cdef readonly Py_ssize_t width
    cdef readonly bint merge
    cdef readonly double margin
    cdef double _margin                 # of the search at hand
    cdef bint _is_plain                 # whether it has one score, and slots are steps
    cdef bint _ranks_apart              # whether slots have a ranking action
    cdef bint ranks_only                # scores are not asked for: they may lack what all share
    cdef bint _is_relative              # they do, in the search at hand
    cdef Item* items
    cdef readonly Py_ssize_t n_items
    cdef Py_ssize_t _last_slot
    cdef char* _states
    cdef Candidate* _candidates
    cdef Py_ssize_t _n_candidates
    cdef int32_t _free_candidate
    cdef int32_t* _heads
    cdef Ranked* _ranked
    cdef uint64_t* _signatures
    cdef int32_t* _signed               # the items of the signatures
    cdef bint _packs                    # whether states are merged that lie on different ones
    cdef Link* _links
    cdef Py_ssize_t _n_links
    cdef int32_t* _pending              # what is still to be traced
    cdef uint8_t* mask
    cdef double* scores
    # The ranks of the best candidates of the slots that candidates went to last, the least first.
    cdef Py_ssize_t _keep
    cdef Bound* _bounds        # (_n_bounded, _keep)
    cdef Bounded* _bounded
    cdef Py_ssize_t _n_bounded
    # A training's: the gold actions, and what each other action costs.
    cdef const int32_t* gold
    cdef Py_ssize_t n_gold
    cdef double cost
    # The partial annotation of a sentence (`TransitionSystem.constrain`): actions that agree with
    # it count as gold.
    cdef const void* known
    cdef uint8_t* _right        # the actions that do, after the item at hand
    cdef Py_ssize_t _right_after

    cdef void* state(self, Py_ssize_t item) noexcept nogil
    cdef int begin(self) except -1 nogil
    cdef Py_ssize_t open(self, Py_ssize_t slot, Py_ssize_t width) except -1 nogil
    cdef int expand(self, Py_ssize_t first, Py_ssize_t count) except -1 nogil
    cdef int _expand_masked(self, Py_ssize_t first, Py_ssize_t n) except -1 nogil
    cdef bint _goes_on_alone(self, Py_ssize_t item) except -1 nogil
    cdef bint has_ended(
        self, Py_ssize_t first, Py_ssize_t count, Py_ssize_t n_best
    ) noexcept nogil
    cdef Py_ssize_t search(self, Py_ssize_t n_best, Py_ssize_t* n_found) except -1 nogil
    cdef Py_ssize_t _search_greedily(self, Py_ssize_t n_slots) except -1 nogil
    cdef int trace(self, Py_ssize_t item, int32_t* actions) except -1 nogil
    cdef bint _follows_gold(self, Py_ssize_t item, int action) noexcept nogil
    cdef void _keep_best_of_kinds(
        self, Py_ssize_t item, uint8_t* mask, const double* scores
    ) noexcept nogil
    cdef int _propose(
        self, Py_ssize_t item, const uint8_t* mask, const double* scores
    ) except -1 nogil
    cdef int _propose_plainly(
        self, Py_ssize_t item, const uint8_t* mask, const double* scores
    ) except -1 nogil
    cdef int _put(
        self, Py_ssize_t slot, Py_ssize_t item, int action, double score, double rank,
        double inside, Py_ssize_t below,
    ) except -1 nogil
    cdef Py_ssize_t _keep_all(self, Py_ssize_t n) except -1 nogil
    cdef int _add_item(self, const Candidate* candidate) except -1 nogil
    cdef int _add_link(self, Py_ssize_t item, const Candidate* candidate) except -1 nogil
    cdef int _begin_bounds(self, Py_ssize_t keep) except -1 nogil
    cdef Bounded* _bounded_of(self, Py_ssize_t slot) noexcept nogil
    cdef bint _may_stay(
        self, Py_ssize_t slot, double rank, const void* state, int action
    ) noexcept nogil
    cdef Py_ssize_t _gather(self, Py_ssize_t slot) except -1 nogil
    cdef bint _is_better(self, const Ranked* one, const Ranked* other) noexcept nogil
    cdef void _sort(self, Py_ssize_t n, Py_ssize_t most) noexcept nogil
    cdef void _sift_down(self, Py_ssize_t n, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t _find_signature(self, uint64_t signature, Py_ssize_t room) noexcept nogil
