"""Spelling features of words for sequence labelers, as strings.

Case and kinds of characters come from the tables of `features.word_shapes` alone, so that a model
means the same on every version of Python. Of words longer than `MAX_CHARACTERS` characters, shapes
and letter n-grams see the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from itertools import groupby
from typing import Final

import numpy as np

from spacy_structreg.features.character_classes import ALPHABETS, TABLE_SIZE
from spacy_structreg.features.word_shapes import UPPER_CASE, lower_case_table, shape_table

MAX_CHARACTERS: Final = 64
MAX_LENGTH: Final = 15
MAX_AFFIX: Final = 6
MAX_NGRAM: Final = 6

_SIGNS: Final = {
    "digit": "0", "letter": "x", "numeral": "n", "date": "d", "dot": ".", "dash": "-",
    "punctuation": "p", "other": "o",
}  # fmt: skip
_UPPER: Final = "X"

_GREEK_NAMES: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "tau upsilon phi chi psi omega"
)
_GREEK: Final = frozenset([*_GREEK_NAMES.split(), *map(chr, range(0x3B1, 0x3CA))])
# The numerals up to 39; single C, D, L and M are abbreviations more often than numbers.
_ROMAN: Final = re.compile(r"(?=.)X{0,3}(IX|IV|V?I{0,3})")


# The characters that have upper case, and what they are without it.
_LOWER_CASES: Final = {
    int(code): int(lower_case_table()[code])
    for code in np.flatnonzero(lower_case_table() != np.arange(TABLE_SIZE))
}


def _sign_table() -> bytes:
    """The sign of the kind of every character below `TABLE_SIZE`."""
    signs = "".join(_SIGNS[name] for name in ALPHABETS["extended"])
    assert len(signs) + 1 == UPPER_CASE
    # Kinds count from 1.
    return np.frombuffer(f" {signs}{_UPPER}".encode(), dtype=np.uint8)[shape_table()].tobytes()


_SIGN_TABLE: Final = _sign_table()


def lower_case(word: str) -> str:
    """The word without upper case, of the same length."""
    return word.translate(_LOWER_CASES)


# Several atoms of one word are made of its kinds, one after the other.
@lru_cache(maxsize=1)
def kinds(word: str) -> str:
    """A sign for each character: X upper-case letter, x other letter, 0 digit, n Han numeral,
    d character of dates, . dot, - dash, p other punctuation, o other."""
    other = TABLE_SIZE - 1
    return bytes([_SIGN_TABLE[min(ord(c), other)] for c in word[:MAX_CHARACTERS]]).decode()


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
    zero = ord(_SIGNS["digit"])
    return "".join(
        [
            "0" if ord(c) < TABLE_SIZE and _SIGN_TABLE[ord(c)] == zero else c
            for c in lower_case(word)
        ]
    )


def classes(word: str) -> str:
    """The classes of the parts of a biomedical name: ``X-G`` for ``TNF-alpha`` or ``IFN-γ``.

    A part is a run of characters of one kind. G is a Greek letter or its name, R an upper-case
    Roman numeral (up to 39) that is no beginning of a capitalized word; punctuation stands for
    itself, once for each run of the same character; other parts have the sign of their kind.
    """
    parts = []
    at = 0
    signs = kinds(word)
    for sign, run in groupby(signs):
        end = at + len(list(run))
        part = word[at:end]
        if sign in (_UPPER, _SIGNS["letter"]) and lower_case(part) in _GREEK:
            parts.append("G")
        elif sign == _UPPER and _ROMAN.fullmatch(part) and signs[end : end + 1] != "x":
            parts.append("R")
        elif sign == _SIGNS["punctuation"]:
            parts += [character for character, _ in groupby(part)]
        else:
            parts.append(sign)
        at = end
    return "".join(parts)


def length(word: str) -> str:
    """Number of characters of the word, up to `MAX_LENGTH`."""
    return str(min(len(word), MAX_LENGTH))


def prefix(size: int, word: str) -> str | None:
    """The first `size` characters without case; None if the word is shorter."""
    return lower_case(word[:size]) if len(word) >= size else None


def suffix(size: int, word: str) -> str | None:
    """The last `size` characters without case; None if the word is shorter."""
    return lower_case(word[-size:]) if len(word) >= size else None


def letter_ngrams(word: str) -> list[str]:
    """The different letter n-grams of a word, n = 1 to `MAX_NGRAM`, with case.

    The ends of the word count as letters, and are written ``^`` and ``$``, and ``.`` where there is
    none: ``.a.``, ``^a.``, ``.a$`` and ``^a$`` for ``a``. An n-gram of ends alone is none.
    """
    word = word[:MAX_CHARACTERS]
    n = len(word)
    found: dict[str, None] = {}
    for size in range(1, MAX_NGRAM + 1):
        for start in range(-1, n + 2 - size):
            end = start + size
            text = word[max(0, start) : min(n, end)]
            if text:
                found[f"{'^' if start < 0 else '.'}{text}{'$' if end > n else '.'}"] = None
    return list(found)


def _identity(word: str) -> str:
    return word


WORD_ATOMS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "w": _identity,
    "lower": lower_case,
    "kinds": kinds,
    "shape": shape,
    "caps": capitals,
    "digits": digits,
    "classes": classes,
    "len": length,
    **{f"prefix{size}": partial(prefix, size) for size in range(1, MAX_AFFIX + 1)},
    **{f"suffix{size}": partial(suffix, size) for size in range(1, MAX_AFFIX + 1)},
}
"""The atoms that depend on one word, and their values."""

NULLABLE: Final = frozenset(name for name in WORD_ATOMS if name.startswith(("prefix", "suffix")))
"""Those of them that some words do not have."""
