"""Classes of characters: types, half-width forms, and how they join.

Everything is written down as ranges of code points, so that a model means the same on every
version of Python. Tables cover the first two planes of Unicode (`TABLE_SIZE` code points);
characters beyond them, rare Han characters nearly all, have type ``other`` and join nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

TABLE_SIZE: Final = 0x20000

_Ranges = Iterable[tuple[int, int]]

_DIGITS: _Ranges = [(0x30, 0x39), (0xFF10, 0xFF19)]
_LETTERS: _Ranges = [
    (0x41, 0x5A), (0x61, 0x7A), (0xAA, 0xAA), (0xB5, 0xB5), (0xBA, 0xBA), (0xC0, 0xD6),
    (0xD8, 0xF6), (0xF8, 0x2AF), (0x370, 0x373), (0x376, 0x377), (0x37B, 0x37D), (0x386, 0x386),
    (0x388, 0x481), (0x48A, 0x52F), (0x1E00, 0x1FBC), (0x2C60, 0x2C7F), (0xA720, 0xA7FF),
    (0xFF21, 0xFF3A), (0xFF41, 0xFF5A),
]  # fmt: skip
_PUNCTUATION: _Ranges = [
    (0x00, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0xA9), (0xAB, 0xB4), (0xB6, 0xB9),
    (0xBB, 0xBF), (0xD7, 0xD7), (0xF7, 0xF7), (0x2000, 0x2BFF), (0x2E00, 0x2E7F),
    (0x3000, 0x3004), (0x3008, 0x3020), (0x3030, 0x3030), (0x303D, 0x303F), (0x30FB, 0x30FB),
    (0x3200, 0x33FF), (0xFE10, 0xFE1F), (0xFE30, 0xFE6F), (0xFF01, 0xFF0F), (0xFF1A, 0xFF20),
    (0xFF3B, 0xFF40), (0xFF5B, 0xFF65), (0xFFE0, 0xFFEF), (0x1F000, 0x1FAFF),
]  # fmt: skip
_HAN_NUMERALS = "〇零一二三四五六七八九十百千万亿萬億两兩壹贰叁肆伍陆柒捌玖拾佰仟"
_DATE_CHARACTERS = "年月日号號时時分秒点點"
_DOTS = ".．·・•‧∙⋅"
_DASHES = "-－—–―‐‑−~～〜"

ALPHABETS: Final[Mapping[str, tuple[str, ...]]] = {
    "g10": ("digit", "letter", "punctuation", "other"),
    "extended": (
        "digit", "letter", "numeral", "date", "dot", "dash", "punctuation", "other",
    ),
}  # fmt: skip
"""The types that an alphabet tells apart. ``g10``: Gao, Qiu & Huang 2010, section 4.1;
``extended`` adds Han numerals, characters of dates, dots and dashes."""

WHITE_SPACE: Final = 1
EXTENDS: Final = 2
JOINS_NEXT: Final = 4
REGIONAL: Final = 8
ZERO_WIDTH: Final = 16

_WHITE_SPACE: _Ranges = [
    (0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
]  # fmt: skip
_EXTENDS: _Ranges = [
    (0x300, 0x36F), (0x483, 0x489), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x200C, 0x200D),
    (0x20D0, 0x20FF), (0x302A, 0x302F), (0x3099, 0x309A), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F),
    (0x1F3FB, 0x1F3FF),
]  # fmt: skip
# Spaces of no width, marks of direction, soft hyphens, byte order marks.
_ZERO_WIDTH: _Ranges = [
    (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200B), (0x200E, 0x200F),
    (0x202A, 0x202E), (0x2060, 0x206F), (0xFEFF, 0xFEFF),
]  # fmt: skip

RUNS: Final[Mapping[str, _Ranges]] = {
    "word": [(0x41, 0x5A), (0x61, 0x7A), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A)],
    "number": _DIGITS,
}
"""The characters of which runs are one word (`features.typed_runs.LatinRuns`): Latin letters and
Arabic digits of either width, as ranges of code points, the last one included."""


def _fill(table: NDArray[np.uint8], ranges: _Ranges, value: int) -> None:
    for first, last in ranges:
        table[first : last + 1] = value


def _types(alphabet: str) -> NDArray[np.uint8]:
    """The table that `type_table` gives."""
    number = {name: i + 1 for i, name in enumerate(ALPHABETS[alphabet])}
    table = np.full(TABLE_SIZE, number["other"], dtype=np.uint8)
    _fill(table, _PUNCTUATION, number["punctuation"])
    _fill(table, _DIGITS, number["digit"])
    _fill(table, _LETTERS, number["letter"])
    if alphabet == "extended":
        for name, characters in {
            "numeral": _HAN_NUMERALS,
            "date": _DATE_CHARACTERS,
            "dot": _DOTS,
            "dash": _DASHES,
        }.items():
            table[[ord(character) for character in characters]] = number[name]
    table.setflags(write=False)
    return table


# Tables are made once, when the module is imported: what threads make in a cache of functions may
# be made twice.
_TYPES: Final = {alphabet: _types(alphabet) for alphabet in ALPHABETS}

_HALF_WIDTHS: Final = np.arange(TABLE_SIZE, dtype=np.uint32)
_HALF_WIDTHS[0xFF01:0xFF5F] -= 0xFEE0
_HALF_WIDTHS.setflags(write=False)

_PROPERTIES: Final = np.zeros(TABLE_SIZE, dtype=np.uint8)
_fill(_PROPERTIES, _WHITE_SPACE, WHITE_SPACE)
_fill(_PROPERTIES, _EXTENDS, EXTENDS)
_fill(_PROPERTIES, _ZERO_WIDTH, EXTENDS | ZERO_WIDTH)
_PROPERTIES[0x200D] = EXTENDS | JOINS_NEXT
_fill(_PROPERTIES, [(0x1F1E6, 0x1F1FF)], REGIONAL)
_PROPERTIES.setflags(write=False)

_RUNS: Final = np.zeros(TABLE_SIZE, dtype=np.uint8)
for _number, _ranges in enumerate(RUNS.values(), 1):
    _fill(_RUNS, _ranges, _number)
_RUNS.setflags(write=False)


def type_table(alphabet: str) -> NDArray[np.uint8]:
    """The type of every character below `TABLE_SIZE`: 1 + its place in `ALPHABETS[alphabet]`.

    Zero is left for the padding beyond the ends of a sentence. Raises ValueError for an alphabet
    that does not exist.
    """
    if alphabet not in _TYPES:
        raise ValueError(
            f"unknown alphabet of character types {alphabet!r}; choose from {', '.join(ALPHABETS)}"
        )
    return _TYPES[alphabet]


def half_width_table() -> NDArray[np.uint32]:
    """Return the normalized code point of each character below `TABLE_SIZE`: full-width forms of
    printable ASCII become that ASCII character, all others stay. The length never changes."""
    return _HALF_WIDTHS


def property_table() -> NDArray[np.uint8]:
    """Flags of every character below `TABLE_SIZE`, for what no segmentation may do.

    `WHITE_SPACE`: is never part of a word. `EXTENDS`: belongs to the character before it
    (combining marks, variation selectors, emoji modifiers). `JOINS_NEXT`: so does the character
    after it (zero width joiner). `REGIONAL`: two in a row are one flag. `ZERO_WIDTH`: is not to be
    seen; it belongs to the character after it where none is before it.
    """
    return _PROPERTIES


def run_table() -> NDArray[np.uint8]:
    """For every character below `TABLE_SIZE` 1 + its place in `RUNS`; 0 if it has none."""
    return _RUNS
