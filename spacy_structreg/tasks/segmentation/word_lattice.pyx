"""The maximal sets of listed words of a sentence as a lattice for a chain of labels."""

from libc.stdint cimport int32_t, uint8_t

from spacy_structreg.learn.memory cimport BufferOwner, capacity_of, reserve
from spacy_structreg.tasks.segmentation.text cimport (
    ANY_TAG,
    BEGINS_WORD,
    CONTINUES_WORD,
    FREE,
    ListedWords,
)

cdef enum:
    # What a character is part of.
    NOT_LISTED      # a word that is not chosen; key: the deadline
    LISTED_BEGINS   # the first character of a chosen word; key: the tag that it must have
    LISTED_GOES_ON  # a chosen word behind its first character; key: its end


cdef class WordLattice(BufferOwner):
    """Columns, and what constrains the characters there. It holds working memory.

    At each character there are as many columns as there are different deadlines to meet, ends of
    chosen words that it may be in, and tags of listed words that begin there, and one more: no more
    than a few times the length of the longest listed word.
    """

    def __reduce__(self):
        return WordLattice, ()

    @property
    def capacity(self):
        """For how many columns there is room already."""
        return capacity_of(self._positions)

    @property
    def n_columns(self):
        """Number of columns of the last sentence with listed words."""
        return self.lattice.n

    cdef int build(
        self, Py_ssize_t n, const uint8_t* constraints, const ListedWords* words
    ) except -1 nogil:
        """Lay out a sentence of `n` characters, n ≥ 1. constraints: of each of them, or NULL."""
        cdef Py_ssize_t low = 0
        cdef Py_ssize_t high = 0
        cdef Py_ssize_t position
        cdef Py_ssize_t c
        cdef Py_ssize_t last
        cdef int32_t end
        cdef int32_t w
        cdef int32_t v
        cdef uint8_t constraint
        cdef bint is_over
        self.lattice.n = 0
        self._n_before = 0
        for position in range(n):
            # The columns of the character before are `low` to `high`.
            low = high
            high = self.lattice.n
            is_over = position == 0
            for c in range(low, high):
                is_over = is_over or self._is_over(c, position, words)
            constraint = FREE
            if constraints != NULL and position:
                constraint = constraints[position]
            # No listed word, behind none. Columns of one deadline follow each other.
            for c in range(low, high):
                if self._kinds[c] != NOT_LISTED or self._keys[c] <= position:
                    continue
                last = self.lattice.n - 1
                if last < high or self._keys[last] != self._keys[c]:
                    self._add(position, NOT_LISTED, self._keys[c], constraint, ANY_TAG)
                self._put_before(c)
            # No listed word, behind one.
            if is_over and words.deadlines[position] > position:
                self._add(
                    position, NOT_LISTED, words.deadlines[position],
                    BEGINS_WORD if position else FREE, ANY_TAG,
                )
                for c in range(low, high):
                    if self._is_over(c, position, words):
                        self._put_before(c)
            # A listed word begins.
            for w in range(words.first[position], words.first[position + 1]):
                v = words.first[position]
                while words.tags[v] != words.tags[w]:
                    v += 1
                if v < w:
                    continue
                self._add(position, LISTED_BEGINS, words.tags[w], BEGINS_WORD, words.tags[w])
                for c in range(low, high):
                    if self._kinds[c] == NOT_LISTED or self._is_over(c, position, words):
                        self._put_before(c)
                if position and self._first[self.lattice.n - 1] == self._n_before:
                    self.lattice.n -= 1
            # A listed word goes on. Columns and words are in the order of their ends.
            w = v = 0
            if position:
                w = words.first[position - 1]
                v = words.first[position]
            c = low
            while True:
                while c < high and (self._kinds[c] != LISTED_GOES_ON or self._keys[c] <= position):
                    c += 1
                while w < v and (
                    words.ends[w] <= position or self._begun(low, high, words.tags[w]) < 0
                ):
                    w += 1
                if c == high and w == v:
                    break
                end = self._keys[c] if c < high else words.ends[w]
                if w < v and words.ends[w] < end:
                    end = words.ends[w]
                self._add(position, LISTED_GOES_ON, end, CONTINUES_WORD, ANY_TAG)
                if c < high and self._keys[c] == end:
                    self._put_before(c)
                    c += 1
                if w < v and words.ends[w] == end:
                    self._put_before(self._begun(low, high, words.tags[w]))
                    w += 1
        self._first[self.lattice.n] = <int32_t> self._n_before
        self.lattice.positions = self._positions
        self.lattice.first = self._first
        self.lattice.before = self._before
        return 0

    cdef int _add(
        self, Py_ssize_t position, uint8_t kind, int32_t key, uint8_t constraint, int32_t tag
    ) except -1 nogil:
        """Add a column, with none before it as yet."""
        cdef Py_ssize_t c = self.lattice.n
        reserve(&self.buffers, self._positions, c + 2)
        reserve(&self.buffers, self._first, c + 2)
        reserve(&self.buffers, self._kinds, c + 2)
        reserve(&self.buffers, self._keys, c + 2)
        reserve(&self.buffers, self.constraints, c + 2)
        reserve(&self.buffers, self.tags, c + 2)
        self._positions[c] = <int32_t> position
        self._first[c] = <int32_t> self._n_before
        self._kinds[c] = kind
        self._keys[c] = key
        self.constraints[c] = constraint
        self.tags[c] = tag
        self.lattice.n += 1
        return 0

    cdef int _put_before(self, Py_ssize_t column) except -1 nogil:
        """Put a column before the one that was added last."""
        reserve(&self.buffers, self._before, self._n_before + 1)
        self._before[self._n_before] = <int32_t> column
        self._n_before += 1
        return 0

    cdef Py_ssize_t _begun(self, Py_ssize_t low, Py_ssize_t high, int32_t tag) noexcept nogil:
        """The column of listed words of a tag that begin at a character; -1 if there is none."""
        cdef Py_ssize_t c
        for c in range(low, high):
            if self._kinds[c] == LISTED_BEGINS and self._keys[c] == tag:
                return c
        return -1

    cdef bint _is_over(
        self, Py_ssize_t column, Py_ssize_t position, const ListedWords* words
    ) noexcept nogil:
        """True if a listed word, of the column of the character before, may end at a position."""
        cdef int32_t w
        if self._kinds[column] == LISTED_GOES_ON:
            return self._keys[column] == position
        if self._kinds[column] == LISTED_BEGINS:
            for w in range(words.first[position - 1], words.first[position]):
                if words.ends[w] == position and words.tags[w] == self._keys[column]:
                    return True
        return False
