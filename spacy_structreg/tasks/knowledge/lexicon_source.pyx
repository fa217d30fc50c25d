"""Places of listed words, as a knowledge source of characters."""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from spacy_structreg.tasks.knowledge.lexicon cimport FIRST
from spacy_structreg.tasks.knowledge.source cimport CharacterSource

import numpy as np

from spacy_structreg.features.knowledge import LEXICON_ATOMS, WORD_LIST
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
    (`known_words.FREQUENCY_BITS`), ``tagb``, ``tage`` and ``tagm`` the numbers of their sets of
    tags. Of words of one length that have a character inside, the one that begins first counts.

    Words that a user prefers count as if they were listed, with the most usual frequency; what is
    listed of a word in any case stays.

    Time grows as the characters of a sentence times those of the longest word.
    """

    NAME = "lexicon"
    LABEL = WORD_LIST

    def __init__(self, words not None: KnownWords):
        self.words = words
        self._lexicon = words.lexicon
        self._n_values = len(words.tags)
        self._frequencies = words.frequencies
        self._tags = words.tags
        bits = [LENGTH_BITS] * 3 + [FREQUENCY_BITS] * 3 + [TAGS_BITS] * 3
        self.atoms = dict(zip(LEXICON_ATOMS, bits, strict=True))

    def __reduce__(self):
        return LexiconSource, (self.words,)

    cpdef CharacterSource copy(self):
        # Each thread may have other words that are preferred.
        return LexiconSource(self.words)

    def prefer(self, words, seen):
        if words is self._preferred:
            return True
        more = self.words if words is None else words.known_as(self.words, seen)
        self._more = None if words is None else more.lexicon
        self._frequencies = self.words.frequencies
        self._tags = self.words.tags
        if words is not None:
            self._frequencies = np.concatenate([self.words.frequencies, more.frequencies])
            self._tags = np.concatenate([self.words.tags, more.tags])
        self._preferred = words
        return True

    cdef int32_t value_of(self, const uint64_t* characters, Py_ssize_t n) noexcept nogil:
        """Return the entry number of a word of `n` characters; 0 if it is not listed."""
        cdef int32_t value = self._lexicon.lookup(characters, n)
        if value == 0 and self._more is not None:
            value = self._more.lookup(characters, n)
            if value:
                value += self._n_values
        return value

    def text_of(self, str atom, int symbol):
        return self.words.tag_sets[symbol - 1] if atom.startswith("tag") else str(symbol)

    def contents(self):
        return self.words.contents()

    @classmethod
    def from_contents(cls, entries, arrays):
        """Make the source from stored contents; raise ValueError for invalid ones."""
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
        # And those of tags what is looked up.
        cdef uint64_t* pairs = tags_of_inside
        cdef uint64_t* slots = tags_of_end
        cdef uint64_t* slots_of_more = tags_of_begin
        cdef Py_ssize_t n_pairs = 0
        cdef Py_ssize_t start, end, furthest, i, k
        cdef uint64_t longest, value, found
        cdef uint32_t first
        cdef int64_t slot, slot_of_more
        cdef bint has_more = self._more is not None
        cdef Py_ssize_t most = self._lexicon.longest
        cdef int s
        if has_more:
            most = max(most, self._more.longest)
        for s in range(9):
            memset(symbols + s * stride - reach, 0, (n + 2 * reach) * sizeof(uint64_t))
        # Pairs of characters that may begin a word, which are fewer than all: nodes come to the
        # cache for several of them at a time.
        for i in range(n - 1):
            first = FIRST + <uint32_t> characters[i]
            pairs[n_pairs] = <uint64_t> i
            n_pairs += self._lexicon.may_step(first, characters[i + 1]) or (
                has_more and self._more.may_step(first, characters[i + 1])
            )
        for k in range(-AHEAD, n_pairs):
            if k + AHEAD < n_pairs:
                i = <Py_ssize_t> pairs[k + AHEAD]
                self._lexicon.fetch(FIRST + <uint32_t> characters[i], characters[i + 1])
                if has_more:
                    self._more.fetch(FIRST + <uint32_t> characters[i], characters[i + 1])
            if k < 0:
                continue
            start = <Py_ssize_t> pairs[k]
            first = FIRST + <uint32_t> characters[start]
            slot = self._lexicon.step(first, characters[start + 1])
            slots[k] = <uint64_t> slot
            if slot >= 0 and start + 2 < n:
                self._lexicon.fetch(<uint32_t> slot, characters[start + 2])
            if has_more:
                slot = self._more.step(first, characters[start + 1])
                slots_of_more[k] = <uint64_t> slot
                if slot >= 0 and start + 2 < n:
                    self._more.fetch(<uint32_t> slot, characters[start + 2])
        for k in range(n_pairs):
            start = <Py_ssize_t> pairs[k]
            slot = <int64_t> slots[k]
            slot_of_more = <int64_t> slots_of_more[k] if has_more else -1
            longest = 0
            value = 0
            furthest = min(n, start + most)
            end = start + 1
            while slot >= 0 or slot_of_more >= 0:
                found = 0
                if slot >= 0:
                    found = self._lexicon.value(slot)
                if slot_of_more >= 0 and found == 0 and self._more.value(slot_of_more):
                    found = <uint64_t> (self._n_values + self._more.value(slot_of_more))
                if found:
                    value = found
                    longest = <uint64_t> (end + 1 - start)
                    if ends[end] < longest:
                        ends[end] = longest
                        value_of_end[end] = value
                end += 1
                if end >= furthest:
                    break
                if slot >= 0:
                    slot = self._lexicon.step(<uint32_t> slot, characters[end])
                if slot_of_more >= 0:
                    slot_of_more = self._more.step(<uint32_t> slot_of_more, characters[end])
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
