cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.learn.rows cimport Rows
from spacy_structreg.tasks.knowledge.lexicon cimport Lexicon
from spacy_structreg.tasks.knowledge.word_classes cimport WordClasses

cdef enum:
    # The fields of a word, in the order of `features.word_fields.WORD_FIELDS`.
    WORD
    LOWER
    START
    PREFIX2
    PREFIX3
    PREFIX4
    PREFIX5
    PREFIX6
    END
    SUFFIX2
    SUFFIX3
    SUFFIX4
    SUFFIX5
    SUFFIX6
    LENGTH
    LENGTH4
    ONE
    KINDS
    SHAPE
    PATTERN
    CAPITALS
    DIGITS
    PARTS
    CATEGORY_OF_START
    CATEGORY_OF_END
    TAGS
    LISTED
    # Of its class, `N_CLASS_FIELDS`.
    WORD_CLASS
    WORD_CLASS4
    WORD_CLASS6
    WORD_CLASS10
    WORD_CLASS20
    GUIDE
    N_FIELDS

cdef enum:
    # The field of a word beyond the ends of the sentence, and of a set that is empty.
    NO_WORD = 1
    NO_TAGS = 2
    # Letter n-grams of a word are made of so many characters, and these of at most so many.
    NGRAM_CHARACTERS = 64
    MAX_NGRAMS = 6 * (NGRAM_CHARACTERS + 1)


cdef inline uint64_t mixed(uint64_t state, uint64_t value) noexcept nogil:
    """A hash with another value in it."""
    # By 1 more, because a state of 0 would not tell how many zeros have come.
    state = (state ^ (value + 1)) * <uint64_t> 0x9E3779B97F4A7C15ULL
    return state ^ (state >> 29)


cdef inline uint64_t field_of(uint64_t state) noexcept nogil:
    """Field of a hash, distinct from reserved values."""
    return state if state > NO_TAGS else state + NO_TAGS + 1


cdef uint64_t text_key(str text)
cdef str text_of(const uint32_t* characters, Py_ssize_t n)
cdef Py_ssize_t letter_ngrams(const uint32_t* word, Py_ssize_t n, uint64_t* keys) noexcept nogil


cdef class TagSets(BufferOwner):
    cdef readonly int n_tags
    cdef readonly Py_ssize_t n
    cdef dict _arrays
    cdef Rows _index
    cdef const int64_t* _starts
    cdef const uint16_t* _tags
    cdef uint64_t* _ids      # of the set of each key

    cdef int32_t find(self, uint64_t key) noexcept nogil
    cdef int32_t sole(self, int32_t number) noexcept nogil
    cdef void allow(self, int32_t number, uint8_t* mask) noexcept nogil


# Final, so that what is asked of each character is inlined.
@cython.final
cdef class WordFields:
    cdef readonly bint half_width
    cdef readonly TagSets categories
    cdef readonly TagSets classes
    cdef readonly object script
    cdef readonly WordClasses word_classes
    cdef readonly object known
    cdef Lexicon _lexicon
    cdef const uint16_t[::1] _listed_tags
    cdef uint32_t n_seen    # characters below it may look like others
    cdef object _tables     # whose memory the pointers borrow
    cdef const uint32_t* _seen_as
    cdef const uint32_t* _lower
    cdef const uint8_t* _kinds

    cdef uint32_t normalize(self, uint32_t character) noexcept nogil
    cdef uint32_t lower(self, uint32_t character) noexcept nogil
    cdef uint32_t kind(self, uint32_t character) noexcept nogil
    cdef void read(self, str word, uint32_t* characters)
    cdef uint64_t key(self, const uint32_t* word, Py_ssize_t n) noexcept nogil
    cdef void fill(
        self, const uint32_t* word, Py_ssize_t n, uint64_t wanted, uint64_t* fields
    ) noexcept nogil
    cdef uint64_t parts(self, const uint32_t* word, Py_ssize_t n) noexcept nogil
    cdef uint64_t category(self, uint32_t character) noexcept nogil
    cdef uint64_t listed(self, const uint32_t* word, Py_ssize_t n) noexcept nogil
