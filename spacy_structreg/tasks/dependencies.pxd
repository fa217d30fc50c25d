from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.transition_system cimport NULL_ATOM, TransitionSystem
from spacy_structreg.tasks.tagging cimport WordAtoms

cdef enum:
    MAX_NODES = 32
    MAX_NUMBERS = 32
    # Rows of fields: of a node that is not there, of one beyond the sentence, and of the words.
    NO_NODE = 0
    PADDING = 1
    FIRST_WORD = 2
    # Given heads that are none.
    ROOT = -1
    UNKNOWN = -2


cdef inline uint64_t mixed(uint64_t state, uint64_t value) noexcept nogil:
    """A hash with another value in it."""
    state = (state ^ value) * <uint64_t> 0x9E3779B97F4A7C15ULL
    return state ^ (state >> 29)


cdef inline int32_t row_of(int32_t word) noexcept nogil:
    """The row of fields of a word; -1 is none."""
    return word + FIRST_WORD if word >= 0 else NO_NODE


cdef inline uint64_t number_of(int value) noexcept nogil:
    """A number from 0 on as an atom; null for -1."""
    return <uint64_t> (value + 1)


cdef inline uint64_t distance(int32_t left, int32_t right) noexcept nogil:
    """How far one word is from another, 6 to 10 and more alike; null if one is not there."""
    if left < 0 or right < 0:
        return NULL_ATOM
    if right - left > 10:
        return 7
    return <uint64_t> min(right - left, 6)


cdef class DependencyTransitions(TransitionSystem):
    cdef readonly WordAtoms words
    cdef readonly int n_labels
    cdef int* _sources         # of each atom: its node; MAX_NODES and more for numbers
    cdef int* _fields_read     # of each atom: the field of its node
    cdef uint64_t _wanted_fields
    cdef bint _reads_between
    cdef Py_ssize_t _n
    cdef uint64_t* _fields     # (FIRST_WORD + n, N_FIELDS_OF_WORD)
    cdef Py_ssize_t _field_capacity
    cdef const int32_t* _heads   # given heads, or NULL
    cdef const int32_t* _labels  # given labels, or NULL
    cdef uint64_t* _tags         # which there are in the sentence
    cdef Py_ssize_t _tag_capacity
    cdef int32_t* _next          # (n + 1, n_tags): where each of them stands next
    cdef Py_ssize_t _next_capacity
    cdef Py_ssize_t _n_tags
    cdef uint64_t* _between
    cdef Py_ssize_t _between_capacity
    cdef object _kept

    cdef int describe(self, WordAtoms words, int n_labels, events, known) except -1
    cdef int declare(self, names, dict nodes, dict numbers, tuple many) except -1
    cdef int load(
        self, const uint32_t* text, const int32_t* bounds, const uint64_t* tags, Py_ssize_t n,
        const int32_t* heads, const int32_t* labels,
    ) except -1 nogil
    cdef void allow_labels(self, uint8_t* mask, int32_t child) noexcept nogil
    cdef int _index_tags(self, const uint64_t* tags, Py_ssize_t n) except -1 nogil
    cdef Py_ssize_t tags_between(
        self, Py_ssize_t left, Py_ssize_t right, const uint64_t** values
    ) noexcept nogil

    # What a transition system says of its states.
    cdef void find_nodes(self, const void* state, int32_t* rows) noexcept nogil
    cdef void find_numbers(self, const void* state, uint64_t* numbers) noexcept nogil
    cdef Py_ssize_t n_steps(self) noexcept nogil
    cdef void build(
        self, const int32_t* actions, Py_ssize_t n, int32_t* heads, int32_t* labels
    ) noexcept nogil


cdef class ParseDecoder:
    cdef readonly Agenda agenda
    cdef readonly DependencyTransitions system
    cdef readonly tuple labels
    cdef readonly str root_label
    cdef uint32_t* _text
    cdef Py_ssize_t _text_capacity
    cdef int32_t* _bounds
    cdef Py_ssize_t _bound_capacity
    cdef uint64_t* _tags
    cdef Py_ssize_t _tag_capacity
    cdef int32_t* _heads
    cdef Py_ssize_t _head_capacity
    cdef int32_t* _labels
    cdef Py_ssize_t _label_capacity
    cdef int32_t* _actions
    cdef Py_ssize_t _action_capacity
    cdef dict _hashes

    cdef Py_ssize_t _load(self, list sentences) except -1
    cdef uint64_t _hash(self, str tag) except? 0
    cdef int _decode(self, Py_ssize_t first, Py_ssize_t n) except -1 nogil
