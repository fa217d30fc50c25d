"""Texts as sentences of characters without white space, and back again.

White space is never part of a word, unless a listed word contains it: a model sees the characters
without it, and a word always ends where it stood. A character that joins the one before it (a
combining mark, the parts of an emoji) is never cut off. Both, and the words that a user has listed,
are constraints on the characters of a sentence; how words are found under them is a subclass's to
say.
"""

from cpython.unicode cimport PyUnicode_Substring
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memset

from spacy_structreg.learn.memory cimport reserve

from itertools import product

import numpy as np

from spacy_structreg.features.characters import (
    EXTENDS,
    JOINS_NEXT,
    REGIONAL,
    TABLE_SIZE,
    WHITE_SPACE,
    property_table,
)

cdef extern from "Python.h":
    Py_UCS4* PyUnicode_AsUCS4(
        str text, Py_UCS4* buffer, Py_ssize_t length, int copy_null
    ) except NULL

cdef enum:
    TABLE = 0x20000
    # What is marked at a character of the text.
    INSIDE = 0
    BEGINS = 1
    BETWEEN = 2
    # What listed words demand of a character of the text.
    NOTHING = 0
    LISTED_BEGINS = 1
    LISTED_GOES_ON = 2
    LISTED_IS_OVER = 3
    # So many choices among overlapping listed words are compared as wholes.
    MOST_CHOICES = 64

cdef uint8_t IS_SPACE = WHITE_SPACE
cdef uint8_t IS_EXTENSION = EXTENDS
cdef uint8_t IS_JOINER = JOINS_NEXT
cdef uint8_t IS_REGIONAL = REGIONAL

assert TABLE == TABLE_SIZE

NOT_COVERED = "the sentences of a text do not cover it: their ends do not rise to its length"


cdef inline uint8_t flags_of(const uint8_t* properties, uint32_t character) noexcept nogil:
    """The flags of a character. Beyond the tables only tags and variation selectors have any."""
    if character < TABLE:
        return properties[character]
    return IS_EXTENSION if 0xE0020 <= character <= 0xE01EF else 0


