"""The header of a model file: msgpack, whose objects are counted before any of them is made.

A byte of msgpack may stand for an object of a hundred, and five bytes announce a list of four
thousand million; a file that nobody trusts must not ask for the memory of either.
"""

from __future__ import annotations

import struct
from typing import Any, Final

# Not srsly's, which makes arrays of some mappings: objects are counted here before they are made.
import msgpack

MAX_CONTAINERS: Final = 1 << 16
"""Most lists and mappings of a header."""

MAX_DEPTH: Final = 32
"""Most levels of lists and mappings within one another."""

# What begins with each byte: how many bytes follow it, and how many objects; -1 if there can be
# none.
_PLAIN: Final[dict[int, tuple[int, int]]] = {
    **dict.fromkeys((*range(0x80), *range(0xE0, 0x100), 0xC0, 0xC2, 0xC3), (0, -1)),
    **{code: (0, 2 * (code - 0x80)) for code in range(0x80, 0x90)},
    **{code: (0, code - 0x90) for code in range(0x90, 0xA0)},
    **{code: (code - 0xA0, -1) for code in range(0xA0, 0xC0)},
    **{0xCA + i: (n, -1) for i, n in enumerate((4, 8, 1, 2, 4, 8, 1, 2, 4, 8))},
}
# Where that is a number that follows the first byte: its form, and the objects for each that it
# counts; 0 if it counts bytes.
_COUNTED: Final = {
    **{0xC4 + i: (struct.Struct(form), 0) for i, form in enumerate((">B", ">H", ">I"))},
    **{0xD9 + i: (struct.Struct(form), 0) for i, form in enumerate((">B", ">H", ">I"))},
    **{0xDC + i: (struct.Struct(form), 1) for i, form in enumerate((">H", ">I"))},
    **{0xDE + i: (struct.Struct(form), 2) for i, form in enumerate((">H", ">I"))},
}


def unpack_header(packed: bytes) -> Any:
    """Decode msgpack bytes.

    Raises ValueError if they are no object of msgpack, or hold more than `MAX_CONTAINERS` lists and
    mappings, some more than `MAX_DEPTH` deep, or extension types.
    """
    try:
        _check(packed)
        return msgpack.unpackb(packed)
    except (IndexError, struct.error) as error:
        raise ValueError("truncated msgpack data") from error
    except (msgpack.exceptions.UnpackException, RecursionError) as error:
        raise ValueError(str(error)) from error


def _check(packed: bytes) -> None:
    """Check msgpack bytes against the limits of `unpack_header` before decoding."""
    # How many objects are still to come in each of the containers that are open.
    left = [1]
    n_containers = place = 0
    while left:
        if not left[-1]:
            left.pop()
            continue
        left[-1] -= 1
        code = packed[place]
        place += 1
        if code in _PLAIN:
            size, n = _PLAIN[code]
        elif code in _COUNTED:
            form, objects = _COUNTED[code]
            (count,) = form.unpack_from(packed, place)
            size = form.size + (0 if objects else count)
            n = objects * count if objects else -1
        else:
            raise ValueError(f"unsupported msgpack type {code:#x}")
        place += size
        if place > len(packed):
            raise ValueError("truncated msgpack data")
        if n >= 0:
            n_containers += 1
            left.append(n)
            if n_containers > MAX_CONTAINERS:
                raise ValueError(f"more than {MAX_CONTAINERS:,} lists and mappings")
            if len(left) > MAX_DEPTH:
                raise ValueError(f"lists and mappings nested more than {MAX_DEPTH} deep")
