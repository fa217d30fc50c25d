"""From the offsets of words in a text to what a Doc is made of."""

from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_READ_CHAR, PyUnicode_Substring
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

import numpy as np

cdef enum:
    SLOT_BITS = 13
    N_SLOTS = 1 << SLOT_BITS
    # So many characters of 21 bits fit a key.
    MOST_PACKED = 3


ctypedef struct Slot:
    uint64_t packed    # the characters of a word; 0 if the slot is empty
    PyObject* found    # its hash, which the dictionary owns


cdef class WordHashes:
    """The hashes of words in a store of strings, which are cheaper to make Docs of than words.

    A word that is not there yet is added to the store. The strings of a memory zone leave the store
    when it ends; making a Doc of their hashes then raises a KeyError: call `clear`, and try again.

    strings: the store, a ``spacy.strings.StringStore``. most: so many words are remembered.
    """

    cdef readonly object strings
    cdef Py_ssize_t _most
    cdef dict _hashes
    cdef dict _tags
    # Of short words, which are found without making a string.
    cdef Slot _slots[N_SLOTS]

    def __init__(self, strings, Py_ssize_t most=100_000):
        self.strings = strings
        self._most = most
        self._tags = {}
        self.clear()

    def __len__(self):
        return len(self._hashes)

    def clear(self):
        """Forget all words."""
        memset(self._slots, 0, sizeof(self._slots))
        self._hashes = {}

    cdef object _of(self, str text, Py_ssize_t start, Py_ssize_t end):
        """The hash of the word from `start` to `end`."""
        # A bit above the characters, so that the key says how many there are.
        cdef uint64_t packed = 1
        cdef Slot* slot = NULL
        cdef Py_ssize_t i
        if end - start <= MOST_PACKED:
            for i in range(start, end):
                packed = packed << 21 | <uint64_t> PyUnicode_READ_CHAR(text, i)
            slot = &self._slots[(packed * <uint64_t> 0x9E3779B97F4A7C15) >> (64 - SLOT_BITS)]
            if slot.packed == packed:
                return <object> slot.found
        word = PyUnicode_Substring(text, start, end)
        found = self._hashes.get(word)
        if found is None:
            found = self.strings.add(word)
            if len(self._hashes) >= self._most:
                self.clear()
            self._hashes[word] = found
        if slot != NULL:
            slot.packed = packed
            slot.found = <PyObject*> found
        return found

    def tokens(self, str text not None, const int64_t[:, ::1] spans):
        """The hashes of the tokens of a text, and whether a space follows each, as two lists.

        spans: begins and ends of the words, rising, shape (n_words, 2); all else is white space.
        One space after a word belongs to its token; all other white space becomes tokens.
        Raises ValueError for words that overlap or go beyond the text.
        """
        cdef Py_ssize_t n = len(text)
        cdef Py_ssize_t n_words = spans.shape[0]
        cdef Py_ssize_t last = 0
        cdef Py_ssize_t begin
        cdef Py_ssize_t end
        cdef Py_ssize_t rest
        cdef Py_ssize_t w
        cdef list tokens = []
        cdef list spaces = [False] * _n_tokens(text, spans)
        for w in range(n_words + 1):
            begin = spans[w, 0] if w < n_words else n
            end = spans[w, 1] if w < n_words else n
            rest = _behind_space(text, last, begin)
            if last < rest:
                spaces[len(tokens) - 1] = True
            if rest < begin:
                tokens.append(self._of(text, rest, begin))
            if begin < end:
                tokens.append(self._of(text, begin, end))
            last = end
        return tokens, spaces

    cdef object _of_tag(self, str name):
        """The hash of a tag, which is in the store."""
        found = self._tags.get(name)
        # It may have left the store with a memory zone. Looking costs less than adding it again.
        if found is None or found not in self.strings:
            found = self._tags[name] = self.strings.add(name)
        return found

    def tags(
        self, str text not None, const int64_t[:, ::1] spans, const int32_t[::1] numbers,
        tuple names, of_space,
    ):
        """The hashes of the tags of the tokens that `tokens` gives: uint64 of shape (n_tokens,).

        numbers: of the tags of the words, shape (n_words,). names: of the tags, which are added to
        the store if a word has them. of_space: the tag of white space that is a token.
        """
        cdef Py_ssize_t n_words = spans.shape[0]
        cdef Py_ssize_t last = 0
        cdef Py_ssize_t begin
        cdef Py_ssize_t t = 0
        cdef Py_ssize_t w
        cdef list found = [None] * len(names)
        cdef int32_t number
        hashes = np.empty(_n_tokens(text, spans), dtype=np.uint64)
        cdef uint64_t[::1] view = hashes
        if numbers.shape[0] != n_words:
            raise ValueError(f"there are {numbers.shape[0]} tags of {n_words} words")
        for w in range(n_words + 1):
            begin = spans[w, 0] if w < n_words else len(text)
            if _behind_space(text, last, begin) < begin:
                view[t] = self._of_tag(of_space)
                t += 1
            if w < n_words:
                number = numbers[w]
                if not 0 <= number < len(found):
                    raise ValueError(f"there is no tag {number}")
                if found[number] is None:
                    found[number] = self._of_tag(names[number])
                view[t] = found[number]
                t += 1
                last = spans[w, 1]
        return hashes


cdef inline Py_ssize_t _behind_space(
    str text, Py_ssize_t last, Py_ssize_t begin
) except -1:
    """The place where white space behind a token, which ends at `last`, begins one of its own."""
    return last + (0 < last < begin and PyUnicode_READ_CHAR(text, last) == c" ")


cdef Py_ssize_t _n_tokens(str text, const int64_t[:, ::1] spans) except -1:
    """The number of tokens of a text: its words and the white space between them."""
    cdef Py_ssize_t n_words = spans.shape[0]
    cdef Py_ssize_t n_tokens = n_words
    cdef Py_ssize_t n = len(text)
    cdef Py_ssize_t last = 0
    cdef Py_ssize_t begin
    cdef Py_ssize_t w
    for w in range(n_words + 1):
        begin = spans[w, 0] if w < n_words else n
        if not last <= begin <= n or (w < n_words and not begin < spans[w, 1] <= n):
            raise ValueError("the words do not lie in the text, one after the other")
        n_tokens += _behind_space(text, last, begin) < begin
        if w < n_words:
            last = spans[w, 1]
    return n_tokens
