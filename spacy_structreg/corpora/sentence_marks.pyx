"""A fast search for the marks of a text that may end sentences."""

from libc.stdint cimport int64_t, uint16_t

import numpy as np

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    const void* PyUnicode_DATA(object text)
    Py_UCS4 PyUnicode_READ(int kind, const void* data, Py_ssize_t index) nogil
    int Py_UNICODE_ISSPACE(Py_UCS4 character)

cdef enum:
    TABLE = 0x10000
    # What a character is.
    MARK = 1
    FULL_STOP = 2
    TERMINATOR = 4
    DOT = 8
    COLON = 16
    FOLLOWER = 32
    AFTER_DOT = 64
    SPECIAL = 128
    OPENER = 256
    CLOSER = 512
    # Ends of the sentences of a text of so many characters fit on the stack.
    FEW = 512


cdef bint is_han(Py_UCS4 character) noexcept nogil:
    """True if it is a Han character of the first plane."""
    return 0x3400 <= character <= 0x4DBF or 0x4E00 <= character <= 0x9FFF


cdef class SentenceMarks:
    """Finds the marks of a text that need a closer look, and ends of sentences that need none.

    Each argument is a string of characters, of which those beyond U+FFFF do not count.

    full_stops: marks that end a sentence if nothing special follows. special: what is special
        there; characters beyond U+FFFF are. terminators: marks that belong together with all
        `followers` behind them. dots: marks that end no sentence unless one of `after_dots`
        follows, or Han characters stand on both sides. breaks: other marks. Colons are marks if
        ``//`` follows. openers, closers: of brackets and quotes, in which full stops need a closer
        look; straight quotes are both.
    """

    cdef readonly dict classes
    cdef uint16_t _flags[TABLE]

    def __init__(
        self, *, full_stops, terminators, dots, breaks, followers, after_dots, special, openers,
        closers,
    ):
        cdef Py_ssize_t code
        cdef int flags
        self.classes = {
            "full_stops": full_stops, "terminators": terminators, "dots": dots, "breaks": breaks,
            "followers": followers, "after_dots": after_dots, "special": special,
            "openers": openers, "closers": closers,
        }
        for code in range(TABLE):
            self._flags[code] = 0
        for name, flags in {
            "full_stops": MARK | FULL_STOP,
            "terminators": MARK | TERMINATOR,
            "dots": MARK | DOT,
            "breaks": MARK,
            "followers": FOLLOWER,
            "after_dots": AFTER_DOT,
            "special": SPECIAL,
            "openers": OPENER,
            "closers": CLOSER,
        }.items():
            for code in map(ord, self.classes[name]):
                if code < TABLE:
                    self._flags[code] |= flags
        self._flags[<Py_ssize_t> ord(":")] |= MARK | COLON

    def __reduce__(self):
        return _marks, (self.classes,)

    def next(self, text not None, Py_ssize_t at, list ends not None, Py_ssize_t n_open=0):
        """The offset of the next mark from `at` on that needs a closer look; -1 if none does.

        Ends of sentences before it are added to `ends`; that of the text is no such end. Marks that
        only followers stand behind, to the end of the text, do not count. n_open: how many brackets
        and quotes are open at `at`. Takes time linear in what is passed over, if marks are taken
        together with their followers. Raises ValueError if `at` is below 0.
        """
        if not isinstance(text, str):
            raise TypeError(f"a text is a string, not {type(text).__name__}")
        if at < 0:
            raise ValueError(f"there is no offset {at} in a text")
        cdef int kind = PyUnicode_KIND(text)
        cdef const void* data = PyUnicode_DATA(text)
        cdef Py_ssize_t n = len(text)
        cdef bint is_end = True
        while True:
            at = self._next(kind, data, n, at, n_open, &is_end)
            if not is_end:
                return at
            n_open = 0
            ends.append(at)

    def ends_of_all(self, list texts not None, ends_of not None, Py_ssize_t longest):
        """The ends of the sentences of texts as offsets in all of them, one after the other.

        ends_of: gives those of one text, which it is asked for where a mark needs a closer look,
        white space comes first, or a sentence has more than `longest` characters. Returns int64,
        rising, the last that of all texts; empty texts have none. Raises TypeError for a text that
        is no string, or of a subclass.
        """
        cdef Py_ssize_t base = 0
        cdef Py_ssize_t found = 0
        cdef Py_ssize_t n_ends
        cdef Py_ssize_t i
        cdef str text
        for text in texts:
            base += len(text)
        ends = np.empty(base + 1, dtype=np.int64)
        cdef int64_t[::1] view = ends
        base = 0
        for text in texts:
            n_ends = self._plain_ends(text, longest, &view[found])
            if n_ends < 0:
                n_ends = 0
                for i in ends_of(text):
                    view[found + n_ends] = i
                    n_ends += 1
            for i in range(found, found + n_ends):
                view[i] += base
            found += n_ends
            base += len(text)
        return ends[:found]

    def ends_of_one(self, str text not None, ends_of not None, Py_ssize_t longest):
        """A list of the ends of the sentences of a text. As `ends_of_all`."""
        cdef int64_t few[FEW]
        cdef Py_ssize_t n_ends = -1
        cdef Py_ssize_t i
        # A sentence that ends here has a character at least.
        if len(text) <= FEW:
            n_ends = self._plain_ends(text, longest, few)
        if n_ends < 0:
            return ends_of(text)
        return [few[i] for i in range(n_ends)]

    cdef Py_ssize_t _plain_ends(self, str text, Py_ssize_t longest, int64_t* ends) noexcept:
        """Write the ends of the sentences of a text; return how many, -1 if one is not plain."""
        cdef int kind = PyUnicode_KIND(text)
        cdef const void* data = PyUnicode_DATA(text)
        cdef Py_ssize_t n = len(text)
        cdef Py_ssize_t found = 0
        cdef Py_ssize_t last = 0
        cdef Py_ssize_t at = 0
        cdef bint is_end = True
        if n == 0:
            return 0
        if Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, 0)):
            return -1
        while is_end:
            at = self._next(kind, data, n, at, 0, &is_end)
            if (at if is_end else n) - last > longest or (not is_end and at >= 0):
                return -1
            if is_end:
                ends[found] = last = at
                found += 1
        if last < n:
            ends[found] = n
            found += 1
        return found

    cdef Py_ssize_t _next(
        self, int kind, const void* data, Py_ssize_t n, Py_ssize_t at, Py_ssize_t n_open,
        bint* is_end,
    ) noexcept nogil:
        """The next end of a sentence that needs no closer look, or mark that does; -1 for none."""
        cdef Py_ssize_t end
        cdef Py_UCS4 character
        cdef Py_UCS4 after
        cdef int flags
        cdef bint is_quoted = False
        is_end[0] = False
        while at < n:
            character = PyUnicode_READ(kind, data, at)
            at += 1
            flags = self._flags[character] if character < TABLE else 0
            if flags & OPENER and flags & CLOSER:
                is_quoted = not is_quoted
                n_open += 1 if is_quoted else -1
            elif flags & OPENER:
                n_open += 1
            elif flags & CLOSER and n_open > 0:
                n_open -= 1
            if not flags & MARK:
                continue
            after = PyUnicode_READ(kind, data, at) if at < n else 0
            if (
                flags & FULL_STOP and n_open <= 0
                and at < n and after < TABLE and not self._flags[after] & SPECIAL
            ):
                is_end[0] = True
                return at
            if flags & COLON and (
                after != c"/" or at + 1 == n or PyUnicode_READ(kind, data, at + 1) != c"/"
            ):
                continue
            if (
                flags & DOT
                and (at == n or after >= TABLE or not self._flags[after] & AFTER_DOT)
                and not (at > 1 and is_han(after) and is_han(PyUnicode_READ(kind, data, at - 2)))
            ):
                continue
            if flags & TERMINATOR:
                end = at
                while end < n:
                    after = PyUnicode_READ(kind, data, end)
                    if after >= TABLE or not self._flags[after] & FOLLOWER:
                        break
                    end += 1
                if end == n:
                    return -1
            return at - 1
        return -1


def _marks(classes):
    return SentenceMarks(**classes)
