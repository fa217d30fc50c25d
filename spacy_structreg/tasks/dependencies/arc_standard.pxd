from libc.stdint cimport int16_t, int32_t, uint8_t, uint64_t

from spacy_structreg.search.transition_system cimport AtomSet
from spacy_structreg.tasks.dependencies.arcs cimport DependencyTransitions

cdef enum:
    # So many words from the top of the stack are seen.
    N_VISIBLE = 3


ctypedef struct Subtree:
    # A word of the stack and its outermost children, -1 for those that are not there.
    int32_t word
    int32_t begin        # of the words below it and itself, the first
    int32_t left
    int32_t right
    int16_t left_label
    int16_t right_label
    # When a tree is held to what is known: the first word that may not be put on the stack before
    # all words below this one have their heads, if they are known to be on the left; 0 for none.
    int32_t end


ctypedef struct StandardNode:
    # A word of the stack that is not seen, and what lies below it.
    Subtree top
    int32_t below


ctypedef struct StandardState:
    Subtree stack[N_VISIBLE]   # from the top; word is -1 for those that are not there
    int32_t position           # of the next word of the queue
    int32_t step               # how many actions have been taken
    int32_t below              # the node below; -1 if there is none


cdef class ArcStandard(DependencyTransitions):
    cdef StandardNode* _nodes
    cdef int _n_atoms
    cdef AtomSet _all_atoms
    cdef uint64_t* _seen       # the atoms of a state whose signature is asked for

    cdef bint _may_get_head(self, int32_t word, int32_t head) noexcept nogil
    cdef void _shift(
        self, const StandardState* state, StandardState* after, bint keep
    ) noexcept nogil
    cdef void _attach(
        self, int action, const Subtree* second, const Subtree* top, Subtree* after
    ) noexcept nogil
    cdef uint64_t _signature_of(self, const StandardState* state) noexcept nogil
