"""Places of listed words, as a knowledge source of characters."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from spacy_structreg.tasks.knowledge.lexicon cimport FIRST
from spacy_structreg.tasks.knowledge.source cimport CharacterSource

from spacy_structreg.tasks.knowledge.known_words import KnownWords

cdef enum:
    # Words of so many characters and more look alike.
    LONGEST_CLASS = 5
    LENGTH_BITS = 3
    # Look-ups are under way for so many characters at a time.
    AHEAD = 12


cdef class LexiconSource(CharacterSource):
    """Lengths of the longest listed words around a character.

    words: the words, as the model sees characters. Words of one character say nothing.
    Atoms: ``lexb``, ``lexe`` and ``lexm``: how long the longest listed word is that begins with the
    character, ends with it, or has it inside, neither first nor last: 2 to 4, 5 for longer ones, 0
    if there is none. Time grows as the characters times those of the longest word.
    """

    NAME = "lexicon"

    def __init__(self, words not None: KnownWords):
        self.words = words
        self._lexicon = words.lexicon
        self.atoms = {"lexb": LENGTH_BITS, "lexe": LENGTH_BITS, "lexm": LENGTH_BITS}

    def __reduce__(self):
        return LexiconSource.from_contents, self.contents()

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
        cdef Py_ssize_t start, end, furthest, longest, i
        cdef int64_t slot
        for i in range(-reach, n + reach):
            begins[i] = 0
            ends[i] = 0
            inside[i] = 0
        for start in range(n - 1):
            if start + AHEAD + 1 < n:
                self._lexicon.fetch(characters[start + AHEAD], characters[start + AHEAD + 1])
            slot = FIRST + <int64_t> characters[start]
            longest = 0
            furthest = min(n, start + self._lexicon.longest)
            for end in range(start + 1, furthest):
                slot = self._lexicon.step(<uint32_t> slot, characters[end])
                if slot < 0:
                    break
                if self._lexicon.value(slot):
                    longest = end + 1 - start
                    if ends[end] < <uint64_t> longest:
                        ends[end] = longest
            begins[start] = min(longest, LONGEST_CLASS)
            for i in range(start + 1, start + longest - 1):
                if inside[i] < <uint64_t> longest:
                    inside[i] = longest
        for i in range(n):
            ends[i] = min(ends[i], <uint64_t> LONGEST_CLASS)
            inside[i] = min(inside[i], <uint64_t> LONGEST_CLASS)
        return 0
