"""Tables for the spelling of words: kinds of characters, and letters without case.

Both tables cover `features.character_classes.TABLE_SIZE` code points, and mean the same on every
version of Python: case is told only within blocks whose letters are all assigned.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.features.character_classes import ALPHABETS, TABLE_SIZE, type_table

UPPER_CASE: Final = len(ALPHABETS["extended"]) + 1
"""The kind of an upper-case letter; other characters have their type in the extended alphabet."""

# Latin, Greek, Cyrillic, Armenian, and full-width Latin.
_CASED: Final = (
    (0x41, 0x24F),
    (0x370, 0x52F),
    (0x531, 0x556),
    (0x1E00, 0x1FFF),
    (0xFF21, 0xFF3A),
)


def _lower_cases() -> NDArray[np.uint32]:
    """The table that `lower_case_table` gives."""
    table = np.arange(TABLE_SIZE, dtype=np.uint32)
    for first, last in _CASED:
        for code in range(first, last + 1):
            lower = chr(code).lower()
            if len(lower) == 1:
                table[code] = ord(lower)
    table.setflags(write=False)
    return table


# Made once, when the module is imported, as the tables of `features.character_classes` are.
_LOWER_CASES: Final = _lower_cases()

_SHAPES: Final[NDArray[np.uint8]] = type_table("extended").copy()
_SHAPES[np.arange(TABLE_SIZE) != _LOWER_CASES] = UPPER_CASE
_SHAPES.setflags(write=False)


def lower_case_table() -> NDArray[np.uint32]:
    """For every character the one without upper case; the length of a word never changes."""
    return _LOWER_CASES


def shape_table() -> NDArray[np.uint8]:
    """The kind of every character: its type in the extended alphabet, or `UPPER_CASE`."""
    return _SHAPES
