from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.transition_system cimport AtomSet, TransitionSystem
from spacy_structreg.tasks.word_fields cimport TagSets, WordFields

cdef class TagDecoder


ctypedef struct TagState:
    int32_t position  # words tagged
    int32_t tag1      # the tags of the last two words
    int32_t tag2


cdef class TagTransitions(TransitionSystem):
    cdef readonly WordFields words
    cdef readonly int n_tags
    cdef readonly TagDecoder guide
    cdef object _new_guide
    cdef uint32_t* _guide_text
    cdef int32_t* _guide_bounds
    cdef int32_t* _guide_tags     # of the words of the sentence
    cdef readonly TagSets dictionary
    cdef int32_t _others          # of words that have no set of their own; -1 for none
    cdef uint64_t _wanted_fields
    cdef int _n_of_words                  # the first atoms are fields of words,
    cdef AtomSet _atoms_of_words
    cdef Py_ssize_t* _places              # found so far from the fields of the current one
    cdef int* _many_kinds                 # what each atom with many values is
    cdef int _tag1
    cdef int _tag2
    cdef Py_ssize_t _n
    cdef Py_ssize_t _begin
    cdef Py_ssize_t _end
    cdef const uint32_t* _text
    cdef const int32_t* _bounds
    cdef uint64_t* _fields
    cdef const uint8_t** _masks   # the tags that each word may get, NULL if that is not given,
    cdef int32_t* _sets           # and where it is not, its set in the dictionary; -1 for none
    cdef const int32_t* _known    # of each word its tag, or -1; NULL if nothing is given
    cdef int32_t* _soles  # the only tag that a word may get, -1 if there are several
    cdef uint8_t* _hidden
    cdef bint _any_hidden
    cdef uint64_t* _inner
    cdef object _kept

    cdef int load(
        self, const uint32_t* text, const int32_t* bounds, Py_ssize_t n, const uint8_t* allowed
    ) except -1 nogil
    cdef int unload(self) except -1 nogil
    cdef int _fill(
        self, const uint32_t* text, const int32_t* bounds, Py_ssize_t n, Py_ssize_t first,
        Py_ssize_t last, const uint8_t* allowed, const int32_t* guide_tags,
    ) except -1 nogil
    cdef const int32_t* _ask_guide(
        self, const uint32_t* text, const int32_t* bounds, Py_ssize_t n
    ) except? NULL nogil


cdef class TagDecoder(BufferOwner):
    cdef readonly Agenda agenda
    cdef readonly TagTransitions system
    cdef readonly tuple tags
    cdef uint32_t* _text
    cdef int32_t* _bounds
    cdef int32_t* _decided
    cdef uint8_t* _visible   # of each word that was given
    cdef int32_t* _counts    # of the visible words of each sentence
    cdef object _property_table    # whose memory the pointer borrows
    cdef const uint8_t* _properties
    # States at the next positions, of which only the position counts.
    cdef TagState* _ahead
    cdef uint8_t* _ahead_masks

    cdef bint _is_blank(self, const uint32_t* word, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t _load(self, list sentences) except -1
    cdef Py_ssize_t _look_ahead(self, Py_ssize_t position, Py_ssize_t n) except -1 nogil
    cdef int _decode(self, Py_ssize_t n, int32_t* decided) except -1 nogil
    cdef int _decode_greedily(self, Py_ssize_t n, int32_t* decided) except -1 nogil
