from libc.stdint cimport int16_t, int32_t, uint8_t, uint64_t

from spacy_structreg.tasks.dependencies.arcs cimport DependencyTransitions


ctypedef struct Children:
    # Those on one side of a word, as far as they have been found.
    uint64_t labels       # the set of their labels, as bits
    int32_t outer         # the outermost, -1 if there is none, and the one next to it
    int32_t inner
    int16_t outer_label
    int16_t inner_label
    int32_t count


ctypedef struct StackWord:
    int32_t word          # -1 if there is none
    int32_t label         # -1 as long as it has no head
    Children left
    Children right


ctypedef struct StackNode:
    # A word of the stack that others cover, and what lies below it.
    StackWord top
    int32_t below
    uint64_t signature


ctypedef struct EagerState:
    StackWord top
    Children left         # of the next word of the queue
    uint64_t signature    # of the stack below its top
    int32_t step          # how many actions have been taken
    int32_t position      # of the next word of the queue
    int32_t below         # the node below the top; -1 if there is none
    int32_t n_headless    # how many words of the stack have no head
    int32_t has_reduced   # whether the last action was REDUCE


cdef class ArcEager(DependencyTransitions):
    cdef StackNode* _nodes

    cdef bint _may_go_left(self, const StackWord* top, int32_t head) noexcept nogil
    cdef bint _may_go_right(
        self, int32_t head, int32_t next_word, int32_t n_headless
    ) noexcept nogil
    cdef bint _is_last(self, int32_t next_word) noexcept nogil
    cdef bint _may_reduce(self, const EagerState* state) noexcept nogil
    cdef void _lead(
        self, const EagerState* state, int action, EagerState* after, bint keep
    ) noexcept nogil
    cdef void _push(
        self, const EagerState* state, int label, EagerState* after, bint keep
    ) noexcept nogil
    cdef const StackWord* _covered(self, int32_t node) noexcept nogil
