"""Listed words of a sentence, and words with a bonus, as a lattice for a chain of labels.

Of listed words the ways through the lattice are the maximal sets. Where a word with a bonus may
begin, words that begin there have columns of their own as long as they may become it, so that the
step from it to the next word can bear the bonus. Each segmentation has one way.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t

from spacy_structreg.learn.memory cimport BufferOwner, capacity_of, reserve
from spacy_structreg.tasks.segmentation.text cimport (
    ANY_TAG,
    BEGINS_WORD,
    CONTINUES_WORD,
    FREE,
    NO_DEADLINE,
    OTHER_TAGS,
    BonusWords,
    ListedWords,
    bonus_beyond,
    bonus_of,
)

cdef enum:
    # What a character is part of.
    NOT_LISTED      # a word that is not chosen; key: the deadline
    LISTED_BEGINS   # the first character of a chosen word; key: the tag that it must have
    LISTED_GOES_ON  # a chosen word behind its first character; key: its end


cdef class WordLattice(BufferOwner):
    """Lattice columns with the constraints of their characters. It holds working memory.

    At each character there are as many columns as there are different deadlines to meet, ends of
    chosen words that it may be in, and tags of listed words that begin there, and one more: no more
    than a few times the length of the longest listed word. Words with a bonus that it may be in
    multiply those of no listed word.
    """

    def __reduce__(self):
        return WordLattice, ()

    @property
    def capacity(self):
        """Capacity of the working memory, in columns."""
        return capacity_of(self._positions)

    @property
    def n_columns(self):
        """Number of columns of the last sentence with listed words."""
        return self.lattice.n

    cdef int build(
        self, Py_ssize_t n, const uint8_t* constraints, const ListedWords* words,
        const BonusWords* bonuses,
    ) except -1 nogil:
        """Build the columns of a sentence of `n` ≥ 1 characters.

        constraints: of each of them, or NULL. words, bonuses: or NULL.
        """
        cdef Py_ssize_t low = 0
        cdef Py_ssize_t high = 0
        cdef Py_ssize_t position
        cdef Py_ssize_t c
        cdef Py_ssize_t d
        cdef double score
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
            c = low
            while c < high and self._kinds[c] == NOT_LISTED:
                d = c + 1
                while d < high and self._kinds[d] == NOT_LISTED and self._keys[d] == self._keys[c]:
                    d += 1
                if self._keys[c] > position:
                    self._add_others(
                        position, self._keys[c], constraint, c, d, words, bonuses
                    )
                c = d
            # No listed word, behind one.
            end = NO_DEADLINE if words == NULL else words.deadlines[position]
            if is_over and end > position:
                self._add_others(
                    position, end, BEGINS_WORD if position else FREE, c, high, words, bonuses
                )
            if words == NULL:
                continue
            # A listed word begins.
            for w in range(words.first[position], words.first[position + 1]):
                v = words.first[position]
                while words.tags[v] != words.tags[w]:
                    v += 1
                if v < w:
                    continue
                self._add(position, LISTED_BEGINS, words.tags[w], BEGINS_WORD, words.tags[w])
                for c in range(low, high):
                    if self._may_end(c, position, words, bonuses, &score):
                        self._put_before(c, score)
                self._drop_unreached(position)
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
                    self._put_before(c, 0.0)
                    c += 1
                if w < v and words.ends[w] == end:
                    self._put_before(self._begun(low, high, words.tags[w]), 0.0)
                    w += 1
        self._first[self.lattice.n] = <int32_t> self._n_before
        self.lattice.positions = self._positions
        self.lattice.first = self._first
        self.lattice.before = self._before
        self.lattice.scores = NULL
        self.lattice.last = NULL
        if bonuses != NULL:
            reserve(&self.buffers, self._last, self.lattice.n)
            self.lattice.scores = self._scores
            self.lattice.last = self._last
            for c in range(self.lattice.n):
                if self._positions[c] == n - 1:
                    if not self._may_end(c, n, words, bonuses, &score):
                        score = -INFINITY
                    self._last[c] = score
        return 0

    cdef int _add_others(
        self, Py_ssize_t position, int32_t deadline, uint8_t constraint, Py_ssize_t low,
        Py_ssize_t high, const ListedWords* words, const BonusWords* bonuses,
    ) except -1 nogil:
        """Add the columns of no listed word of one deadline; `low` to `high` may be before them."""
        cdef Py_ssize_t c
        cdef bint by_bonus = False
        cdef bint has_others = False
        cdef bint goes_on
        cdef int32_t w
        cdef int32_t v
        if bonuses != NULL:
            by_bonus = bonuses.first[position] < bonuses.first[position + 1]
            for c in range(low, high):
                by_bonus = by_bonus or self._starts[c] >= 0
        if not by_bonus:
            self._add(position, NOT_LISTED, deadline, constraint, ANY_TAG)
            for c in range(low, high):
                if self._kinds[c] == NOT_LISTED or self._is_over(c, position, words):
                    self._put_before(c, 0.0)
            return 0
        if constraint != CONTINUES_WORD:
            for w in range(bonuses.first[position], bonuses.first[position + 1]):
                if bonuses.tags[w] == ANY_TAG:
                    continue
                v = bonuses.first[position]
                while bonuses.tags[v] != bonuses.tags[w]:
                    v += 1
                if v < w:
                    continue
                has_others = True
                self._add_begin(
                    position, deadline, <int32_t> position, bonuses.tags[w], low, high, words,
                    bonuses,
                )
            self._add_begin(
                position, deadline,
                -1 if bonuses.first[position] == bonuses.first[position + 1]
                else <int32_t> position,
                OTHER_TAGS if has_others else ANY_TAG, low, high, words, bonuses,
            )
        if position == 0:
            return 0
        # A word that has begun before, and may become one with a bonus.
        for c in range(low, high):
            if self._goes_on(c, position, bonuses):
                self._add(position, NOT_LISTED, deadline, CONTINUES_WORD, ANY_TAG)
                w = <int32_t> (self.lattice.n - 1)
                self._starts[w] = self._starts[c]
                self._start_tags[w] = self._start_tags[c]
                self._must_be[w] = self._must_be[c] or constraint == BEGINS_WORD
                self._put_before(c, 0.0)
        # One that may not, any more.
        if constraint == BEGINS_WORD:
            return 0
        self._add(position, NOT_LISTED, deadline, CONTINUES_WORD, ANY_TAG)
        for c in range(low, high):
            goes_on = self._goes_on(c, position, bonuses)
            if self._kinds[c] == NOT_LISTED and not goes_on and not self._must_be[c]:
                self._put_before(c, 0.0)
        self._drop_unreached(position)
        return 0

    cdef int _add_begin(
        self, Py_ssize_t position, int32_t deadline, int32_t start, int32_t tag, Py_ssize_t low,
        Py_ssize_t high, const ListedWords* words, const BonusWords* bonuses,
    ) except -1 nogil:
        """Add a column of words that begin at a position, and are not listed."""
        cdef Py_ssize_t c
        cdef double score
        self._add(position, NOT_LISTED, deadline, BEGINS_WORD if position else FREE, tag)
        c = self.lattice.n - 1
        self._starts[c] = start
        self._start_tags[c] = tag
        for c in range(low, high):
            if self._may_end(c, position, words, bonuses, &score):
                self._put_before(c, score)
        self._drop_unreached(position)
        return 0

    cdef bint _may_end(
        self, Py_ssize_t column, Py_ssize_t position, const ListedWords* words,
        const BonusWords* bonuses, double* score,
    ) noexcept nogil:
        """True if a word of a column of the character before may end; `score` gets its bonus."""
        cdef bint has_bonus = False
        score[0] = 0.0
        if self._kinds[column] != NOT_LISTED:
            return self._is_over(column, position, words)
        if self._starts[column] >= 0:
            has_bonus = bonus_of(
                bonuses, self._starts[column], position, self._start_tags[column], score
            )
        return has_bonus or not self._must_be[column]

    cdef bint _goes_on(
        self, Py_ssize_t column, Py_ssize_t position, const BonusWords* bonuses
    ) noexcept nogil:
        """True if a word of a column of the character before may become one with a bonus."""
        return self._starts[column] >= 0 and bonus_beyond(
            bonuses, self._starts[column], position, self._start_tags[column], NO_DEADLINE
        )

    cdef void _drop_unreached(self, Py_ssize_t position) noexcept nogil:
        """Drop the column that was added last, if none is before it."""
        if position and self._first[self.lattice.n - 1] == self._n_before:
            self.lattice.n -= 1

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
        reserve(&self.buffers, self._starts, c + 2)
        reserve(&self.buffers, self._start_tags, c + 2)
        reserve(&self.buffers, self._must_be, c + 2)
        self._positions[c] = <int32_t> position
        self._first[c] = <int32_t> self._n_before
        self._kinds[c] = kind
        self._keys[c] = key
        self.constraints[c] = constraint
        self.tags[c] = tag
        self._starts[c] = -1
        self._start_tags[c] = ANY_TAG
        self._must_be[c] = False
        self.lattice.n += 1
        return 0

    cdef int _put_before(self, Py_ssize_t column, double score) except -1 nogil:
        """Put a column before the one that was added last; `score` is that of the step."""
        reserve(&self.buffers, self._before, self._n_before + 1)
        reserve(&self.buffers, self._scores, self._n_before + 1)
        self._before[self._n_before] = <int32_t> column
        self._scores[self._n_before] = score
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
