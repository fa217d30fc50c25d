from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner

cdef enum:
    # What constrains a character.
    FREE = 0
    BEGINS_WORD = 1
    CONTINUES_WORD = 2

cdef enum:
    ANY_TAG = -1
    OTHER_TAGS = -2    # all but those of the words that begin there
    NO_DEADLINE = 0x7FFFFFFF
    # What listed words say of a word of a sentence.
    IS_LISTED = 1
    GOES_ON = 2        # it is the beginning of a longer one
    GETS_ITS_TAG = 4   # it is listed with its tag


ctypedef struct ListedWords:
    # The places of listed words in the sentence at hand: those of words that begin at character i
    # are first[i] to first[i + 1].
    int32_t* first
    int32_t* ends
    int32_t* tags       # that they must have, or ANY_TAG
    # (n + 1,): if a chosen word ends at i and the next one begins behind deadlines[i], there is
    # room between them for another; NO_DEADLINE if none begins at i or later.
    int32_t* deadlines


ctypedef struct BonusWords:
    # The places of words with a bonus in the sentence at hand, laid out as those of listed words.
    int32_t* first
    int32_t* ends
    int32_t* tags
    double* scores


cdef inline int listed_as(
    const ListedWords* words, Py_ssize_t start, Py_ssize_t end, int32_t tag
) noexcept nogil:
    """Tell what listed words of a tag say of a word from `start` to `end`."""
    cdef int found = 0
    cdef int32_t w
    for w in range(words.first[start], words.first[start + 1]):
        if words.tags[w] != ANY_TAG and words.tags[w] != tag:
            continue
        if words.ends[w] == end:
            found |= IS_LISTED if words.tags[w] == ANY_TAG else IS_LISTED | GETS_ITS_TAG
        elif words.ends[w] > end:
            found |= GOES_ON
    return found


cdef inline bint bonus_of(
    const BonusWords* words, Py_ssize_t start, Py_ssize_t end, int32_t tag, double* score
) noexcept nogil:
    """True if there is a bonus for a word from `start` to `end` with a tag, which is `score`."""
    cdef bint found = False
    cdef int32_t w
    score[0] = 0.0
    for w in range(words.first[start], words.first[start + 1]):
        if words.ends[w] == end and (words.tags[w] == ANY_TAG or words.tags[w] == tag):
            score[0] += words.scores[w]
            found = True
    return found


cdef inline bint bonus_beyond(
    const BonusWords* words, Py_ssize_t start, Py_ssize_t end, int32_t tag, int32_t last
) noexcept nogil:
    """True if there is a bonus for a word from `start`, with a tag, that goes on at `end`.

    It must end at `last` or before.
    """
    cdef int32_t w
    for w in range(words.first[start], words.first[start + 1]):
        if end < words.ends[w] <= last and (words.tags[w] == ANY_TAG or words.tags[w] == tag):
            return True
    return False


cdef class TextDecoder(BufferOwner):
    cdef readonly tuple tags
    # The sentence at hand, without white space.
    cdef uint32_t* characters
    cdef uint8_t* constraints
    cdef bint is_constrained
    cdef const ListedWords* listed   # NULL if it has none
    cdef const BonusWords* bonuses   # NULL if it has none
    # Its solution.
    cdef uint8_t* begins
    cdef int32_t* word_tags
    cdef object _property_table    # whose memory the pointer borrows
    cdef const uint8_t* _properties
    cdef uint32_t* _text
    cdef uint8_t* _marks
    cdef int32_t* _marked_tags
    cdef Py_ssize_t* _limits
    # The places of all listed words: start, end and tag, and how many of them are passed.
    cdef const int64_t[:, ::1] _places
    cdef Py_ssize_t _n_passed
    cdef ListedWords _listed_words
    # The same of words with a bonus, and the boundaries of each character, or nothing.
    cdef const int64_t[:, ::1] _bonus_places
    cdef const double[::1] _bonus_scores
    cdef Py_ssize_t _n_bonuses_passed
    cdef BonusWords _bonus_words
    cdef const uint8_t[::1] _boundaries
    cdef int32_t* _kept_before
    # Short words that texts had, by the hashes of their keys, and these keys.
    cdef list _known_words
    cdef uint64_t* _known_keys

    cdef bint is_space(self, Py_ssize_t place) noexcept nogil
    cdef int solve(self, Py_ssize_t n) except -1 nogil
    cdef Py_ssize_t find_best(self, Py_ssize_t n, Py_ssize_t k) except -1 nogil
    cdef double take_best(self, Py_ssize_t rank, Py_ssize_t n) except? -1 nogil
    cdef int _make_room(self, Py_ssize_t n) except -1 nogil
    cdef int _load(self, list texts) except -1
    cdef int _take_constraints(self, list texts, list constraints) except -1
    cdef Py_ssize_t _squeeze(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t at) noexcept nogil
    cdef Py_ssize_t _last_place(
        self, const int64_t[:, ::1] places, Py_ssize_t low, Py_ssize_t end
    ) except -1 nogil
    cdef int _find_listed(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t kept) except -1 nogil
    cdef int _find_bonuses(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t kept) except -1 nogil
    cdef double _bonus_of_solution(self, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t _open(self, Py_ssize_t first, Py_ssize_t n) except -1 nogil
    cdef Py_ssize_t _open_text(self, str text, constraints) except -1
    cdef void _mark(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t kept) noexcept nogil
    cdef int _decode(self, Py_ssize_t first, Py_ssize_t n) except -1 nogil
    cdef int _decode_sentences(self, Py_ssize_t n_sentences) except -1 nogil
    cdef Py_ssize_t _take_limits(self, list texts, sentences) except -1
    cdef int _decode_all(self, list texts, sentences, list constraints) except -1
    cdef tuple _marked_spans(self, list texts, int32_t[::1] numbers)
    cdef list _words(self, str text, Py_ssize_t base)
    cdef str _known_word(
        self, str text, const uint16_t* characters, Py_ssize_t begin, Py_ssize_t end
    )
    cdef list _tagged_words(self, str text, Py_ssize_t base)
