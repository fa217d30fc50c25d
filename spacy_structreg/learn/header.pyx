"""The header of a model file: msgpack, whose objects are counted before any of them is made.

A byte of msgpack may stand for an object of a hundred, and five bytes announce a list of four
thousand million; a file that nobody trusts must not ask for the memory of either.
"""

# Not srsly's, which makes arrays of some mappings: objects are counted here before they are made.
import msgpack

from libc.stdint cimport int64_t, uint64_t

cdef enum:
    _CONTAINERS = 1 << 16
    _DEPTH = 32

MAX_CONTAINERS = _CONTAINERS
"""Most lists and mappings of a header."""

MAX_DEPTH = _DEPTH
"""Most levels of lists and mappings within one another."""


def unpack_header(bytes packed not None):
    """Decode msgpack bytes.

    Raises ValueError if they are no object of msgpack, or hold more than `MAX_CONTAINERS` lists and
    mappings, some more than `MAX_DEPTH` deep, or extension types.
    """
    try:
        _check(packed)
        return msgpack.unpackb(packed)
    except (msgpack.exceptions.UnpackException, RecursionError) as error:
        raise ValueError(str(error)) from error


cdef int _check(const unsigned char[::1] packed) except -1:
    """Check msgpack bytes against the limits of `unpack_header` before decoding."""
    # How many objects are still to come in each of the containers that are open.
    cdef uint64_t left[_DEPTH + 1]
    cdef Py_ssize_t depth = 1
    cdef Py_ssize_t n_containers = 0
    cdef Py_ssize_t length = packed.shape[0]
    cdef Py_ssize_t place = 0
    cdef unsigned char code
    # How many bytes follow the first one, and how many objects, -1 if there can be none; how many
    # bytes the number has that says so.
    cdef uint64_t size
    cdef int64_t n
    cdef int counted
    cdef int i
    left[0] = 1
    while depth:
        if not left[depth - 1]:
            depth -= 1
            continue
        left[depth - 1] -= 1
        if place >= length:
            raise ValueError("truncated msgpack data")
        code = packed[place]
        place += 1
        size = counted = 0
        n = -1
        if code < 0x80 or code >= 0xE0 or code in (0xC0, 0xC2, 0xC3):
            pass
        elif code < 0x90:
            n = 2 * (code - 0x80)
        elif code < 0xA0:
            n = code - 0x90
        elif code < 0xC0:
            size = code - 0xA0
        elif 0xC4 <= code <= 0xC6:
            counted = 1 << (code - 0xC4)
        elif 0xCA <= code <= 0xCB:
            size = 4 << (code - 0xCA)
        elif 0xCC <= code <= 0xD3:
            size = 1 << ((code - 0xCC) & 3)
        elif 0xD9 <= code <= 0xDB:
            counted = 1 << (code - 0xD9)
        elif code >= 0xDC:
            counted = 2 << (code & 1)
        else:
            raise ValueError(f"unsupported msgpack type {code:#x}")
        if place + counted > length:
            raise ValueError("truncated msgpack data")
        for i in range(counted):
            size = size << 8 | packed[place + i]
        place += counted
        if code >= 0xDC and code < 0xE0:
            n = size if code < 0xDE else 2 * size
            size = 0
        if size > <uint64_t> (length - place):
            raise ValueError("truncated msgpack data")
        place += size
        if n >= 0:
            n_containers += 1
            if n_containers > _CONTAINERS:
                raise ValueError(f"more than {MAX_CONTAINERS:,} lists and mappings")
            if depth == _DEPTH:
                raise ValueError(f"lists and mappings nested more than {MAX_DEPTH} deep")
            left[depth] = n
            depth += 1
    return 0