cdef class TextDecoder:
    """Finds the words of texts. It holds working memory: use one in each thread.

    tags: the names of the tags that words may get; none if they get none.
    A subclass has `solve`.
    """

    def __cinit__(self, *args, **kwargs):
        cdef const uint8_t[::1] properties
        self.tags = ()
        self._property_table = property_table()
        properties = self._property_table
        self._properties = &properties[0]

    def __dealloc__(self):
        free(self.characters)
        free(self.constraints)
        free(self.wanted_tags)
        free(self.begins)
        free(self.word_tags)
        free(self._text)
        free(self._forced)
        free(self._forced_tags)
        free(self._marks)
        free(self._marked_tags)
        free(self._limits)

    @property
    def capacity(self):
        """For how many characters at a time there is room already."""
        return self._text_capacity

    cdef double solve(self, Py_ssize_t n) except? -1 nogil:
        """Find the words of the sentence of `n` characters at hand, n ≥ 1; returns their score.

        Reads `characters`, `constraints` if `is_constrained` and `wanted_tags` if `wants_tags`;
        writes `begins` and `word_tags`, which holds the tag of a word at its first character.
        """
        return 0.0

    cdef int _make_room(self, Py_ssize_t n) except -1:
        """Room for texts of `n` characters in all, and so for their longest sentence."""
        cdef Py_ssize_t capacity
        if n + 1 <= self._text_capacity and self._text != NULL:
            return 0
        # All arrays grow alike, so that one number tells the capacity of each.
        capacity = self._text_capacity
        reserve(<void**> &self.characters, &capacity, n + 1, sizeof(uint32_t))
        capacity = self._text_capacity
        reserve(<void**> &self.constraints, &capacity, n + 1, 1)
        capacity = self._text_capacity
        reserve(<void**> &self.wanted_tags, &capacity, n + 1, sizeof(int32_t))
        capacity = self._text_capacity
        reserve(<void**> &self.begins, &capacity, n + 1, 1)
        capacity = self._text_capacity
        reserve(<void**> &self.word_tags, &capacity, n + 1, sizeof(int32_t))
        capacity = self._text_capacity
        reserve(<void**> &self._forced, &capacity, n + 1, 1)
        capacity = self._text_capacity
        reserve(<void**> &self._forced_tags, &capacity, n + 1, sizeof(int32_t))
        capacity = self._text_capacity
        reserve(<void**> &self._marks, &capacity, n + 1, 1)
        capacity = self._text_capacity
        reserve(<void**> &self._marked_tags, &capacity, n + 1, sizeof(int32_t))
        capacity = self._text_capacity
        reserve(<void**> &self._text, &capacity, n + 1, sizeof(uint32_t))
        self._text_capacity = capacity
        return 0

    cdef int _load(self, list texts) except -1:
        """Copy texts, one after the other, to where code without the GIL can read them."""
        cdef Py_ssize_t total = 0
        cdef Py_ssize_t n
        cdef str text
        for text in texts:
            total += len(text)
        self._make_room(total)
        memset(self._forced, NOTHING, total + 1)
        total = 0
        for text in texts:
            n = len(text)
            if n:
                PyUnicode_AsUCS4(text, <Py_UCS4*> &self._text[total], n, 0)
            total += n
        return 0

    cdef int _force(self, Py_ssize_t base, Py_ssize_t n, words) except -1:
        """Make listed words tokens of the text of `n` characters that begins at `base`."""
        cdef Py_ssize_t start
        cdef Py_ssize_t end
        cdef int32_t number
        for start, end, tag in words:
            number = ANY_TAG
            if tag is not None and tag in self.tags:
                number = self.tags.index(tag)
            self._forced[base + start] = LISTED_BEGINS
            self._forced_tags[base + start] = number
            memset(self._forced + base + start + 1, LISTED_GOES_ON, end - start - 1)
            if end < n and self._forced[base + end] == NOTHING:
                self._forced[base + end] = LISTED_IS_OVER
        return 0

    cdef Py_ssize_t _squeeze(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Drop the white space of a sentence, and note what constrains its characters."""
        cdef const uint32_t* text = self._text + first
        cdef const uint8_t* forced = self._forced + first
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t i
        cdef uint8_t flags
        cdef uint8_t constraint
        cdef bint after_space = False
        cdef bint after_joiner = False
        cdef bint after_regional = False
        # White space may stand where a listed word is over.
        cdef bint is_over = False
        self.is_constrained = False
        self.wants_tags = False
        for i in range(n):
            flags = flags_of(self._properties, text[i])
            if flags & IS_SPACE:
                after_space = True
                is_over = is_over or forced[i] == LISTED_IS_OVER
                continue
            constraint = FREE
            if forced[i] == LISTED_GOES_ON:
                constraint = CONTINUES_WORD if kept else FREE
            elif kept and (after_space or is_over or forced[i] != NOTHING):
                constraint = BEGINS_WORD
            elif kept and (
                flags & IS_EXTENSION or after_joiner or (after_regional and flags & IS_REGIONAL)
            ):
                constraint = CONTINUES_WORD
            self.wanted_tags[kept] = ANY_TAG
            if forced[i] == LISTED_BEGINS and self._forced_tags[first + i] != ANY_TAG:
                self.wanted_tags[kept] = self._forced_tags[first + i]
                self.wants_tags = True
            if constraint != FREE:
                self.is_constrained = True
            after_regional = (
                flags & IS_REGIONAL != 0 and not (after_regional and not after_space)
            )
            after_joiner = flags & IS_JOINER != 0
            after_space = False
            is_over = False
            self.characters[kept] = text[i]
            self.constraints[kept] = constraint
            kept += 1
        return kept

    cdef void _mark(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Lay the solution of a sentence over the characters of the text again."""
        cdef const uint32_t* text = self._text + first
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t i
        for i in range(n):
            if flags_of(self._properties, text[i]) & IS_SPACE:
                self._marks[first + i] = (
                    INSIDE if self._forced[first + i] == LISTED_GOES_ON and kept else BETWEEN
                )
            else:
                self._marks[first + i] = BEGINS if self.begins[kept] else INSIDE
                self._marked_tags[first + i] = self.word_tags[kept]
                kept += 1

    cdef double _decode(self, Py_ssize_t first, Py_ssize_t n) except? -1 nogil:
        """Find the words of one sentence and mark them; returns their score."""
        cdef Py_ssize_t kept = self._squeeze(first, n)
        cdef double score = 0.0
        if kept:
            score = self.solve(kept)
            # What stands before the first character of a sentence belongs to another one.
            self.begins[0] = True
        self._mark(first, n)
        return score

    cdef int _choose(
        self, Py_ssize_t base, Py_ssize_t first, Py_ssize_t n, clusters
    ) except -1:
        """Decode a sentence with listed words that overlap, by the choice of the best score.

        clusters: those of the sentence, in characters of its text, which begins at `base`. All
        choices are compared if they are few; otherwise clusters are settled from left to right.
        """
        cdef double score
        cdef double best_score
        n_choices = 1
        for cluster in clusters:
            n_choices *= len(cluster.alternatives)
            if n_choices > MOST_CHOICES:
                break
        settled = [cluster.alternatives[0] for cluster in clusters]
        if n_choices <= MOST_CHOICES:
            choices = list(product(*[cluster.alternatives for cluster in clusters]))
            rounds = [(range(len(clusters)), choices)]
        else:
            rounds = [
                ([i], [(alternative,) for alternative in cluster.alternatives])
                for i, cluster in enumerate(clusters) if len(cluster.alternatives) > 1
            ]
        for places, choices in rounds:
            best = None
            best_score = -INFINITY
            for choice in choices:
                trial = list(settled)
                for place, alternative in zip(places, choice):
                    trial[place] = alternative
                self._forget_choice(base, clusters)
                for words in trial:
                    self._force(base, first + n - base, words)
                with nogil:
                    score = self._decode(first, n)
                if best is None or score > best_score:
                    best = trial
                    best_score = score
            settled = best
        self._forget_choice(base, clusters)
        for words in settled:
            self._force(base, first + n - base, words)
        with nogil:
            self._decode(first, n)
        return 0

    def _forget_choice(self, Py_ssize_t base, clusters):
        cdef Py_ssize_t start
        cdef Py_ssize_t end
        for cluster in clusters:
            start, end = cluster.start, cluster.end
            memset(self._forced + base + start, NOTHING, end - start + 1)

    cdef int _decode_all(self, list texts, list sentences, list clusters) except -1:
        """Find the words of all sentences of some texts."""
        cdef Py_ssize_t n_sentences = 0
        cdef Py_ssize_t base = 0
        cdef Py_ssize_t last
        cdef Py_ssize_t i
        cdef str text
        for text, ends in zip(texts, sentences, strict=True):
            reserve(
                <void**> &self._limits, &self._limit_capacity, n_sentences + len(ends) + 1,
                sizeof(Py_ssize_t),
            )
            last = 0
            for end in ends:
                if not last <= end <= len(text):
                    raise ValueError(NOT_COVERED)
                last = end
                self._limits[n_sentences] = base + last
                n_sentences += 1
            if last != len(text):
                raise ValueError(NOT_COVERED)
            base += last
        self._load(texts)
        if clusters is None:
            with nogil:
                last = 0
                for i in range(n_sentences):
                    self._decode(last, self._limits[i] - last)
                    last = self._limits[i]
            return 0
        base = 0
        for text, ends, listed in zip(texts, sentences, clusters, strict=True):
            last = 0
            listed = list(listed)
            for end in ends:
                here = []
                while listed and listed[0].start < end:
                    here.append(listed.pop(0))
                if here and here[len(here) - 1].end > end:
                    raise ValueError("a listed word goes beyond its sentence")
                self._choose(base, base + last, end - last, here)
                last = end
            base += len(text)
        return 0

    def segment(self, list texts not None, list sentences not None, clusters=None):
        """The words of each text, without the white space between them.

        sentences: for each text where its sentences end, rising, the last at its length.
        clusters: for each text the clusters of listed words in it (`tasks.user_words`); None if
            there is no list.
        The GIL is released while the texts are decoded.
        """
        cdef Py_ssize_t base = 0
        cdef str text
        # A list of our own, which nobody changes while the GIL is released.
        texts = list(texts)
        self._decode_all(texts, sentences, clusters)
        segmented = []
        for text in texts:
            segmented.append(self._words(text, base))
            base += len(text)
        return segmented

    def tag(self, list texts not None, list sentences not None, clusters=None):
        """The words of each text and their tags, as pairs. As `segment`."""
        cdef Py_ssize_t base = 0
        cdef str text
        if not self.tags:
            raise ValueError("this decoder gives no tags")
        texts = list(texts)
        self._decode_all(texts, sentences, clusters)
        tagged = []
        for text in texts:
            tagged.append(self._tagged_words(text, base))
            base += len(text)
        return tagged

    def spans(self, str text not None, list sentences not None, clusters=None):
        """Where the words of one text begin and end: int64 of shape (n_words, 2). As `segment`."""
        cdef Py_ssize_t i
        cdef Py_ssize_t n = len(text)
        cdef Py_ssize_t n_words = 0
        cdef bint open_word = False
        self._decode_all([text], [sentences], None if clusters is None else [clusters])
        for i in range(n):
            n_words += self._marks[i] == BEGINS
        spans = np.empty((n_words, 2), dtype=np.int64)
        cdef int64_t[:, ::1] view = spans
        n_words = 0
        for i in range(n):
            if self._marks[i] == INSIDE:
                continue
            if open_word:
                view[n_words, 1] = i
                n_words += 1
            open_word = self._marks[i] == BEGINS
            if open_word:
                view[n_words, 0] = i
        if open_word:
            view[n_words, 1] = n
        return spans

    def word_tag_names(self, str text not None):
        """The tags of the words of the text that `spans` was last called with."""
        cdef Py_ssize_t i
        return [
            self.tags[self._marked_tags[i]] for i in range(len(text)) if self._marks[i] == BEGINS
        ]

    cdef list _words(self, str text, Py_ssize_t base):
        """The words that are marked in a text."""
        cdef const uint8_t* marks = self._marks + base
        cdef Py_ssize_t n = len(text)
        cdef Py_ssize_t begin = -1
        cdef Py_ssize_t i
        cdef list words = []
        for i in range(n):
            if marks[i] == INSIDE:
                continue
            if begin >= 0:
                words.append(PyUnicode_Substring(text, begin, i))
            begin = i if marks[i] == BEGINS else -1
        if begin >= 0:
            words.append(PyUnicode_Substring(text, begin, n))
        return words

    cdef list _tagged_words(self, str text, Py_ssize_t base):
        """The words that are marked in a text, in pairs with their tags."""
        cdef const uint8_t* marks = self._marks + base
        cdef const int32_t* tags = self._marked_tags + base
        cdef Py_ssize_t n = len(text)
        cdef Py_ssize_t begin = -1
        cdef Py_ssize_t i
        cdef list words = []
        for i in range(n):
            if marks[i] == INSIDE:
                continue
            if begin >= 0:
                words.append((PyUnicode_Substring(text, begin, i), self.tags[tags[begin]]))
            begin = i if marks[i] == BEGINS else -1
        if begin >= 0:
            words.append((PyUnicode_Substring(text, begin, n), self.tags[tags[begin]]))
        return words
