from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t

from spacy_structreg.learn.memory cimport BufferOwner
from spacy_structreg.learn.rows cimport STRUCTREG_PREFETCH, spread

cdef enum:
    # Bits of a character, as many as CharacterAtoms gives it; and of a prefix.
    CHARACTER_BITS = 21
    VALUE_SHIFT = 48
    # Prefixes: slots of nodes, single characters (FIRST + character), and the empty one.
    ROOT = 0x7FFFFFF
    FIRST = 0x7FFFFFF - 0x110000


cdef class Lexicon(BufferOwner):
    cdef readonly Py_ssize_t n_words
    cdef readonly Py_ssize_t longest
    cdef readonly object nodes
    cdef const uint64_t* _nodes
    cdef uint64_t _n_home
    cdef uint64_t _salt
    cdef Py_ssize_t _n_probes

    cdef int _take(self, nodes, Py_ssize_t n_home) except -1
    cdef Py_ssize_t _insert(self, uint64_t* nodes, words, const uint16_t* values) except -1
    cdef list _characters(self, int64_t slot)

    cdef inline uint64_t home(self, uint64_t key) noexcept nogil:
        """The first of the slots where a key can lie."""
        return ((spread(key ^ self._salt) >> 32) * self._n_home) >> 32

    cdef inline int64_t step(self, uint32_t prefix, uint64_t character) noexcept nogil:
        """The slot of the node to which a character leads from a prefix; -1 for none.

        prefix: a slot; ROOT; or FIRST + the first character of a text (below 0x110000), from which
        no node is looked up. The slot is the prefix that goes on from there.
        """
        cdef uint64_t key = <uint64_t> prefix << CHARACTER_BITS | (character + 1)
        cdef const uint64_t* node = self._nodes + self.home(key)
        cdef const uint64_t* end = node + self._n_probes
        cdef uint64_t mask = (<uint64_t> 1 << VALUE_SHIFT) - 1
        while node < end and node[0] != 0:
            if (node[0] & mask) == key:
                return node - self._nodes
            node += 1
        return -1

    cdef inline uint16_t value(self, int64_t slot) noexcept nogil:
        """The value of the word that ends at a node; 0 for none."""
        return <uint16_t> (self._nodes[slot] >> VALUE_SHIFT)

    cdef inline void fetch(self, uint64_t first, uint64_t second) noexcept nogil:
        """Let the node of a text's first two characters come to the cache."""
        STRUCTREG_PREFETCH(self._nodes + self.home((FIRST + first) << CHARACTER_BITS | (second + 1)))

    cdef uint16_t lookup(self, const uint64_t* characters, Py_ssize_t n) noexcept nogil
