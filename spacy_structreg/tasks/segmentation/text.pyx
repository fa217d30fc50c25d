"""Texts as sentences of characters without white space, and back again.

White space is never part of a word, unless a listed word contains it: a model sees the characters
without it, and a word always ends where it stood. A character that joins the one before it (a
combining mark, the parts of an emoji) is never cut off. Both are constraints on the characters of a
sentence.

Of the places of listed words a maximal set becomes words: no two of it overlap, and none could be
added. Whether a set is maximal can be seen from left to right: behind a chosen word that
ends at e the next one must begin before the first end of the listed words that begin at e or later,
because the word of that end could be added otherwise. The last character where a listed word begins
before that end is the *deadline*. So a decoder that goes from left to right needs to know no more
than the deadline, or the listed word that it is in; how words are found is a subclass's to say.
Listed words come before the other constraints.

A word with a *bonus* is not forced: its score is added to that of every analysis that has the word
as a token without being a listed one. It may hold white space too; it never cuts off a character
that joins the one before it.
"""

from cpython.list cimport PyList_GET_ITEM, PyList_New, PyList_SET_ITEM
from cpython.ref cimport Py_INCREF
from cpython.unicode cimport PyUnicode_Substring
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from spacy_structreg.learn.memory cimport BufferOwner, capacity_of, reserve, reserve_zeros

import numpy as np

from spacy_structreg.features.character_classes import (
    EXTENDS,
    JOINS_NEXT,
    REGIONAL,
    TABLE_SIZE,
    WHITE_SPACE,
    ZERO_WIDTH,
    property_table,
)
from spacy_structreg.features.typed_runs import FIRST_STAND_IN
from spacy_structreg.tasks.segmentation.constraints import Constraints
from spacy_structreg.tasks.segmentation.given_spans import SAYS_STAND_IN

cdef extern from "Python.h":
    Py_UCS4* PyUnicode_AsUCS4(
        str text, Py_UCS4* buffer, Py_ssize_t length, int copy_null
    ) except NULL
    int PyUnicode_KIND(str text)
    const void* PyUnicode_DATA(str text)

cdef enum:
    TABLE = 0x20000
    # Words of at most so many characters are known, 2 to the power of so many of them.
    KNOWN_LENGTH = 3
    KNOWN_BITS = 13
    # The bits of what a caller says of a character that are a constraint.
    OF_BOUNDARY = 3
    STAND_IN_STEP = 4
    # What is marked at a character of the text.
    INSIDE = 0
    BEGINS = 1
    BETWEEN = 2

cdef uint8_t IS_SPACE = WHITE_SPACE
cdef uint8_t IS_EXTENSION = EXTENDS
cdef uint8_t IS_JOINER = JOINS_NEXT
cdef uint8_t IS_REGIONAL = REGIONAL
cdef uint8_t IS_ZERO_WIDTH = ZERO_WIDTH

cdef uint32_t STAND_IN = FIRST_STAND_IN

assert TABLE == TABLE_SIZE
assert STAND_IN_STEP == SAYS_STAND_IN

NO_BOUNDARIES = np.zeros(0, dtype=np.uint8)
RANKS_OF_MARGINS = 16
NO_PLACES = np.zeros((0, 3), dtype=np.int64)
NO_TAGS = "this decoder gives no tags"
NOT_COVERED = "the sentences of a text do not cover it: their ends do not rise to its length"


cdef inline uint8_t flags_of(const uint8_t* properties, uint32_t character) noexcept nogil:
    """The flags of a character. Beyond the tables only tags and variation selectors have any."""
    if character < TABLE:
        return properties[character]
    return IS_EXTENSION if 0xE0020 <= character <= 0xE01EF else 0


