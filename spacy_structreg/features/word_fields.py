"""The fields of words that feature templates read, by name, and their values as text.

`WORD_FIELDS` is the one table of taggers, parsers and labelers. What a field is in a model is a
number, which `tasks.word_fields` computes; two words have the same number if they have the same
text, so that inspection and explanations show the text.

Case and kinds of characters come from the tables of this module alone, which cover
`features.character_classes.TABLE_SIZE` code points, so that a model means the same on every version
of Python: case is told only within blocks whose letters are all assigned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.features.character_classes import ALPHABETS, TABLE_SIZE, type_table
from spacy_structreg.features.knowledge import CORPUS, GUIDE, WORD_CLASSES, WORD_LIST

MAX_LENGTH: Final = 15
MAX_AFFIX: Final = 6
MAX_NGRAM: Final = 6
MAX_CHARACTERS: Final = 64
"""Letter n-grams see no more characters of a word."""

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

# The characters that have upper case, and what they are without it.
_TRANSLATED: Final = {
    int(code): int(_LOWER_CASES[code])
    for code in np.flatnonzero(np.arange(TABLE_SIZE) != _LOWER_CASES)
}

_SIGNS: Final = {
    "digit": "0", "letter": "x", "numeral": "n", "date": "d", "dot": ".", "dash": "-",
    "punctuation": "p", "other": "o",
}  # fmt: skip
_UPPER: Final = "X"
# By kinds, which count from 1.
_SIGN_OF_KIND: Final = " " + "".join(_SIGNS[name] for name in ALPHABETS["extended"]) + _UPPER

_GREEK_NAMES: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "tau upsilon phi chi psi omega"
)
GREEK: Final = frozenset([*_GREEK_NAMES.split(), *map(chr, range(0x3B1, 0x3CA))])
"""Greek letters and their names."""

ROMAN: Final = frozenset(
    tens + ones
    for tens in ("", "X", "XX", "XXX")
    for ones in ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
) - {""}
"""The Roman numerals up to 39: single C, D, L and M are abbreviations more often than numbers."""


def lower_case_table() -> NDArray[np.uint32]:
    """For every character the one without upper case; the length of a word never changes."""
    return _LOWER_CASES


def shape_table() -> NDArray[np.uint8]:
    """The kind of every character: its type in the extended alphabet, or `UPPER_CASE`."""
    return _SHAPES


# Fields -------------------------------------------------------------------------------------------


def lower_case(word: str) -> str:
    """The word without upper case, of the same length."""
    return word.translate(_TRANSLATED)


def kinds(word: str) -> str:
    """A sign for each character: X upper-case letter, x other letter, 0 digit, n Han numeral,
    d character of dates, . dot, - dash, p other punctuation, o other."""
    return "".join([_SIGN_OF_KIND[_SHAPES[min(ord(c), TABLE_SIZE - 1)]] for c in word])


def shape(word: str) -> str:
    """`kinds` without repetitions: ``Xx`` for ``Word``."""
    return "".join([sign for sign, _ in groupby(kinds(word))])


def capitals(word: str) -> str:
    """The capitals of a word: none (it has no letters), lower, first, all or mixed."""
    letters = [sign for sign in kinds(word) if sign in (_UPPER, _SIGNS["letter"])]
    if not letters:
        return "none"
    if _UPPER not in letters:
        return "lower"
    if letters[0] == _UPPER and _UPPER not in letters[1:]:
        return "first"
    return "mixed" if _SIGNS["letter"] in letters else "all"


def digits(word: str) -> str:
    """The word without upper case, and with 0 for every digit."""
    pairs = zip(lower_case(word), kinds(word), strict=True)
    return "".join(["0" if sign == _SIGNS["digit"] else c for c, sign in pairs])


def parts(word: str) -> str:
    """The classes of the parts of a biomedical name: ``X-G`` for ``TNF-alpha`` or ``IFN-γ``.

    A part is a run of characters of one kind. G is a Greek letter or its name, R an upper-case
    Roman numeral (`ROMAN`) that is no beginning of a capitalized word; punctuation stands for
    itself, once for each run of the same character; other parts have the sign of their kind.
    """
    found = []
    at = 0
    signs = kinds(word)
    for sign, run in groupby(signs):
        end = at + len(list(run))
        part = word[at:end]
        if sign in (_UPPER, _SIGNS["letter"]) and lower_case(part) in GREEK:
            found.append("G")
        elif sign == _UPPER and part in ROMAN and signs[end : end + 1] != "x":
            found.append("R")
        elif sign == _SIGNS["punctuation"]:
            found += [character for character, _ in groupby(part)]
        else:
            found.append(sign)
        at = end
    return "".join(found)


def pattern(word: str) -> str:
    """The characters that are the same: ``ABA`` for ``试一试``, up to `MAX_LENGTH` characters."""
    return "".join([chr(ord("A") + word.index(c)) for c in word[:MAX_LENGTH]])


def length(longest: int, word: str) -> str:
    """Number of characters of the word, up to `longest`."""
    return str(min(len(word), longest))


def prefix(size: int, word: str) -> str | None:
    """The first `size` characters without case; None if the word is shorter."""
    return lower_case(word[:size]) if len(word) >= size else None


def suffix(size: int, word: str) -> str | None:
    """The last `size` characters without case; None if the word is shorter."""
    return lower_case(word[-size:]) if len(word) >= size else None


def only_character(word: str) -> str | None:
    """The word if it has one character, else None."""
    return word if len(word) == 1 else None


def letter_ngrams(word: str) -> list[str]:
    """The different letter n-grams of a word, n = 1 to `MAX_NGRAM`, with case.

    The ends of the word count as letters, and are written ``^`` and ``$``, and ``.`` where there is
    none: ``.a.``, ``^a.``, ``.a$`` and ``^a$`` for ``a``. An n-gram of ends alone is none.
    """
    word = word[:MAX_CHARACTERS]
    n = len(word)
    found: dict[str, None] = {}
    for start in range(-1, n):
        for end in range(max(start, 0) + 1, min(start + MAX_NGRAM, n + 1) + 1):
            text = word[max(0, start) : min(n, end)]
            if text:
                found[f"{'^' if start < 0 else '.'}{text}{'$' if end > n else '.'}"] = None
    return list(found)


def _identity(word: str) -> str:
    return word


@dataclass(frozen=True)
class WordField:
    """A field of words.

    text: its value, of a word as the model sees it; None for words without one. Where this depends
    on more than the word, there is no such function, and `tasks.word_fields.WordFields.text` tells.
    source: what it speaks of, in explanations.
    is_nullable: whether there are words without a value.
    """

    text: Callable[[str], str | None] | None = None
    source: str = CORPUS
    is_nullable: bool = False


def _affixes(
    first: str, others: str, affix: Callable[[int, str], str | None]
) -> dict[str, WordField]:
    names = [first, *(f"{others}{size}" for size in range(2, MAX_AFFIX + 1))]
    return {
        name: WordField(partial(affix, size), is_nullable=True)
        for size, name in enumerate(names, 1)
    }


PATH_LENGTHS: Final = (4, 6, 10, 20)
"""Lengths of the beginnings of paths in a tree of word classes."""

CLASS_FIELDS: Final = ("class", *(f"class{size}" for size in PATH_LENGTHS))
"""The fields of word classes: the class of a word, and the beginnings of its path."""

WORD_FIELDS: Final[Mapping[str, WordField]] = {
    "w": WordField(_identity),
    "lower": WordField(lower_case),
    **_affixes("start", "prefix", prefix),
    **_affixes("end", "suffix", suffix),
    "len": WordField(partial(length, MAX_LENGTH)),
    "len4": WordField(partial(length, 4)),
    "one": WordField(only_character, is_nullable=True),
    "kinds": WordField(kinds),
    "shape": WordField(shape),
    "pattern": WordField(pattern),
    "caps": WordField(capitals),
    "digits": WordField(digits),
    "parts": WordField(parts),
    "catstart": WordField(),
    "catend": WordField(),
    "tags": WordField(),
    "listed": WordField(source=WORD_LIST),
    **{name: WordField(source=WORD_CLASSES) for name in CLASS_FIELDS},
    "guide": WordField(source=GUIDE),
}
"""The fields by name, in the order of their numbers."""
