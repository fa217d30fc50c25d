from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.transition_system cimport NULL_ATOM
from spacy_structreg.tasks.tagged_words cimport TaggedWordTransitions, TreeDecoder
from spacy_structreg.tasks.word_fields cimport WordFields

cdef enum:
    # Known heads that are none.
    ROOT = -1
    UNKNOWN = -2
    # So many numbers say what is known of a word.
    KNOWN_PER_WORD = 5


cdef inline uint64_t distance(int32_t left, int32_t right) noexcept nogil:
    """Distance of two words, 6 to 10 and more alike; null if one is not there."""
    if left < 0 or right < 0:
        return NULL_ATOM
    if right - left > 10:
        return 7
    return <uint64_t> min(right - left, 6)


cdef int check_arcs(heads, labels, Py_ssize_t n, int n_labels) except -1


cdef class DependencyTransitions(TaggedWordTransitions):
    cdef readonly int n_labels
    # What is known of the tree; heads are NULL for nothing.
    cdef const int32_t* _heads
    cdef const int32_t* _labels
    cdef const int32_t* _firsts  # of each word, the first that is known to be below it, or itself
    cdef const int32_t* _lasts   # and the last
    # Of each word whose head is on its left, the first word right of it that cannot be below it;
    # n for others.
    cdef const int32_t* _ends
    cdef uint64_t* _tags         # which there are in the sentence
    cdef int32_t* _next          # (n + 1, n_tags): where each of them stands next
    cdef Py_ssize_t _n_tags
    cdef uint64_t* _between

    cdef int describe(self, WordFields words, int n_labels, events, known) except -1
    cdef int load(
        self, const uint32_t* text, const int32_t* bounds, const uint64_t* tags, Py_ssize_t n
    ) except -1 nogil
    cdef void allow_labels(self, uint8_t* mask, int32_t child) noexcept nogil
    cdef int _index_tags(self, const uint64_t* tags, Py_ssize_t n) except -1 nogil
    cdef Py_ssize_t tags_between(
        self, Py_ssize_t left, Py_ssize_t right, const uint64_t** values
    ) noexcept nogil

    # What a transition system says of its states.
    cdef Py_ssize_t n_steps(self) noexcept nogil
    cdef void build(
        self, const int32_t* actions, Py_ssize_t n, int32_t* heads, int32_t* labels
    ) noexcept nogil


cdef class ParseDecoder(TreeDecoder):
    cdef readonly tuple labels
    cdef readonly str root_label
