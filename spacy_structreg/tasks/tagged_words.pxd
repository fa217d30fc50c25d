from libc.stdint cimport int32_t, uint32_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.transition_system cimport TransitionSystem
from spacy_structreg.tasks.derivations cimport Derivation
from spacy_structreg.tasks.word_fields cimport N_FIELDS, WordFields

cdef enum:
    MAX_NODES = 64
    MAX_NUMBERS = 64
    TAG = N_FIELDS
    N_FIELDS_OF_WORD = N_FIELDS + 1
    # Rows of fields: of a node that is not there, of one beyond the sentence, and of the words.
    NO_NODE = 0
    PADDING = 1
    FIRST_WORD = 2
    # The fields beyond the ends of the sentence, and of a node that is not there.
    BEYOND = 1
    NOWHERE = 2


cdef inline int32_t row_of(int32_t word) noexcept nogil:
    """The row of fields of a word; -1 is none."""
    return word + FIRST_WORD if word >= 0 else NO_NODE


cdef inline uint64_t number_of(int value) noexcept nogil:
    """A number from 0 on as an atom; null for -1."""
    return <uint64_t> (value + 1)


cdef class TaggedWordTransitions(TransitionSystem):
    cdef readonly WordFields words
    cdef int* _sources         # of each atom: its node; MAX_NODES and more for numbers
    cdef int* _fields_read     # of each atom: the field of its node
    cdef uint64_t _wanted_fields
    cdef bint _reads_many      # whether an atom has many values
    cdef Py_ssize_t _n
    cdef uint64_t* _fields     # (FIRST_WORD + n, N_FIELDS_OF_WORD)
    cdef Py_ssize_t _n_nodes   # of a subclass with a stack: how many of its nodes are taken
    cdef object _kept

    cdef int declare(self, names, dict nodes, dict numbers, tuple many) except -1
    cdef int load(
        self, const uint32_t* text, const int32_t* bounds, const uint64_t* tags, Py_ssize_t n
    ) except -1 nogil
    cdef int unload(self) except -1 nogil
    cdef int32_t[::1] constraints_of(self, given, Py_ssize_t n_words)
    cdef object built_tree(
        self, const int32_t* actions, Py_ssize_t n_actions, Py_ssize_t n_words
    )
    cdef object tree_array(
        self, const int32_t* actions, Py_ssize_t n_actions, Py_ssize_t n_words
    )
    cdef Derivation derivation_of(self, words, tags, list actions, object numbering)

    # What a transition system says of its states.
    cdef void find_nodes(self, const void* state, int32_t* rows) noexcept nogil
    cdef void find_numbers(self, const void* state, uint64_t* numbers) noexcept nogil


cdef class TaggedWordBuffer(BufferOwner):
    cdef uint32_t* text
    cdef int32_t* bounds
    cdef uint64_t* tags
    cdef dict _hashes

    cdef Py_ssize_t fill(self, WordFields words, list sentences) except -1
    cdef uint64_t _hash(self, str tag) except? 0


ctypedef struct SentencePart:
    Py_ssize_t n_words
    const int32_t* known     # constraints of its tree; NULL for none
    Py_ssize_t n_actions     # -1 if no tree is consistent with them


cdef class TreeDecoder(BufferOwner):
    cdef readonly Agenda agenda
    cdef readonly TaggedWordTransitions system
    cdef TaggedWordBuffer _sentences
    cdef SentencePart* _parts
    cdef int32_t* _actions

    cdef Py_ssize_t _decode(self, Py_ssize_t first) except -2 nogil
