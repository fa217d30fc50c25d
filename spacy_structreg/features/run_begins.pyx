"""A fast search for the characters of a text that may begin a typed run."""

from libc.stdint cimport uint16_t
from libc.string cimport memset

import re

cdef extern from "Python.h":
    int PyUnicode_KIND(str text)
    const void* PyUnicode_DATA(str text)
    Py_UCS4 PyUnicode_READ(int kind, const void* data, Py_ssize_t index) nogil

cdef enum:
    TABLE = 0x20000
    # What a character is; the rest are pairs that it begins.
    ALONE = 1
    TWICE = 2
    FIRST_PAIR = 4
    MOST_PAIRS = 14

# A character of a class, or a range, with or without backslashes.
_RANGE = re.compile(r"\\?(.)(?:-\\?(.))?", re.DOTALL)


cdef class RunBegins:
    """Finds characters by themselves and by the one that follows.

    Each argument is what stands in the brackets of a class of a regular expression, without
    classes such as ``\\d``. Characters beyond U+1FFFF never count.

    alone: characters that count whatever follows. twice: those that do if the same one follows.
    pairs: classes of first and second characters.
    """

    cdef readonly str alone
    cdef readonly str twice
    cdef readonly tuple pairs
    cdef uint16_t _firsts[TABLE]
    cdef uint16_t _seconds[TABLE]

    def __init__(self, str alone not None, str twice not None, pairs):
        cdef int number
        self.alone, self.twice, self.pairs = alone, twice, tuple(pairs)
        if len(self.pairs) > MOST_PAIRS:
            raise ValueError(f"there may be {MOST_PAIRS} pairs, not {len(self.pairs)}")
        memset(self._firsts, 0, sizeof(self._firsts))
        memset(self._seconds, 0, sizeof(self._seconds))
        _mark(self._firsts, alone, ALONE)
        _mark(self._firsts, twice, TWICE)
        for number, (first, second) in enumerate(self.pairs):
            _mark(self._firsts, first, FIRST_PAIR << number)
            _mark(self._seconds, second, FIRST_PAIR << number)

    def __reduce__(self):
        return RunBegins, (self.alone, self.twice, self.pairs)

    def next(self, str text not None, Py_ssize_t at=0):
        """The offset of the next such character from `at` on; -1 if there is none.

        Raises ValueError if `at` is below 0.
        """
        cdef int kind = PyUnicode_KIND(text)
        cdef const void* data = PyUnicode_DATA(text)
        cdef Py_ssize_t n = len(text)
        cdef Py_UCS4 character
        cdef Py_UCS4 after
        cdef uint16_t flags
        if at < 0:
            raise ValueError(f"there is no offset {at} in a text")
        for at in range(at, n):
            character = PyUnicode_READ(kind, data, at)
            flags = self._firsts[character] if character < TABLE else 0
            if flags & ALONE:
                return at
            if flags and at + 1 < n:
                after = PyUnicode_READ(kind, data, at + 1)
                if flags & TWICE and after == character:
                    return at
                if after < TABLE and flags & self._seconds[after]:
                    return at
        return -1


cdef int _mark(uint16_t* table, str characters, int flag) except -1:
    """Set a flag of the characters of a class."""
    cdef Py_ssize_t code
    for first, last in _RANGE.findall(characters):
        for code in range(ord(first), min(ord(last or first), TABLE - 1) + 1):
            table[code] |= flag
    return 0
