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
    # A bit for each key of a node, where others may fall too: most look-ups find nothing, and need
    # not wait for the nodes.
    cdef uint64_t* _filter
    cdef uint64_t _filter_mask
    cdef Py_ssize_t _n_probes

    cdef int _take(self, nodes, Py_ssize_t n_home, Py_ssize_t n_nodes) except -1
    cdef int _mark(self, uint64_t key) noexcept nogil
    cdef Py_ssize_t _insert(self, uint64_t* nodes, words, const uint16_t* values) except -1
    cdef list _characters(self, int64_t slot)

    cdef inline bint may_be(self, uint64_t spread_out) noexcept nogil:
        """False if no node has the key, nearly always; true if one has."""
        return (self._filter[(spread_out & self._filter_mask) >> 6] >> (spread_out & 63)) & 1

    cdef inline bint may_step(self, uint32_t prefix, uint64_t character) noexcept nogil:
        """False only if `step` finds no node."""
        return self.may_be(
            spread((<uint64_t> prefix << CHARACTER_BITS | (character + 1)) ^ self._salt)
        )

    cdef inline uint64_t home(self, uint64_t spread_out) noexcept nogil:
        """The first of the slots where a key can lie."""
        return ((spread_out >> 32) * self._n_home) >> 32

    cdef inline void fetch(self, uint32_t prefix, uint64_t character) noexcept nogil:
        """Let the node come to the cache that `step` will look up."""
        cdef uint64_t key = <uint64_t> prefix << CHARACTER_BITS | (character + 1)
        STRUCTREG_PREFETCH(self._nodes + self.home(spread(key ^ self._salt)))

    cdef inline int64_t step(self, uint32_t prefix, uint64_t character) noexcept nogil:
        """The slot of the node to which a character leads from a prefix; -1 for none.

        prefix: a slot; ROOT; or FIRST + the first character of a text (below 0x110000), from which
        no node is looked up. The slot is the prefix that goes on from there.
        """
        cdef uint64_t key = <uint64_t> prefix << CHARACTER_BITS | (character + 1)
        cdef uint64_t spread_out = spread(key ^ self._salt)
        cdef const uint64_t* node
        cdef const uint64_t* end
        cdef uint64_t mask = (<uint64_t> 1 << VALUE_SHIFT) - 1
        if not self.may_be(spread_out):
            return -1
        node = self._nodes + self.home(spread_out)
        end = node + self._n_probes
        while node < end and node[0] != 0:
            if (node[0] & mask) == key:
                return node - self._nodes
            node += 1
        return -1

    cdef inline uint16_t value(self, int64_t slot) noexcept nogil:
        """The value of the word that ends at a node; 0 for none."""
        return <uint16_t> (self._nodes[slot] >> VALUE_SHIFT)

    cdef uint16_t lookup(self, const uint64_t* characters, Py_ssize_t n) noexcept nogil
