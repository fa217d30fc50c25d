from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t

from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.tasks.tagged_words cimport TaggedWordTransitions, TreeDecoder

cdef enum:
    # The category of a word; temporary phrases follow on all labels.
    WORD = -1
    N_SEPARATORS = 4


ctypedef struct Node:
    # A word or a phrase on the stack.
    int32_t below            # the node below; -1 if there is none
    int32_t begin            # its first word; it ends where the one above begins
    int32_t head
    int32_t first_head       # of its children, the first and the second; -1 if there is none
    int32_t second_head
    int16_t category         # `WORD`, a label, or n_labels more than that of a temporary phrase
    int16_t first_category
    int16_t second_category
    uint8_t from_right       # whether the head is in the right child
    uint8_t n_unaries        # how many unary phrases lie on one another
    uint8_t n_met            # how many of the constituents that are given over its words it has
    int32_t opening          # the last left bracket that is a node of the stack up to here; -1
    int32_t closing          # and the last right bracket


ctypedef struct ConstituentState:
    int32_t top              # the node on top of the stack; -1 if there is none
    int32_t position         # of the next word of the queue
    int32_t step             # how many actions have been taken
    bint done


ctypedef struct Span:
    # A constituent that is given, or that has been found. label: -1 for any; head: of those found.
    int32_t begin
    int32_t end
    int32_t label
    int32_t head


cdef class ConstituentTransitions(TaggedWordTransitions):
    cdef readonly tuple labels
    cdef readonly int max_unaries
    cdef readonly tuple heads    # pairs of a label and a category; None for any
    cdef uint64_t* _known_tags   # rising hashes
    cdef int32_t _n_tags
    # (n_labels + n_tags + 1, n_labels): of each label, each known tag, and all other tags, of which
    # phrases a child that bears it may be the head.
    cdef uint8_t* _may_head
    cdef uint8_t* _own_heads     # the same for a sentence, with labels that are given
    cdef const uint8_t* _heads_here    # that of the two which holds
    cdef int32_t* _tag_rows      # of each word
    cdef int _n_labels
    cdef dict _number  # of each label
    cdef Node* _nodes
    cdef const Span* _given      # by begin and end, the innermost first
    cdef Py_ssize_t _n_given
    cdef int32_t* _brackets      # of each word: 0, or a kind of brackets, negative for right ones
    cdef int32_t* _matches       # of each left bracket: the right one, or -1
    cdef int32_t* _opened        # left brackets that wait for theirs
    cdef int32_t* _separators    # (n + 1, N_SEPARATORS): how many of each stand before a word
    cdef uint64_t _between[N_SEPARATORS]
    cdef Span* _found            # while a tree is built
    cdef Span* _stack
    cdef int32_t* _n_before      # the row of the next constituent that begins with a word

    cdef Py_ssize_t _n_head_rows(self) noexcept nogil
    cdef int _find_punctuation(self, const uint32_t* text, const int32_t* bounds) except -1 nogil
    cdef Py_ssize_t _n_due(
        self, int32_t begin, int32_t end, Py_ssize_t* first
    ) noexcept nogil
    cdef bint _is_met(self, const Node* node, int32_t end) noexcept nogil
    cdef uint8_t _met_with(
        self, int32_t begin, int32_t end, uint8_t n_met, int32_t label
    ) noexcept nogil
    cdef bint _leaves_way(
        self, int32_t begin, int32_t end, uint8_t n_met, int32_t label, int n_unaries
    ) noexcept nogil
    cdef bint _may_shift(self, const ConstituentState* at) noexcept nogil
    cdef int _set_heads(self) except -1
    cdef int _find_tag_rows(self, const uint64_t* tags) except -1 nogil
    cdef const uint8_t* _headed_by(self, const Node* node, bint any_head) noexcept nogil
    cdef void _allow(
        self, const ConstituentState* at, uint8_t* mask, bint any_head
    ) noexcept nogil
    cdef void _allow_binaries(
        self, const ConstituentState* at, const Node* second, const Node* top, uint8_t* mask,
        bint any_head,
    ) noexcept nogil
    cdef void _allow_labels(
        self, uint8_t* mask, int32_t label, const uint8_t* headed, int32_t begin, int32_t end,
        bint temporary,
    ) noexcept nogil
    cdef void _reduce(
        self, const ConstituentState* state, int action, Node* after
    ) noexcept nogil
    cdef uint64_t _bracket(self, const ConstituentState* at) noexcept nogil
    cdef uint64_t _category(self, int32_t head, int16_t category) noexcept nogil
    cdef int32_t _n_between(self, int32_t left, int32_t right, int separator) noexcept nogil
    cdef Py_ssize_t build(
        self, const int32_t* actions, Py_ssize_t n, Span* found, Span* stack
    ) noexcept nogil


cdef class ConstituentDecoder(TreeDecoder):
    pass
