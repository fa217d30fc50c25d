"""A trie of words, and the places where they stand in a text.

The nodes are numbered breadth first, so that the children of a node, and those of all nodes, lie
side by side in the order of their characters: three integers a node. The children of the root have
a table of their own, as most characters of a text begin no word.
"""

from libc.stdint cimport INT32_MAX, int32_t, uint32_t
from libc.string cimport memcpy

from spacy_structreg.learn.memory cimport BufferOwner, reserve, reserve_zeros

import numpy as np


cdef class WordTrie(BufferOwner):
    """Distinct words, ready to be found in texts. It never changes, and threads may share it.

    words: not empty, in the order of their code points, none twice. Raises ValueError otherwise,
    and when they have more characters than a trie can hold (2,147,483,646).
    """

    cdef readonly tuple words
    # Node k: the character that leads to it, the word that ends there or -1, and its children
    # from first[k] to first[k + 1].
    cdef uint32_t* characters
    cdef int32_t* word
    cdef int32_t* first
    # Of each character, the child of the root that it leads to; 0 for none.
    cdef int32_t* root
    cdef uint32_t n_root

    def __cinit__(self, words):
        self.words = tuple(words)
        cdef Py_ssize_t n_nodes = self._count_nodes()
        cdef Py_ssize_t room = n_nodes + 1
        reserve(&self.buffers, self.characters, room)
        reserve(&self.buffers, self.word, room)
        reserve(&self.buffers, self.first, room)
        # The words that begin with the characters on the way to a node: from begin to end.
        cdef BufferOwner scratch = BufferOwner()
        cdef int32_t* begin = NULL
        cdef int32_t* end = NULL
        reserve(&scratch.buffers, begin, room)
        reserve(&scratch.buffers, end, room)
        self._build(n_nodes, begin, end)

    def __reduce__(self):
        return WordTrie, (self.words,)

    cdef Py_ssize_t _count_nodes(self) except -1:
        """The number of nodes; checks the words."""
        cdef Py_ssize_t n_nodes = 1
        cdef Py_ssize_t shared, shorter
        cdef str before = "", word
        for item in self.words:
            if type(item) is not str:
                raise ValueError(f"{item!r} is no string; give words as strings")
            word = item
            if word <= before:
                raise ValueError(
                    f"the word {word!r} is empty, or does not follow {before!r} in the order of "
                    "code points; sort the words, and give each of them once"
                )
            shared = 0
            shorter = min(len(word), len(before))
            while shared < shorter and word[shared] == before[shared]:
                shared += 1
            n_nodes += len(word) - shared
            before = word
        if n_nodes >= INT32_MAX:
            raise ValueError("the words have too many characters for one trie; take fewer words")
        return n_nodes

    cdef int _build(self, Py_ssize_t n_nodes, int32_t* begin, int32_t* end) except -1:
        cdef int32_t node, free_node = 1, level_end = 1, low, high, run
        cdef Py_ssize_t depth = 0
        cdef uint32_t character
        cdef str word
        begin[0] = 0
        end[0] = <int32_t> len(self.words)
        self.characters[0] = 0
        for node in range(<int32_t> n_nodes):
            if node == level_end:
                depth += 1
                level_end = free_node
            self.first[node] = free_node
            self.word[node] = -1
            low, high = begin[node], end[node]
            if low < high:
                word = self.words[low]
                if len(word) == depth:
                    self.word[node] = low
                    low += 1
            while low < high:
                word = self.words[low]
                character = word[depth]
                run = low + 1
                while run < high:
                    word = self.words[run]
                    if word[depth] != character:
                        break
                    run += 1
                self.characters[free_node] = character
                begin[free_node] = low
                end[free_node] = run
                free_node += 1
                low = run
        self.first[n_nodes] = free_node
        if self.first[1] > 1:
            self.n_root = self.characters[self.first[1] - 1] + 1
            reserve_zeros(&self.buffers, self.root, self.n_root)
            for node in range(1, self.first[1]):
                self.root[self.characters[node]] = node
        return 0

    def find(self, str text not None):
        """Find words in a text: int32 of shape (n, 3): start, end, number of the word.

        They come by start and then end.
        """
        cdef BufferOwner scratch = BufferOwner()
        cdef int32_t* found = NULL
        cdef Py_ssize_t n_found = 0
        cdef Py_ssize_t n = len(text), start, end
        cdef int32_t node, low, high, middle, last
        cdef uint32_t character
        cdef int32_t[:, ::1] view
        if n >= INT32_MAX:
            raise ValueError(f"a text of {n:,} characters is too long; cut it into parts")
        for start in range(n):
            character = text[start]
            if character >= self.n_root:
                continue
            node = self.root[character]
            if node == 0:
                continue
            end = start + 1
            while True:
                if self.word[node] >= 0:
                    reserve(&scratch.buffers, found, 3 * n_found + 3)
                    found[3 * n_found] = <int32_t> start
                    found[3 * n_found + 1] = <int32_t> end
                    found[3 * n_found + 2] = self.word[node]
                    n_found += 1
                if end == n:
                    break
                character = text[end]
                low = self.first[node]
                last = high = self.first[node + 1]
                while low < high:
                    middle = low + (high - low) // 2
                    if self.characters[middle] < character:
                        low = middle + 1
                    else:
                        high = middle
                if low == last or self.characters[low] != character:
                    break
                node = low
                end += 1
        places = np.empty((n_found, 3), dtype=np.int32)
        if n_found:
            view = places
            memcpy(&view[0, 0], found, 3 * n_found * sizeof(int32_t))
        return places
