"""A lexicon: an automaton that maps words to small numbers, and finds them in texts.

It is a trie in one flat array, a hash table whose keys are pairs: the node before, and the
character that leads on. A node *is* its slot, so nothing in the array is ever followed, and a file
of any content cannot lead a look-up astray. A word of n characters costs n - 1 look-ups: the first
character alone stands for the prefix that it makes. Single characters have nodes of their own.

==========  =======================================================================================
bits 0-20   the character and 1; an empty slot is 0
bits 21-47  the prefix: the slot of the node before, `FIRST` + the first character, or `ROOT`
bits 48-63  the value of the word that ends here; 0 if none does
==========  =======================================================================================
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.memory cimport BufferOwner, reserve, reserve_zeros
from spacy_structreg.learn.rows cimport spread

from collections.abc import Sequence

import numpy as np

from spacy_structreg.learn.model_file import field

LONGEST_WORD = 255
"""Most characters of a word. It bounds the work that a character of text can cost."""

cdef enum:
    # How many slots a node may lie in beyond its own, and how many ways of spreading are tried.
    MAX_PROBES = 1024
    N_SALTS = 16
    LONGEST = 255
    # Bits of the filter for a node: a bit in six is set, or so.
    BITS_OF_NODE = 4

cdef uint64_t KEY = (<uint64_t> 1 << VALUE_SHIFT) - 1

assert LONGEST == LONGEST_WORD


cdef class Lexicon(BufferOwner):
    """Distinct words, each with a value. It never changes, and threads may share it.

    words: of 1 to 255 characters each, in the order of their code points, none twice.
    values: of the words, integers from 1 to 65,535; what they mean is the caller's business. All
        are 1 if there are none.
    n_words: the number of words. longest: the characters of the longest, 0 if there are none.
    nodes: the automaton, uint64, read-only; some 13 bytes for each different prefix of two or more
        characters.
    Equal words and values give equal nodes. Building takes time in proportion to the characters.
    Raises ValueError for other words and values, and for more than 79 million prefixes.
    """

    def __init__(self, words, values=None):
        if self._nodes != NULL:
            raise TypeError("a lexicon cannot be initialized twice")
        words = words if isinstance(words, Sequence) else list(words)
        given = np.ones(len(words), dtype=np.uint16) if values is None else np.asarray(values)
        if given.shape != (len(words),) or (
            given.size and (given.dtype.kind not in "iu" or given.min() < 1 or given.max() > 65_535)
        ):
            raise ValueError("each word must have one value, an integer from 1 to 65,535")
        given = np.ascontiguousarray(given, dtype=np.uint16)
        cdef const uint16_t[::1] value_view = given
        cdef const uint16_t* value = &value_view[0] if given.size else NULL
        cdef Py_ssize_t n_nodes = self._count(words)
        cdef Py_ssize_t n_home = n_nodes * 5 // 3 + 1
        if n_home + MAX_PROBES > FIRST:
            raise ValueError("too many characters for one lexicon; use fewer words")
        nodes = np.zeros(n_home + MAX_PROBES, dtype=np.uint64)
        cdef uint64_t[::1] node_view = nodes
        for salt in range(N_SALTS):
            self._salt = <uint64_t> salt * <uint64_t> 0xD1B54A32D192ED03ULL
            self._take(nodes, n_home, n_nodes)
            probes = self._insert(&node_view[0], words, value)
            if probes > 0:
                break
            memset(&node_view[0], 0, nodes.nbytes)
        else:
            raise ValueError("the words collide in the lexicon; use fewer words")
        self.n_words = len(words)
        self._take(nodes[: n_home + probes], n_home, n_nodes)

    cdef int _take(self, nodes, Py_ssize_t n_home, Py_ssize_t n_nodes) except -1:
        """Set the array of nodes and its length."""
        cdef const uint64_t[::1] view
        cdef uint64_t n_bits = 64
        cdef Py_ssize_t i
        nodes = nodes.view()
        nodes.setflags(write=False)
        view = nodes
        self.nodes = nodes
        self._nodes = &view[0]
        self._n_home = n_home
        # Look-ups begin below n_home, and so end within the array. It is as much longer than that
        # as the furthest node lies from its home.
        self._n_probes = min(<Py_ssize_t> MAX_PROBES, view.shape[0] - n_home)
        while n_bits < BITS_OF_NODE * <uint64_t> n_nodes:
            n_bits *= 2
        self._filter_mask = n_bits - 1
        reserve_zeros(&self.buffers, self._filter, n_bits // 64)
        for i in range(view.shape[0]):
            if view[i]:
                self._mark(view[i] & KEY)
        return 0

    cdef int _mark(self, uint64_t key) noexcept nogil:
        """Add a key of a node to the filter."""
        cdef uint64_t spread_out = spread(key ^ self._salt)
        self._filter[(spread_out & self._filter_mask) >> 6] |= <uint64_t> 1 << (spread_out & 63)
        return 0

    def _count(self, words):
        """The number of prefixes of two or more characters, and of words of one; checks them."""
        cdef Py_ssize_t n_nodes = 0, shared, shorter
        cdef str before = "", word
        for item in words:
            if type(item) is not str:
                raise ValueError(f"expected words as str, got {item!r}")
            word = item
            if word <= before:
                raise ValueError(
                    f"the word {word!r} is empty, or does not follow {before!r} in the order of "
                    "code points; sort the words, and give each of them once"
                )
            if len(word) > LONGEST_WORD:
                raise ValueError(
                    f"the word {word[:20]!r}… has {len(word)} characters; {LONGEST_WORD} are the "
                    "most"
                )
            shared = 0
            shorter = min(len(word), len(before))
            while shared < shorter and word[shared] == before[shared]:
                shared += 1
            n_nodes += 1 if len(word) == 1 else len(word) - max(shared, 1)
            self.longest = max(self.longest, len(word))
            before = word
        return n_nodes

    cdef Py_ssize_t _insert(self, uint64_t* nodes, words, const uint16_t* values) except -1:
        """Place all nodes; return the maximum number of probes, 0 if too many."""
        cdef Py_ssize_t place, i, n_probes = 1
        cdef int64_t slot, home
        cdef uint32_t prefix
        cdef uint64_t key
        cdef str word
        for place, word in enumerate(words):
            prefix = ROOT if len(word) == 1 else FIRST + <uint32_t> word[0]
            slot = -1
            for i in range(0 if len(word) == 1 else 1, len(word)):
                slot = self.step(prefix, word[i])
                if slot < 0:
                    key = <uint64_t> prefix << CHARACTER_BITS | (<uint64_t> word[i] + 1)
                    self._mark(key)
                    slot = home = self.home(spread(key ^ self._salt))
                    while nodes[slot] != 0:
                        slot += 1
                        if slot == home + self._n_probes:
                            return 0
                    n_probes = max(n_probes, slot - home + 1)
                    nodes[slot] = key
                prefix = <uint32_t> slot
            nodes[slot] |= <uint64_t> values[place] << VALUE_SHIFT
        return n_probes

    def __reduce__(self):
        entries, arrays = self.contents()
        return _restored, (entries, {name: np.array(array) for name, array in arrays.items()})

    def __len__(self):
        return self.n_words

    def __contains__(self, word):
        return type(word) is str and self.get(word) != 0

    def contents(self):
        """Entries of the header of a model file, and arrays, which are used where they lie."""
        entries = {
            "n_words": self.n_words, "longest": self.longest, "n_home": self._n_home,
            "salt": self._salt,
        }
        return entries, {"nodes": self.nodes}

    @classmethod
    def from_contents(cls, entries, arrays, Py_ssize_t n_values=65_535):
        """Make a lexicon from stored contents; the array may be a mapped file.

        n_values: the greatest value that a word may have.
        Raises ValueError if they are none, after one pass over the array.
        """
        cdef Lexicon lexicon = cls.__new__(cls)
        cdef const uint64_t[::1] view
        cdef Py_ssize_t i, n_words = 0, n_nodes = 0, n_sound = 0, size
        cdef uint64_t node, prefix
        cdef uint64_t most = n_values
        nodes = arrays.get("nodes")
        n_home = field(entries, "n_home", int)
        longest = field(entries, "longest", int)
        salt = field(entries, "salt", int)
        if (
            not isinstance(nodes, np.ndarray) or nodes.dtype != np.uint64 or nodes.ndim != 1
            or not 1 <= n_home < nodes.size <= FIRST or not 0 <= longest <= LONGEST_WORD
            or not 0 <= salt < 1 << 64
        ):
            raise ValueError("the nodes of the lexicon are missing or do not match its header")
        lexicon._salt = salt
        nodes = np.ascontiguousarray(nodes)
        view = nodes
        size = view.shape[0]
        with nogil:
            # Without a branch, and so in a third of the time.
            for i in range(size):
                node = view[i]
                prefix = node >> CHARACTER_BITS & ROOT
                n_words += node >> VALUE_SHIFT != 0
                n_nodes += node != 0
                n_sound += (
                    (node != 0)
                    & ((node & 0x1FFFFF) - 1 < 0x110000)
                    & (node >> VALUE_SHIFT <= most)
                    & ((prefix >= FIRST) | (prefix < <uint64_t> size))
                )
        if n_sound != n_nodes or n_words != field(entries, "n_words", int):
            raise ValueError("a node of the lexicon is damaged; get the file again")
        lexicon.n_words = n_words
        lexicon.longest = longest
        lexicon._take(nodes, n_home, n_nodes)
        return lexicon

    cdef uint16_t lookup(self, const uint64_t* characters, Py_ssize_t n) noexcept nogil:
        """The value of the word that `n` characters make (code points below 0x1FFFFF); 0 for none.

        Takes n look-ups at most, and none for words that are longer than the longest.
        """
        cdef int64_t slot
        cdef Py_ssize_t i
        if n < 1 or n > self.longest or characters[0] >= 0x110000:
            return 0
        if n == 1:
            slot = self.step(ROOT, characters[0])
            return 0 if slot < 0 else self.value(slot)
        slot = FIRST + <int64_t> characters[0]
        for i in range(1, n):
            slot = self.step(<uint32_t> slot, characters[i])
            if slot < 0:
                return 0
        return self.value(slot)

    def get(self, str word not None):
        """The value of a word; 0 if it is not listed."""
        cdef uint64_t[LONGEST] characters
        cdef Py_ssize_t i
        if len(word) > LONGEST_WORD:
            return 0
        for i in range(len(word)):
            characters[i] = word[i]
        return self.lookup(characters, len(word))

    def find(self, str text not None):
        """All places of words in a text: int32 of shape (n, 3): start, end, value of the word.

        They come by start and then end, and may overlap and be nested. Time grows as the
        characters of the text times those of the longest word. Raises ValueError for texts of
        2,147,483,647 characters and more.
        """
        cdef BufferOwner scratch = BufferOwner()
        cdef int32_t* found = NULL
        cdef Py_ssize_t n_found = 0
        cdef Py_ssize_t n = len(text), start, end, furthest
        cdef int64_t slot
        cdef int32_t[:, ::1] view
        if n >= INT32_MAX:
            raise ValueError(f"text too long: {n:,} characters; split it")
        if self.longest == 0:
            n = 0
        for start in range(n):
            slot = self.step(ROOT, text[start])
            end = start + 1
            furthest = min(n, start + self.longest)
            while True:
                if slot >= 0 and self.value(slot) > 0:
                    reserve(&scratch.buffers, found, 3 * n_found + 3)
                    found[3 * n_found] = <int32_t> start
                    found[3 * n_found + 1] = <int32_t> end
                    found[3 * n_found + 2] = self.value(slot)
                    n_found += 1
                if end >= furthest:
                    break
                if end == start + 1:
                    slot = FIRST + <int64_t> text[start]
                slot = self.step(<uint32_t> slot, text[end])
                if slot < 0:
                    break
                end += 1
        places = np.empty((n_found, 3), dtype=np.int32)
        if n_found:
            view = places
            memcpy(&view[0, 0], found, 3 * n_found * sizeof(int32_t))
        return places

    def items(self):
        """The words and their values, in the order of the words: a list of pairs."""
        cdef const uint64_t[::1] nodes = self.nodes
        cdef Py_ssize_t slot
        listed = []
        for slot in range(nodes.shape[0]):
            if nodes[slot] >> VALUE_SHIFT:
                word = "".join(self._characters(slot))
                listed.append((word, nodes[slot] >> VALUE_SHIFT))
        return sorted(listed)

    def characters(self):
        """The different characters of the words, as one string."""
        cdef const uint64_t[::1] nodes = self.nodes
        cdef Py_ssize_t slot
        cdef uint64_t prefix
        seen = np.zeros(0x110000, dtype=np.uint8)
        cdef uint8_t[::1] flags = seen
        with nogil:
            for slot in range(nodes.shape[0]):
                if nodes[slot] == 0:
                    continue
                flags[(nodes[slot] & 0x1FFFFF) - 1] = 1
                prefix = nodes[slot] >> CHARACTER_BITS & ROOT
                if FIRST <= prefix < FIRST + 0x110000:
                    flags[prefix - FIRST] = 1
        return "".join(map(chr, np.flatnonzero(seen).tolist()))

    cdef list _characters(self, int64_t slot):
        """Return the characters on the path to a node; fewer for a damaged file."""
        cdef list characters = []
        cdef uint64_t prefix
        while len(characters) < LONGEST_WORD and self._nodes[slot] != 0:
            characters.append(chr((self._nodes[slot] & 0x1FFFFF) - 1))
            prefix = self._nodes[slot] >> CHARACTER_BITS & ROOT
            if prefix >= FIRST:
                if prefix != ROOT:
                    characters.append(chr(prefix - FIRST))
                break
            slot = prefix
        return characters[::-1]


def _restored(entries, arrays):
    return Lexicon.from_contents(entries, arrays)
