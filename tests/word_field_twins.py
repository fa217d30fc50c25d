"""What the fields of words tell apart: two words share a number if these values are equal."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from spacy_structreg.features.character_classes import TABLE_SIZE, type_table
from spacy_structreg.features.word_fields import parts

Field = Callable[[str], object]

KINDS = type_table("extended")

UPPER_CASE = 99
LETTERS = (int(KINDS[ord("a")]), UPPER_CASE)


def unfold(text: str) -> str:
    """Full-width forms of ASCII as ASCII."""
    return "".join(chr(ord(c) - 0xFEE0) if "！" <= c <= "～" else c for c in text)


def kinds(word: str) -> list[int]:
    return [
        UPPER_CASE if c.lower() != c else int(KINDS[min(ord(c), TABLE_SIZE - 1)])
        for c in unfold(word)
    ]


def capitals(word: str) -> str:
    letters = "".join("X" if k == UPPER_CASE else "x" for k in kinds(word) if k in LETTERS)
    if "X" not in letters:
        return "lower" if letters else "none"
    if letters == "X" + "x" * (len(letters) - 1):
        return "first"
    return "mixed" if "x" in letters else "all"


def lower(word: str) -> str:
    # No character of the tests changes its length.
    return unfold(word).lower()


def prefix(n: int) -> Field:
    return lambda word: lower(word)[:n] if len(word) >= n else None


def suffix(n: int) -> Field:
    return lambda word: lower(word)[-n:] if len(word) >= n else None


FIELDS: dict[str, Field] = {
    "w": unfold,
    "lower": lower,
    "start": prefix(1),
    "end": suffix(1),
    **{f"prefix{n}": prefix(n) for n in range(2, 7)},
    **{f"suffix{n}": suffix(n) for n in range(2, 7)},
    "len": lambda word: min(len(word), 15),
    "len4": lambda word: min(len(word), 4),
    "one": lambda word: unfold(word) if len(word) == 1 else None,
    "kinds": lambda word: tuple(kinds(word)),
    "shape": lambda word: tuple(k for k, _ in groupby(kinds(word))),
    "pattern": lambda word: tuple(unfold(word)[:15].index(c) for c in unfold(word)[:15]),
    "caps": capitals,
    "digits": lambda word: lower(word).translate({ord(d): "0" for d in "123456789"}),
    "parts": parts,
}
