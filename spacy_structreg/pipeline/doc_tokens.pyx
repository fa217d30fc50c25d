"""From the offsets of words in a text to what a Doc is made of."""

from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_READ_CHAR, PyUnicode_Substring
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

import numpy as np
from spacy.attrs import POS, SENT_START, TAG
from spacy.parts_of_speech import IDS as POS_IDS

from spacy_structreg.pipeline.documents import SPACE_TAG

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
    tag_map: from tags to universal ones; None to write none.
    """

    cdef readonly object strings
    cdef readonly object tag_map
    cdef Py_ssize_t _most
    cdef dict _hashes
    # The tags of a model, the hash of each, and the number of its universal tag; white space last.
    cdef tuple _names
    cdef const uint64_t[:, ::1] _of_tags
    # Of short words, which are found without making a string.
    cdef Slot _slots[N_SLOTS]

    def __init__(self, strings, Py_ssize_t most=100_000, *, tag_map=None):
        self.strings = strings
        self.tag_map = tag_map
        self._most = most
        self._names = None
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

    cdef int _set_names(self, tuple names) except -1:
        """Look up the hashes of tags and their universal tags."""
        pos = {} if self.tag_map is None else self.tag_map
        # Labels stay in the store when a memory zone ends.
        self._of_tags = np.array(
            [
                (self.strings.add(tag, allow_transient=False) if tag else 0, POS_IDS[each])
                for tag, each in [*((tag, pos.get(tag, "")) for tag in names), (SPACE_TAG, "SPACE")]
            ],
            dtype=np.uint64,
        )
        self._names = names
        return 0

    def parts(
        self, str text not None, const int64_t[:, ::1] spans, const int32_t[::1] tags=None,
        tuple names=None, ends=None,
    ):
        """The hashes of the tokens of a text, whether a space follows each, and their attributes.

        One space after a word belongs to its token; all other white space becomes tokens.

        spans: begins and ends of the words, rising, shape (n_words, 2); all else is white space.
        tags: numbers of the tags of the words, shape (n_words,); None for none. names: of all tags.
        ends: of the sentences, offsets in the text; a sentence starts with the first token behind
        each but the last, unless it lies within a token. None for no sentences.
        Returns two lists, ids of attributes, and their values as `Doc.from_array` takes them:
        uint64 of shape (n_tokens, n_attributes).
        Raises ValueError for words that overlap or go beyond the text, and for tags that are not
        one for each or have no name.
        """
        cdef Py_ssize_t n = len(text)
        cdef Py_ssize_t n_words = spans.shape[0]
        cdef Py_ssize_t n_tokens = _n_tokens(text, spans)
        cdef Py_ssize_t last = 0
        cdef Py_ssize_t before = 0
        cdef Py_ssize_t begin
        cdef Py_ssize_t end
        cdef Py_ssize_t rest
        cdef Py_ssize_t t = 0
        cdef Py_ssize_t w
        cdef Py_ssize_t n_ends = 0 if ends is None else len(ends) - 1
        cdef Py_ssize_t next_end = 0
        cdef Py_ssize_t row
        cdef int i
        cdef bint has_tags = tags is not None
        cdef bint has_pos = has_tags and self.tag_map is not None
        cdef list tokens = []
        cdef list spaces = [False] * n_tokens
        cdef list attributes = []
        cdef uint64_t[:, ::1] values
        if has_tags:
            if tags.shape[0] != n_words:
                raise ValueError(f"expected a tag for each of {n_words} words, got {tags.shape[0]}")
            if names is not self._names:
                self._set_names(names)
            attributes = [TAG, POS] if has_pos else [TAG]
        if ends is not None:
            attributes.append(SENT_START)
        # Transposed, as spaCy reads it.
        array = np.empty((len(attributes), n_tokens), dtype=np.uint64)
        values = array
        for w in range(n_words + 1):
            begin = spans[w, 0] if w < n_words else n
            end = spans[w, 1] if w < n_words else n
            rest = _behind_space(text, last, begin)
            if last < rest:
                spaces[t - 1] = True
            for i in range(2):
                # White space, then the word.
                if i == 0:
                    if rest == begin:
                        continue
                    tokens.append(self._of(text, rest, begin))
                else:
                    if begin == end:
                        break
                    rest = begin
                    tokens.append(self._of(text, begin, end))
                if has_tags:
                    row = self._of_tags.shape[0] - 1
                    if i == 1:
                        row = tags[w]
                        if not 0 <= row < self._of_tags.shape[0] - 1:
                            raise ValueError(f"there is no tag {row}")
                    values[0, t] = self._of_tags[row, 0]
                    if has_pos:
                        values[1, t] = self._of_tags[row, 1]
                if ends is not None:
                    values[has_tags + has_pos, t] = <uint64_t> <int64_t> (1 if t == 0 else -1)
                    while next_end < n_ends and <Py_ssize_t> ends[next_end] <= rest:
                        if t > 0 and before <= <Py_ssize_t> ends[next_end]:
                            values[has_tags + has_pos, t] = 1
                        next_end += 1
                before = end if i == 1 else begin
                t += 1
            last = end
        return tokens, spaces, attributes, array.T


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
