"""Places of listed words, as a knowledge source of characters."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from spacy_structreg.tasks.knowledge.lexicon cimport FIRST
from spacy_structreg.tasks.knowledge.source cimport CharacterSource

from spacy_structreg.features.knowledge import LEXICON_ATOMS
from spacy_structreg.tasks.knowledge.known_words import FREQUENCY_BITS, TAGS_BITS, KnownWords

cdef enum:
    # Words of so many characters and more look alike.
    LONGEST_CLASS = 5
    LENGTH_BITS = 3
    # Of so many characters ahead the look-ups are under way.
    AHEAD = 12


cdef class LexiconSource(CharacterSource):
    """The longest listed words around a character: their lengths, frequencies and tags.

    words: as the model sees characters. Words of one character say nothing here.

    Atoms: ``lexb``, ``lexe`` and ``lexm``: how long the longest listed word is that begins with the
    character, ends with it, or has it inside, neither first nor last: 2 to 4, 5 for longer ones, 0
    if there is none. ``freqb``, ``freqe`` and ``freqm`` are the frequency classes of these words
    (`known_words.FREQUENCY_BITS`), ``tagb``, ``tage`` and
    ``tagm`` the numbers of their sets of tags. Of
    words of one length that have a character inside, the one that begins first counts.

    Time grows as the characters of a sentence times those of the longest word.
    """

    NAME = "lexicon"

    def __init__(self, words not None: KnownWords):
        self.words = words
        self._lexicon = words.lexicon
        self._frequencies = words.frequencies
        self._tags = words.tags
        bits = [LENGTH_BITS] * 3 + [FREQUENCY_BITS] * 3 + [TAGS_BITS] * 3
        self.atoms = dict(zip(LEXICON_ATOMS, bits, strict=True))

    def __reduce__(self):
        return LexiconSource, (self.words,)

    def contents(self):
        return self.words.contents()

    @classmethod
    def from_contents(cls, entries, arrays):
        """The source whose contents they are. Raises ValueError if they are none."""
        return cls(KnownWords.from_contents(entries, arrays))

    cdef int fill(
        self, const uint64_t* characters, Py_ssize_t n, uint64_t* symbols, Py_ssize_t stride,
        Py_ssize_t reach,
    ) except -1 nogil:
        cdef uint64_t* begins = symbols
        cdef uint64_t* ends = symbols + stride
        cdef uint64_t* inside = symbols + 2 * stride
        # Streams of frequencies hold the values of words meanwhile.
        cdef uint64_t* value_of_begin = symbols + 3 * stride
        cdef uint64_t* value_of_end = symbols + 4 * stride
        cdef uint64_t* value_of_inside = symbols + 5 * stride
        cdef uint64_t* tags_of_begin = symbols + 6 * stride
        cdef uint64_t* tags_of_end = symbols + 7 * stride
        cdef uint64_t* tags_of_inside = symbols + 8 * stride
        cdef Py_ssize_t start, end, furthest, i
        cdef uint64_t longest, value, found
        cdef int64_t slot
        cdef int s
        for s in range(9):
            for i in range(-reach, n + reach):
                symbols[s * stride + i] = 0
        for start in range(n - 1):
            if start + AHEAD + 1 < n:
                self._lexicon.fetch(characters[start + AHEAD], characters[start + AHEAD + 1])
            slot = FIRST + <int64_t> characters[start]
            longest = 0
            value = 0
            furthest = min(n, start + self._lexicon.longest)
            for end in range(start + 1, furthest):
                slot = self._lexicon.step(<uint32_t> slot, characters[end])
                if slot < 0:
                    break
                found = self._lexicon.value(slot)
                if found == 0:
                    continue
                value = found
                longest = <uint64_t> (end + 1 - start)
                if ends[end] < longest:
                    ends[end] = longest
                    value_of_end[end] = value
            begins[start] = longest
            value_of_begin[start] = value
            for i in range(start + 1, start + <Py_ssize_t> longest - 1):
                if inside[i] < longest:
                    inside[i] = longest
                    value_of_inside[i] = value
        for i in range(n):
            begins[i] = min(begins[i], <uint64_t> LONGEST_CLASS)
            ends[i] = min(ends[i], <uint64_t> LONGEST_CLASS)
            inside[i] = min(inside[i], <uint64_t> LONGEST_CLASS)
            tags_of_begin[i] = self._tags[value_of_begin[i]]
            tags_of_end[i] = self._tags[value_of_end[i]]
            tags_of_inside[i] = self._tags[value_of_inside[i]]
            value_of_begin[i] = self._frequencies[value_of_begin[i]]
            value_of_end[i] = self._frequencies[value_of_end[i]]
            value_of_inside[i] = self._frequencies[value_of_inside[i]]
        return 0