cdef bint _has_place(const ListedWords* words, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    """Return True if a listed word of any tag occurs at a span."""
    cdef int32_t w
    for w in range(words.first[start], words.first[start + 1]):
        if words.ends[w] == end:
            return True
    return False


cdef class TextDecoder(BufferOwner):
    """Finds the words of texts. It holds working memory: use one in each thread.

    tags: the names of the tags that words may get; none if they get none.
    A subclass has `solve`, `find_best` and `take_best`.
    """

    def __cinit__(self, *args, **kwargs):
        cdef const uint8_t[::1] properties
        self.tags = ()
        self._property_table = property_table()
        properties = self._property_table
        self._properties = &properties[0]
        self._places = NO_PLACES
        self._bonus_places = NO_PLACES
        self._boundaries = NO_BOUNDARIES
        self._known_words = [None] * (1 << KNOWN_BITS)
        # No key is 0, as no word is empty.
        reserve_zeros(&self.buffers, self._known_keys, 1 << KNOWN_BITS)

    @property
    def capacity(self):
        """Capacity of the working memory, in characters."""
        return capacity_of(self._text)

    def prefer(self, words):
        """Treat words as entries of the model's lexicon until the next call; None for none.

        words: a `CompiledWords`, of which those of mode ``prefer`` count. Returns whether the model
        has a lexicon.
        """
        return False

    cdef bint is_space(self, Py_ssize_t place) noexcept nogil:
        """Return True if a character of the concatenated texts is white space."""
        return flags_of(self._properties, self._text[place]) & IS_SPACE != 0

    cdef int solve(self, Py_ssize_t n) except -1 nogil:
        """Find the words of the current sentence of `n` ≥ 1 characters.

        Reads `characters`, `constraints` if `is_constrained`, and `listed` and `bonuses` if they
        are not NULL; writes `begins` and `word_tags`, which holds the tag of a word at its first
        character.
        """
        return 0

    cdef int _make_room(self, Py_ssize_t n) except -1 nogil:
        """Reserve memory for texts of `n` characters in all."""
        reserve(&self.buffers, self.characters, n + 1)
        reserve(&self.buffers, self.constraints, n + 1)
        reserve(&self.buffers, self.begins, n + 1)
        reserve(&self.buffers, self.word_tags, n + 1)
        reserve(&self.buffers, self._marks, n + 1)
        reserve(&self.buffers, self._marked_tags, n + 1)
        reserve(&self.buffers, self._text, n + 1)
        return 0

    cdef int _load(self, list texts) except -1:
        """Concatenate texts in memory that code without the GIL can read."""
        cdef Py_ssize_t total = 0
        cdef Py_ssize_t n
        cdef str text
        for text in texts:
            total += len(text)
        self._make_room(total)
        total = 0
        for text in texts:
            n = len(text)
            if n:
                PyUnicode_AsUCS4(text, <Py_UCS4*> &self._text[total], n, 0)
            total += n
        return 0

    cdef int _take_constraints(self, list texts, list constraints) except -1:
        """Set the forced words, the words with a bonus, and the boundaries of texts, if any.

        Raises ValueError for what does not fit the texts.
        """
        self._n_passed = 0
        self._n_bonuses_passed = 0
        if self._places.shape[0] or self._bonus_places.shape[0]:
            self._places = NO_PLACES
            self._bonus_places = NO_PLACES
        if self._boundaries.shape[0]:
            self._boundaries = NO_BOUNDARIES
        if constraints is None:
            return 0
        number = {tag: i for i, tag in enumerate(self.tags)}
        if any([len(each.words) for each in constraints]):
            self._places = _joined_places(texts, constraints, 0, number)
        if any([len(each.bonus_words) for each in constraints]):
            self._bonus_places = _joined_places(texts, constraints, 1, number)
            self._bonus_scores = np.concatenate(
                [np.asarray(each.bonuses, dtype=np.float64) for each in constraints]
            )
            if self._bonus_scores.shape[0] != self._bonus_places.shape[0]:
                raise ValueError("there must be one bonus per occurrence of a word with a bonus")
        boundaries = [each.boundaries for each in constraints]
        if any([each is not None for each in boundaries]):
            self._boundaries = np.concatenate([
                np.zeros(len(text), dtype=np.uint8) if each is None
                else np.asarray(each, dtype=np.uint8)
                for text, each in zip(texts, boundaries, strict=True)
            ])
            if self._boundaries.shape[0] != sum(map(len, texts)):
                raise ValueError("boundaries must have one value per character")
        return 0

    cdef Py_ssize_t _squeeze(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t at) noexcept nogil:
        """Drop the white space of a sentence, and collect the constraints of its characters.

        They are put at `at` of the characters at hand. Returns how many there are.
        """
        cdef const uint32_t* text = self._text + first
        cdef uint32_t* characters = self.characters + at
        cdef uint8_t* constraints = self.constraints + at
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t i
        cdef uint8_t flags
        cdef uint8_t constraint
        cdef uint8_t said
        cdef bint has_boundaries = self._boundaries.shape[0] > 0
        cdef bint after_space = False
        cdef bint after_joiner = False
        cdef bint after_regional = False
        cdef bint is_unseen = True    # what the word has so far
        self.is_constrained = False
        for i in range(n):
            flags = flags_of(self._properties, text[i])
            if flags & IS_SPACE:
                after_space = True
                continue
            constraint = FREE
            if kept and after_space:
                constraint = BEGINS_WORD
            elif kept and (
                flags & IS_EXTENSION or after_joiner or (after_regional and flags & IS_REGIONAL)
                or is_unseen
            ):
                constraint = CONTINUES_WORD
            said = self._boundaries[first + i] if has_boundaries else FREE
            if kept and said & OF_BOUNDARY:
                constraint = said & OF_BOUNDARY
            if constraint != FREE:
                self.is_constrained = True
            after_regional = (
                flags & IS_REGIONAL != 0 and not (after_regional and not after_space)
            )
            after_joiner = flags & IS_JOINER != 0
            is_unseen = flags & IS_ZERO_WIDTH != 0 and (kept == 0 or after_space or is_unseen)
            after_space = False
            characters[kept] = text[i]
            if said > OF_BOUNDARY:
                characters[kept] = STAND_IN + said // STAND_IN_STEP - 1
            constraints[kept] = constraint
            kept += 1
        return kept

    cdef Py_ssize_t _last_place(
        self, const int64_t[:, ::1] places, Py_ssize_t low, Py_ssize_t end
    ) except -1 nogil:
        """The number of the last place, plus one, of those from `low` on in a sentence."""
        cdef Py_ssize_t high = low
        while high < places.shape[0] and places[high, 0] < end:
            if places[high, 1] > end:
                with gil:
                    raise ValueError("an occurrence of a user word goes beyond its sentence")
            high += 1
        return high

    cdef int _find_listed(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t kept) except -1 nogil:
        """Find the listed words of a sentence, of which `kept` characters are no white space."""
        cdef ListedWords* words = &self._listed_words
        cdef Py_ssize_t low = self._n_passed
        cdef Py_ssize_t high = self._last_place(self._places, low, first + n)
        cdef Py_ssize_t w
        cdef Py_ssize_t i
        cdef int32_t start
        cdef int32_t end
        cdef int32_t found = 0
        cdef int32_t last_start
        cdef int32_t first_end = NO_DEADLINE
        self._n_passed = high
        if low == high:
            return 0
        reserve(&self.buffers, words.first, kept + 2)
        reserve(&self.buffers, words.ends, high - low)
        reserve(&self.buffers, words.tags, high - low)
        reserve(&self.buffers, words.deadlines, kept + 1)
        i = 0
        for w in range(low, high):
            start = self._kept_before[self._places[w, 0] - first]
            end = self._kept_before[self._places[w, 1] - first]
            if start == end:
                continue
            while i <= start:
                words.first[i] = found
                i += 1
            words.ends[found] = end
            words.tags[found] = <int32_t> self._places[w, 2]
            found += 1
        while i <= kept + 1:
            words.first[i] = found
            i += 1
        if found == 0:
            return 0
        last_start = <int32_t> (kept - 1)
        i = kept
        while i >= 0:
            for w in range(words.first[i], words.first[i + 1]):
                first_end = min(first_end, words.ends[w])
            words.deadlines[i] = NO_DEADLINE
            if first_end != NO_DEADLINE:
                while (
                    last_start >= first_end
                    or words.first[last_start] == words.first[last_start + 1]
                ):
                    last_start -= 1
                words.deadlines[i] = last_start
            i -= 1
        self.listed = words
        return 0

    cdef int _find_bonuses(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t kept) except -1 nogil:
        """Find the words with a bonus of a sentence; those that no token can be are left out."""
        cdef BonusWords* words = &self._bonus_words
        cdef Py_ssize_t low = self._n_bonuses_passed
        cdef Py_ssize_t high = self._last_place(self._bonus_places, low, first + n)
        cdef Py_ssize_t w
        cdef Py_ssize_t i = 0
        cdef int32_t start
        cdef int32_t end
        cdef int32_t found = 0
        self._n_bonuses_passed = high
        reserve(&self.buffers, words.first, kept + 2)
        reserve(&self.buffers, words.ends, high - low + 1)
        reserve(&self.buffers, words.tags, high - low + 1)
        reserve(&self.buffers, words.scores, high - low + 1)
        for w in range(low, high):
            start = self._kept_before[self._bonus_places[w, 0] - first]
            end = self._kept_before[self._bonus_places[w, 1] - first]
            if start >= end or self.constraints[start] == CONTINUES_WORD or (
                end < kept and self.constraints[end] == CONTINUES_WORD
            ):
                continue
            if self.listed != NULL and _has_place(self.listed, start, end):
                continue
            while i <= start:
                words.first[i] = found
                i += 1
            words.ends[found] = end
            words.tags[found] = <int32_t> self._bonus_places[w, 2]
            words.scores[found] = self._bonus_scores[w]
            found += 1
        while i <= kept + 1:
            words.first[i] = found
            i += 1
        if found:
            self.bonuses = words
        return 0

    cdef double _bonus_of_solution(self, Py_ssize_t n) noexcept nogil:
        """Sum of the bonuses in the current solution of `n` characters."""
        cdef double total = 0.0
        cdef double score
        cdef Py_ssize_t start = 0
        cdef Py_ssize_t i
        if self.bonuses == NULL:
            return 0.0
        for i in range(1, n + 1):
            if i == n or self.begins[i]:
                bonus_of(self.bonuses, start, i, self.word_tags[start], &score)
                total += score
                start = i
        return total

    cdef Py_ssize_t _open(self, Py_ssize_t first, Py_ssize_t n) except -1 nogil:
        """Make a sentence the current one; return its number of characters."""
        cdef Py_ssize_t kept = self._squeeze(first, n, 0)
        cdef Py_ssize_t i
        cdef int32_t before = 0
        self.listed = NULL
        self.bonuses = NULL
        if not (self._places.shape[0] or self._bonus_places.shape[0]):
            return kept
        reserve(&self.buffers, self._kept_before, n + 1)
        for i in range(n):
            self._kept_before[i] = before
            before += flags_of(self._properties, self._text[first + i]) & IS_SPACE == 0
        self._kept_before[n] = before
        if self._places.shape[0]:
            self._find_listed(first, n, kept)
        if self._bonus_places.shape[0]:
            self._find_bonuses(first, n, kept)
        return kept

    cdef Py_ssize_t _open_text(self, str text, constraints) except -1:
        """Make a whole text the current sentence; return its number of characters."""
        self._load([text])
        self._take_constraints([text], None if constraints is None else [constraints])
        return self._open(0, len(text))

    cdef void _mark(self, Py_ssize_t first, Py_ssize_t n, Py_ssize_t kept) noexcept nogil:
        """Map the solution of a sentence of `kept` characters back to the text."""
        cdef const uint32_t* text = self._text + first
        cdef Py_ssize_t k = 0
        cdef Py_ssize_t i
        # What stands before the first character of a sentence belongs to another one.
        if kept:
            self.begins[0] = True
        if kept == n:
            memcpy(self._marks + first, self.begins, n)
            memcpy(self._marked_tags + first, self.word_tags, n * sizeof(int32_t))
            return
        for i in range(n):
            if flags_of(self._properties, text[i]) & IS_SPACE:
                # Only in listed words does a character behind white space not begin a word.
                self._marks[first + i] = BETWEEN if k == kept or self.begins[k] else INSIDE
            else:
                self._marks[first + i] = BEGINS if self.begins[k] else INSIDE
                self._marked_tags[first + i] = self.word_tags[k]
                k += 1

    cdef int _decode(self, Py_ssize_t first, Py_ssize_t n) except -1 nogil:
        """Find the words of one sentence and mark them."""
        cdef Py_ssize_t kept = self._open(first, n)
        if kept:
            self.solve(kept)
        self._mark(first, n, kept)
        return 0

    cdef int _decode_sentences(self, Py_ssize_t n_sentences) except -1 nogil:
        """Find the words of all sentences, which end at `_limits`, and mark them."""
        cdef Py_ssize_t last = 0
        cdef Py_ssize_t i
        for i in range(n_sentences):
            self._decode(last, self._limits[i] - last)
            last = self._limits[i]
        return 0

    cdef Py_ssize_t _take_limits(self, list texts, sentences) except -1:
        """Set the ends of the sentences of texts; return their number."""
        cdef const int64_t[::1] joined
        cdef Py_ssize_t n_sentences = 0
        cdef Py_ssize_t base = 0
        cdef Py_ssize_t last
        cdef str text
        if isinstance(sentences, list):
            for text, ends in zip(texts, sentences, strict=True):
                reserve(&self.buffers, self._limits, n_sentences + len(ends) + 1)
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
            return n_sentences
        joined = sentences
        reserve(&self.buffers, self._limits, joined.shape[0] + 1)
        last = 0
        for text in texts:
            base += len(text)
            while n_sentences < joined.shape[0] and last <= joined[n_sentences] <= base:
                last = joined[n_sentences]
                self._limits[n_sentences] = last
                n_sentences += 1
            if last != base:
                raise ValueError(NOT_COVERED)
        if n_sentences < joined.shape[0]:
            raise ValueError(NOT_COVERED)
        return n_sentences

    cdef int _decode_all(self, list texts, sentences, list constraints) except -1:
        """Find the words of all sentences of some texts."""
        cdef Py_ssize_t n_sentences = self._take_limits(texts, sentences)
        self._load(texts)
        self._take_constraints(texts, constraints)
        with nogil:
            self._decode_sentences(n_sentences)
        return 0

    def segment(self, list texts not None, sentences not None, list constraints=None):
        """The words of each text, without the white space between them.

        sentences: for each text where its sentences end, rising, the last at its length; or int64
            of all of them, as offsets in all texts, one after the other.
        constraints: the `Constraints` of each text; None for none.
        The GIL is released while the texts are decoded.
        """
        cdef Py_ssize_t base = 0
        cdef str text
        # A list of our own, which nobody changes while the GIL is released.
        texts = list(texts)
        self._decode_all(texts, sentences, constraints)
        segmented = []
        for text in texts:
            segmented.append(self._words(text, base))
            base += len(text)
        return segmented

    def tag(self, list texts not None, sentences not None, list constraints=None):
        """The words of each text and their tags, as pairs. As `segment`."""
        cdef Py_ssize_t base = 0
        cdef str text
        if not self.tags:
            raise ValueError(NO_TAGS)
        texts = list(texts)
        self._decode_all(texts, sentences, constraints)
        tagged = []
        for text in texts:
            tagged.append(self._tagged_words(text, base))
            base += len(text)
        return tagged

    def spans(self, list texts not None, sentences not None, list constraints=None):
        """Begins and ends of the words of texts: int64 of shape (n_words, 2). As `segment`.

        Offsets are those in the text of the word. Returns besides which words are whose, int64 of
        shape (n_texts + 1,): those of text i are `starts[i]` to `starts[i + 1]`.
        """
        texts = list(texts)
        self._decode_all(texts, sentences, constraints)
        return self._marked_spans(texts, None)

    def tagged_spans(self, list texts not None, sentences not None, list constraints=None):
        """As `spans`, and besides the numbers of the tags of words: int32 of shape (n_words,)."""
        if not self.tags:
            raise ValueError(NO_TAGS)
        texts = list(texts)
        self._decode_all(texts, sentences, constraints)
        numbers = np.empty(sum(map(len, texts)), dtype=np.int32)
        spans, starts = self._marked_spans(texts, numbers)
        return spans, starts, numbers[: len(spans)].copy()

    cdef tuple _marked_spans(self, list texts, int32_t[::1] numbers):
        """The words that are marked in texts, as `spans`; writes their tags into `numbers`."""
        cdef const uint8_t* marks = self._marks
        cdef Py_ssize_t base = 0
        cdef Py_ssize_t n_words = 0
        cdef Py_ssize_t number = 0
        cdef Py_ssize_t n
        cdef Py_ssize_t i
        cdef bint in_word
        cdef str text
        for text in texts:
            base += len(text)
        for i in range(base):
            n_words += marks[i] == BEGINS
        spans = np.empty((n_words, 2), dtype=np.int64)
        starts = np.zeros(len(texts) + 1, dtype=np.int64)
        cdef int64_t[:, ::1] view = spans
        cdef int64_t[::1] start_view = starts
        base = 0
        n_words = 0
        for text in texts:
            n = len(text)
            in_word = False
            for i in range(n):
                if marks[base + i] == INSIDE:
                    continue
                if in_word:
                    view[n_words, 1] = i
                    n_words += 1
                in_word = marks[base + i] == BEGINS
                if in_word:
                    view[n_words, 0] = i
                    if numbers is not None:
                        numbers[n_words] = self._marked_tags[base + i]
            if in_word:
                view[n_words, 1] = n
                n_words += 1
            base += n
            number += 1
            start_view[number] = n_words
        return spans, starts

    cdef Py_ssize_t find_best(self, Py_ssize_t n, Py_ssize_t k) except -1 nogil:
        """Find the `k` best analyses of the current sentence of `n` ≥ 1 characters.

        Returns how many there may be, at most.
        """
        return 0

    cdef double take_best(self, Py_ssize_t rank, Py_ssize_t n) except? -1 nogil:
        """Write an analysis that was found as `solve` does, by its rank from 0; return its score.

        Minus infinity, if there is none of this rank.
        """
        return -INFINITY

    def nbest(self, str text not None, Py_ssize_t k, constraints=None):
        """The `k` best analyses of one sentence, best first: (score, words) each.

        With tags, words are pairs of a word and its tag. There are fewer if no more are found.
        constraints: the `Constraints` of the sentence; None for none. Raises ValueError if k < 1.
        """
        cdef Py_ssize_t kept
        cdef Py_ssize_t n_found
        cdef Py_ssize_t rank
        cdef double score
        cdef list analyses = []
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        kept = self._open_text(text, constraints)
        if kept == 0:
            return [(0.0, [])]
        with nogil:
            n_found = self.find_best(kept, k)
        for rank in range(n_found):
            score = self.take_best(rank, kept)
            if score == -INFINITY:
                break
            self._mark(0, len(text), kept)
            words = self._tagged_words(text, 0) if self.tags else self._words(text, 0)
            analyses.append((score, words))
        return analyses

    def margins(self, str text not None, boundaries=None):
        """Margins of the words of a sentence without white space; boundaries: of `Constraints`.

        Returns, for each place between two characters, the score of the best analysis in which a
        word ends there less that of the best in which none does: float64 of shape (n - 1,), and
        infinite where all of the best 16 analyses agree. (A chain knows it for all of them.)
        """
        margins = np.full(max(0, len(text) - 1), np.inf)
        best = np.full((2, len(margins)), -np.inf)
        if not len(margins):
            return margins
        for score, items in self.nbest(text, RANKS_OF_MARGINS, Constraints(boundaries=boundaries)):
            ends = np.zeros(len(text) + 1, dtype=bool)
            ends[np.cumsum([len(item[0] if self.tags else item) for item in items])] = True
            place = ends[1 : len(text)].astype(np.intp)
            at = np.arange(len(margins))
            best[place, at] = np.maximum(best[place, at], score)
        return best[1] - best[0]

    def tag_scores(self, str text not None, boundaries=None):
        """Scores of the tags of a sentence without white space; boundaries: of `Constraints`.

        Returns, for each character and tag, the score of the best analysis in which the character
        is in a word of this tag: float64 of shape (n, n_tags), and -inf where none of the best 16
        has it. (A chain knows it for all analyses.)
        """
        number = {tag: i for i, tag in enumerate(self.tags)}
        scores = np.full((len(text), len(self.tags)), -np.inf)
        if not text or not self.tags:
            return scores
        for score, items in self.nbest(text, RANKS_OF_MARGINS, Constraints(boundaries=boundaries)):
            tags = np.repeat([number[tag] for _, tag in items], [len(word) for word, _ in items])
            at = np.arange(len(text))
            scores[at, tags] = np.maximum(scores[at, tags], score)
        return scores

    cdef list _words(self, str text, Py_ssize_t base):
        """The words that are marked in a text, without the white space between them."""
        cdef const uint8_t* marks = self._marks + base
        cdef const uint16_t* characters = NULL
        cdef Py_ssize_t n = len(text)
        cdef Py_ssize_t n_words = 0
        cdef Py_ssize_t begin = -1
        cdef Py_ssize_t i
        cdef list words
        cdef str word
        for i in range(n):
            n_words += marks[i] == BEGINS
        words = PyList_New(n_words)
        if PyUnicode_KIND(text) == 2:
            characters = <const uint16_t*> PyUnicode_DATA(text)
        n_words = 0
        for i in range(n + 1):
            if i < n and marks[i] == INSIDE:
                continue
            if begin >= 0:
                if characters != NULL and i - begin <= KNOWN_LENGTH:
                    word = self._known_word(text, characters, begin, i)
                else:
                    word = PyUnicode_Substring(text, begin, i)
                Py_INCREF(word)
                PyList_SET_ITEM(words, n_words, word)
                n_words += 1
            begin = i if i < n and marks[i] == BEGINS else -1
        return words

    cdef str _known_word(
        self, str text, const uint16_t* characters, Py_ssize_t begin, Py_ssize_t end
    ):
        """Return a short word of a two-byte text, from a cache of strings if possible.

        Of words that share a place among those that are known, the last one stays.
        """
        cdef uint64_t key = 0
        cdef uint64_t place
        cdef Py_ssize_t i
        cdef str word
        for i in range(begin, end):
            key = key << 16 | characters[i]
        # The length tells apart words that differ by zeros at their beginning.
        key = key << 2 | <uint64_t> (end - begin)
        place = key * <uint64_t> 0x9E3779B97F4A7C15ULL >> (64 - KNOWN_BITS)
        if self._known_keys[place] == key:
            return <str> PyList_GET_ITEM(self._known_words, place)
        word = PyUnicode_Substring(text, begin, end)
        self._known_words[place] = word
        self._known_keys[place] = key
        return word

    cdef list _tagged_words(self, str text, Py_ssize_t base):
        """The same in pairs with their tags."""
        cdef const uint8_t* marks = self._marks + base
        cdef const int32_t* word_tags = self._marked_tags + base
        cdef Py_ssize_t i
        cdef list tags = []
        for i in range(len(text)):
            if marks[i] == BEGINS:
                tags.append(self.tags[word_tags[i]])
        return list(zip(self._words(text, base), tags))


def text_portions(texts, Py_ssize_t size, Py_ssize_t limit):
    """Yield lists of texts in their order, each of `size` characters or `limit` texts.

    The last may be shorter. An end counts as a character. Subclasses of str become str; raises
    TypeError for what is none.
    """
    cdef list portion = []
    cdef Py_ssize_t total = 0
    cdef str text
    for each in texts:
        if type(each) is not str:
            each = checked_text(each)
        text = each
        portion.append(text)
        total += len(text) + 1
        if total >= size or len(portion) >= limit:
            yield portion
            portion = []
            total = 0
    if portion:
        yield portion


def checked_text(text):
    """Return a text as an exact str; raise TypeError for other types."""
    if not isinstance(text, str):
        raise TypeError(f"expected a text as str, got {type(text).__name__}")
    return str(text)


def _joined_places(texts, constraints, field, number):
    """Shift occurrences in texts to offsets in their concatenation, with numbers of tags.

    field: of the constraints, which occurrences. number: of each tag that the decoder gives.
    Raises ValueError for places that do not fit their text.
    """
    base = 0
    joined = [NO_PLACES]
    for text, each in zip(texts, constraints, strict=True):
        if len(each[field]):
            joined.append(_shifted_places(each[field], base, len(text), each.tags, number))
        base += len(text)
    return np.concatenate(joined)


cdef object _shifted_places(places, Py_ssize_t base, Py_ssize_t n, tuple tags, dict number):
    """The same of one text of `n` characters that begins at `base`."""
    shifted = np.array(places, dtype=np.int64).reshape(-1, 3)
    cdef int64_t[:, ::1] view = shifted
    cdef Py_ssize_t i
    cdef Py_ssize_t last = 0
    for i in range(view.shape[0]):
        if not (
            last <= view[i, 0] < view[i, 1] <= n and -1 <= view[i, 2] < <Py_ssize_t> len(tags)
        ):
            raise ValueError("the occurrences of user words do not fit the text")
        last = view[i, 0]
        view[i, 0] += base
        view[i, 1] += base
        view[i, 2] = ANY_TAG if view[i, 2] < 0 else number.get(tags[view[i, 2]], ANY_TAG)
    return shifted
