from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.search.agenda cimport Agenda
from spacy_structreg.search.transition_system cimport TransitionSystem
from spacy_structreg.tasks.segmentation.characters cimport CharacterAtoms
from spacy_structreg.tasks.joint.tag_records cimport GrowingRecords, TagRecords
from spacy_structreg.tasks.knowledge.lexicon_source cimport LexiconSource
from spacy_structreg.tasks.segmentation.text cimport BonusWords, ListedWords, TextDecoder

cdef enum:
    # How far atoms look beyond the ends of a sentence.
    REACH = 2

cdef enum:
    # Actions.
    APPEND = 0
    START = 1  # the first of as many as there are tags

cdef enum:
    # The labels of a guide, in the order of GuideView.labels.
    B
    M
    E
    S

cdef enum:
    # Where a word would begin that there is not: before the sentence, or beyond a cut.
    BEFORE_SENTENCE = -1
    BEYOND_CUT = -2


ctypedef struct WordState:
    int32_t position  # characters consumed
    int32_t first0    # where the current word begins
    int32_t first1    # where the word before it begins
    int32_t tag0      # their tags, and that of the word before them
    int32_t tag1
    int32_t tag2
    int32_t deadline  # the last character where the current word may end, if it is not listed
    int32_t must_be   # whether it may end only if it is listed or has a bonus
    int32_t is_final


ctypedef struct GuideView:
    # What a chain model says of the sentence; NULL where it is not to be asked.
    Py_ssize_t n_labels
    const double* emissions    # (n, n_labels)
    const double* transitions  # (n_labels, n_labels)
    # The best completion from a label on, with itself; -inf for labels that are not allowed.
    const double* heuristic    # (n, n_labels)
    const uint8_t* allowed     # (n, n_labels)
    # Of the labels that are allowed: whether a word of each tag may begin there, and the action to
    # all of them, if that is one.
    const uint8_t* begins      # (n, n_tags)
    const int32_t* sure        # (n,): or -1
    const int32_t* labels      # (n_tags, 4): the labels B, M, E, S of each tag
    double weight


cdef class WordTransitions(TransitionSystem):
    cdef readonly CharacterAtoms characters
    cdef readonly int n_tags
    cdef readonly bint by_words
    cdef readonly Py_ssize_t max_word_length
    cdef readonly TagRecords records
    cdef GrowingRecords _growing  # the same, if they grow in training
    cdef readonly bint prune
    cdef readonly bint joins_runs
    cdef LexiconSource _lexicon
    cdef int32_t* _numbers        # of the characters, in the records
    cdef uint64_t* _categories
    cdef Py_ssize_t _n
    cdef Py_ssize_t _begin
    cdef Py_ssize_t _end
    cdef Py_ssize_t _n_streams
    cdef uint64_t* _symbols
    cdef uint64_t* _types
    cdef uint32_t* _characters
    cdef int32_t* _hidden
    cdef bint _any_hidden
    cdef uint64_t* _inner
    cdef const uint8_t* _constraints
    cdef uint8_t* _run_constraints  # of a part of a training sentence, if runs are joined
    cdef bint _has_runs
    cdef object _run_table  # whose memory the pointer borrows
    cdef const uint8_t* _runs
    cdef const int32_t* _known_tags  # of words that begin at a character, or ANY_TAG; NULL for none
    cdef const ListedWords* _listed
    cdef const BonusWords* _bonuses
    cdef object _kept
    cdef GuideView guide

    cdef int load(
        self, const uint32_t* text, Py_ssize_t n, const uint8_t* constraints
    ) except -1 nogil
    cdef int unload(self) except -1 nogil
    cdef bint _is_one_run(self, const uint32_t* pair) noexcept nogil
    cdef int _fill(
        self, const uint32_t* text, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last
    ) except -1 nogil
    cdef void _follow_list(self, const WordState* at, uint8_t* mask) noexcept nogil
    cdef void _keep_window(self, const WordState* at, uint8_t* mask) noexcept nogil
    cdef bint _window_goes_on(self, const WordState* at) noexcept nogil
    cdef bint _is_listed(self, const WordState* at) noexcept nogil
    cdef bint _may_append(self, const WordState* at) noexcept nogil
    cdef bint _has_bonus(self, const WordState* at) noexcept nogil
    cdef int32_t _next_deadline(
        self, const WordState* at, int action, int32_t* must_be
    ) noexcept nogil
    cdef bint _begins_bonus(self, Py_ssize_t i, int tag, int32_t last) noexcept nogil
    cdef bint _may_be_word(self, const WordState* at) noexcept nogil
    cdef void _prune_starts(self, Py_ssize_t i, uint8_t* mask) noexcept nogil
    cdef uint64_t _category(self, Py_ssize_t i) noexcept nogil
    cdef void _look_up(
        self, Py_ssize_t first, Py_ssize_t last, uint64_t* listed, uint64_t* tags
    ) noexcept nogil
    cdef uint64_t _word(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef uint64_t _character(self, const uint64_t* symbols, Py_ssize_t i) noexcept nogil
    cdef int32_t _settled(self, const WordState* state, bint appends) noexcept nogil


cdef class WordGuide(BufferOwner):
    cdef readonly bint adds_scores
    cdef readonly bint looks_ahead

    cdef int consult(
        self, const uint32_t* characters, Py_ssize_t n, const uint8_t* constraints,
        const ListedWords* listed, const BonusWords* bonuses, bint narrowly, GuideView* view,
    ) except -1 nogil


cdef class WordDecoder(TextDecoder):
    cdef readonly Agenda agenda
    cdef readonly WordTransitions system
    cdef readonly WordGuide guide

    cdef int _present_sentence(self, Py_ssize_t n) except -1 nogil
    cdef int _consult(self, Py_ssize_t n, bint narrowly) except -1 nogil
    cdef Py_ssize_t _first_found   # the item of the best of several analyses
    cdef Py_ssize_t _search(
        self, Py_ssize_t n, Py_ssize_t n_best, Py_ssize_t* n_found
    ) except -1 nogil
    cdef double _take(self, Py_ssize_t item) except? -1 nogil
