"""Counts of the n-grams of 2 to 4 characters of a text, and of what stands beside them.

A text is parted into chunks, of any size and in any order. Of each, all places are sorted by the
five characters that begin there, so that equal n-grams, and what follows them, lie side by side;
and once more by the five that end there, read backwards. Sorted *runs* of all chunks are merged,
and the sums of merged records are the same whatever the chunks were: nothing is estimated.

A character has a code of 16 bits, so that an n-gram is one number of 64: its code point, or for
those beyond the first plane of Unicode one of 2,048 codes that they share; U+0000 has that of
U+FFFF. Code 0 stands beyond the ends of a sentence.

A record of a run is two numbers: the codes of four characters, the first one highest, zeros behind
the end of a sentence; and that of the fifth (16 bits) with how often all of them stand there (48).
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from spacy_structreg.learn.memory cimport BufferOwner, reserve

import numpy as np

cdef extern from "Python.h":
    int PyUnicode_KIND(str text) noexcept
    void* PyUnicode_DATA(str text) noexcept

cdef enum:
    N_CODES = 0x10000
    TABLE = 0x20000
    # Buckets of fewer keys are sorted by insertion.
    FEW = 40
    # Zeros behind the text, so that what begins at any place can be read.
    ROOM = 8


cdef void sort_keys(uint64_t* keys, uint64_t* scratch, Py_ssize_t n) noexcept nogil:
    """Sort numbers: byte by byte from the lowest on, or, if they are few, by insertion."""
    cdef uint32_t counts[8][256]
    cdef uint32_t total
    cdef uint32_t count
    cdef uint64_t* source = keys
    cdef uint64_t* target = scratch
    cdef uint64_t* other
    cdef uint64_t key
    cdef Py_ssize_t i
    cdef Py_ssize_t j
    cdef int b
    cdef int d
    if n < FEW:
        for i in range(1, n):
            key = keys[i]
            j = i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return
    memset(counts, 0, sizeof(counts))
    for i in range(n):
        key = keys[i]
        for b in range(8):
            counts[b][(key >> (8 * b)) & 0xFF] += 1
    for b in range(8):
        if counts[b][(source[0] >> (8 * b)) & 0xFF] == n:
            continue
        total = 0
        for d in range(256):
            count = counts[b][d]
            counts[b][d] = total
            total += count
        for i in range(n):
            key = source[i]
            d = (key >> (8 * b)) & 0xFF
            target[counts[b][d]] = key
            counts[b][d] += 1
        other = source
        source = target
        target = other
    if source != keys:
        memcpy(keys, source, n * sizeof(uint64_t))


cdef class TextChunk(BufferOwner):
    """Counter of the n-grams of a chunk of text.

    tables: of each code point below 0x20000, or further, its code, 0 for white space: uint16; and
        whether a sentence ends behind it: uint8. Those beyond have codes of their own and end none.
    Raises ValueError if the tables are shorter, or differ in length.
    """

    def __init__(self, tables):
        self.tables = tables
        self._codes, self._ends = tables
        if not TABLE <= self._codes.shape[0] == self._ends.shape[0]:
            raise ValueError(f"the character tables must have at least {TABLE:,} entries")
        self._n = 0
        reserve(&self.buffers, self._text, ROOM)
        reserve(&self.buffers, self._begins, N_CODES + 1)

    def add(self, str text not None):
        """Add a text; its end is that of a sentence, too.

        Raises ValueError if the chunk would have about a thousand million characters.
        """
        cdef int kind = PyUnicode_KIND(text)
        cdef const void* characters = PyUnicode_DATA(text)
        cdef Py_ssize_t n = len(text)
        if self._n + 2 * n >= <Py_ssize_t> 1 << 31:
            raise ValueError("text too long: about a billion characters; split it")
        with nogil:
            self._add(kind, characters, n)

    cdef int _add(self, int kind, const void* characters, Py_ssize_t n) except -1 nogil:
        cdef const uint16_t* codes = &self._codes[0]
        cdef const uint8_t* ends = &self._ends[0]
        cdef Py_ssize_t n_codes = self._codes.shape[0]
        cdef uint16_t* text
        cdef Py_ssize_t place = self._n
        cdef Py_ssize_t i
        cdef uint32_t character
        # A sentence takes a place more than its characters.
        reserve(&self.buffers, self._text, self._n + 2 * n + 1 + ROOM)
        text = self._text
        for i in range(n):
            if kind == 1:
                character = (<const uint8_t*> characters)[i]
            elif kind == 2:
                character = (<const uint16_t*> characters)[i]
            else:
                character = (<const uint32_t*> characters)[i]
            if character >= n_codes:
                text[place] = <uint16_t> code_of(character)
                place += 1
                continue
            text[place] = codes[character]
            place += text[place] != 0
            if ends[character] and place and text[place - 1]:
                text[place] = 0
                place += 1
        if place and text[place - 1]:
            text[place] = 0
            place += 1
        self._n = place
        return 0

    @property
    def frequencies(self):
        """Counts of the codes: int64 of shape (65536,); code 0 is the end of a sentence."""
        if not self._n:
            return np.zeros(N_CODES, np.int64)
        return np.bincount(np.asarray(<uint16_t[:self._n]> self._text), minlength=N_CODES)

    def runs(self):
        """Followers and predecessors of n-grams: two runs, uint64 of shape (n, 2) each.

        The second is of the text read backwards.
        """
        cdef uint16_t code
        cdef uint64_t[:, ::1] run
        cdef Py_ssize_t n
        cdef Py_ssize_t i
        found = []
        for _ in range(2):
            with nogil:
                n = self._sort()
            array = np.empty((n, 2), np.uint64)
            run = array
            if n:
                with nogil:
                    self._write(&run[0, 0])
            found.append(array)
            # The zero at the end stays there.
            for i in range((self._n - 1) // 2):
                code = self._text[i]
                self._text[i] = self._text[self._n - 2 - i]
                self._text[self._n - 2 - i] = code
        return tuple(found)

    cdef Py_ssize_t _sort(self) except -1 nogil:
        """Sort all places with a bigram by what begins there; returns how many differ."""
        cdef uint16_t* text = self._text
        cdef Py_ssize_t* begins = self._begins
        cdef Py_ssize_t n = self._n
        cdef Py_ssize_t total = 0
        cdef Py_ssize_t largest = 0
        cdef Py_ssize_t count
        cdef Py_ssize_t i
        cdef uint64_t rest = 0
        memset(text + n, 0, ROOM * sizeof(uint16_t))
        memset(begins, 0, (N_CODES + 1) * sizeof(Py_ssize_t))
        for i in range(n):
            begins[text[i]] += text[i] != 0 and text[i + 1] != 0
        for i in range(N_CODES):
            count = begins[i]
            begins[i] = total
            total += count
            largest = max(largest, count)
        begins[N_CODES] = total
        reserve(&self.buffers, self._keys, total)
        reserve(&self.buffers, self._scratch, largest)
        for i in range(n - 1, -1, -1):
            # The four characters behind this one.
            rest = (<uint64_t> text[i + 1] << 48 | rest >> 16) if text[i + 1] else 0
            if text[i] and rest:
                self._keys[begins[text[i]]] = rest
                begins[text[i]] += 1
        # Each has moved to where the next one began.
        total = 0
        for i in range(N_CODES):
            count = begins[i]
            begins[i] = total
            if count > total:
                sort_keys(self._keys + total, self._scratch, count - total)
            total = count
        count = 0
        for i in range(N_CODES):
            for n in range(begins[i], begins[i + 1]):
                count += n == begins[i] or self._keys[n] != self._keys[n - 1]
        return count

    cdef Py_ssize_t _write(self, uint64_t* run) noexcept nogil:
        cdef uint64_t key
        cdef uint64_t count
        cdef Py_ssize_t written = 0
        cdef Py_ssize_t i
        cdef Py_ssize_t j
        for i in range(N_CODES):
            j = self._begins[i]
            while j < self._begins[i + 1]:
                key = self._keys[j]
                count = 0
                while j < self._begins[i + 1] and self._keys[j] == key:
                    count += 1
                    j += 1
                run[2 * written] = <uint64_t> i << 48 | key >> 16
                run[2 * written + 1] = (key & 0xFFFF) << 48 | count
                written += 1
        return written


cdef inline bint precedes(const MergedRun* one, const MergedRun* other) noexcept nogil:
    """True if the record of a run comes before that of another."""
    return (one.key < other.key) | ((one.key == other.key) & (one.tail < other.tail))


cdef class RunMerger(BufferOwner):
    """Merges runs, and gives the n-grams of 2 to 4 characters that occur often enough.

    runs: as `TextChunk.runs` makes them, all of one direction. They may lie in a mapped file.
    minimum: what occurs less often is left out; may be raised on the way.
    """

    def __init__(self, runs, long long minimum):
        cdef const uint64_t[:, ::1] view
        cdef Py_ssize_t i
        self.minimum = minimum
        self._runs = [run for run in runs if len(run)]
        self._n = 0
        self._begun = False
        reserve(&self.buffers, self._heap, len(self._runs))
        for run in self._runs:
            view = run
            if view.shape[1] != 2:
                raise ValueError("a run must have records of two numbers")
            self._heap[self._n].key = view[0, 0]
            self._heap[self._n].tail = view[0, 1]
            self._heap[self._n].next = &view[0, 0] + 2
            self._heap[self._n].end = &view[0, 0] + 2 * view.shape[0]
            self._n += 1
        for i in range(self._n // 2 - 1, -1, -1):
            self._sift(i)

    def raise_minimum(self, long long minimum):
        """Set the minimum count of further n-grams."""
        self.minimum = minimum

    def next(self, Py_ssize_t room):
        """Up to `room` (at least 3) further n-grams; none at the end.

        Returns uint64 codes, the first one highest and zeros behind shorter n-grams; int64 how
        often each occurs; and int64 how many different characters follow it, and how many sentences
        it ends.
        """
        cdef uint64_t[::1] keys
        cdef long long[::1] frequencies
        cdef long long[::1] varieties
        cdef Py_ssize_t filled
        room = max(room, 3)
        arrays = (np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.int64))
        keys, frequencies, varieties = arrays
        with nogil:
            filled = self._merge(&keys[0], &frequencies[0], &varieties[0], room)
        return tuple([array[:filled] for array in arrays])

    cdef void _sift(self, Py_ssize_t at) noexcept nogil:
        cdef MergedRun* heap = self._heap
        cdef MergedRun moved = heap[at]
        cdef Py_ssize_t child = 2 * at + 1
        while child < self._n:
            # Which of two is less cannot be guessed, so that it is better not to branch.
            if child + 1 < self._n:
                child += precedes(&heap[child + 1], &heap[child])
            if not precedes(&heap[child], &moved):
                break
            heap[at] = heap[child]
            at = child
            child = 2 * at + 1
        heap[at] = moved

    cdef Py_ssize_t _merge(
        self, uint64_t* keys, long long* frequencies, long long* varieties, Py_ssize_t room
    ) noexcept nogil:
        cdef MergedRun* top = self._heap
        cdef Py_ssize_t filled = 0
        cdef uint64_t key
        cdef uint64_t fifth
        cdef uint64_t count
        cdef int shared
        cdef int k
        cdef uint64_t following
        while self._n and filled + 3 <= room:
            key = top.key
            fifth = top.tail >> 48
            count = 0
            while self._n and top.key == key and top.tail >> 48 == fifth:
                count += top.tail << 16 >> 16
                if top.next == top.end:
                    self._n -= 1
                    top[0] = top[self._n]
                else:
                    top.key = top.next[0]
                    top.tail = top.next[1]
                    top.next += 2
                self._sift(0)
            # How many of the first four characters are those of the record before.
            shared = 0
            if self._begun:
                while shared < 4 and not (self._key ^ key) >> (48 - 16 * shared):
                    shared += 1
                filled = self._close(shared, keys, frequencies, varieties, filled)
            self._begun = True
            self._key = key
            for k in range(3):
                # The n-gram of k + 2 characters, if there is one, and what follows it.
                if not (key >> (32 - 16 * k)) & 0xFFFF:
                    break
                self._frequency[k] += count
                following = fifth if k == 2 else (key >> (16 - 16 * k)) & 0xFFFF
                if not following:
                    self._variety[k] += count
                elif shared < k + 3:
                    self._variety[k] += 1
        if not self._n and self._begun and filled + 3 <= room:
            filled = self._close(0, keys, frequencies, varieties, filled)
            self._begun = False
        return filled

    cdef Py_ssize_t _close(
        self, int shared, uint64_t* keys, long long* frequencies, long long* varieties,
        Py_ssize_t filled,
    ) noexcept nogil:
        """Give the n-grams of the record before that the next does not begin with."""
        cdef int k
        for k in range(max(shared - 1, 0), 3):
            if self._frequency[k] and self._frequency[k] >= self.minimum:
                keys[filled] = self._key >> (32 - 16 * k) << (32 - 16 * k)
                frequencies[filled] = self._frequency[k]
                varieties[filled] = self._variety[k]
                filled += 1
            self._frequency[k] = 0
            self._variety[k] = 0
        return filled
