"""Template tables of knowledge sources, as data."""

from __future__ import annotations

from string import ascii_lowercase
from typing import Final

MAX_GUIDES: Final = 8
"""Most guides of one model."""

GUIDE_ATOMS: Final = tuple(f"guide{letter}" for letter in ascii_lowercase[:MAX_GUIDES])
"""The atoms of the guides of a model, in their order."""

_GUIDE: Final = """
g0 | g-1g0 | g0g+1 | g-1g0g+1 | g0c0 | g0c-1c0 | g0c0c+1
"""


def guide_templates(atom: str) -> str:
    """Labels of a guide, alone, in pairs and triples, and with characters.

    atom: of `GUIDE_ATOMS`. Jiang, Huang & Liu 2009, section 3, with more of the context.
    """
    return _GUIDE.replace("g", atom)


VARIETY_ATOMS: Final = ("avtwo", "avthree", "avfour", "avleft", "avright")
"""The class of the accessor variety of the best n-gram of two, three and four characters that a
character stands in, with its place there; that to the left of the two characters that begin here;
and that to the right of the two that end here."""

INFORMATION_ATOM: Final = "information"
"""The class of the mutual information of a character and the one before it."""

VARIETY: Final = """
avtwo0 | avthree0 | avfour0 |
avleft0 | avleft+1 | avright-1 | avright0 | avright-1avleft0 | avright0avleft+1
"""
"""Accessor variety: the lesser of both sides (Gao, Qiu & Huang 2010, section 5; Zhao & Kit 2008,
section 3), and what speaks for a boundary before and behind a character."""

INFORMATION: Final = "information0 | information+1 | information0information+1"
"""Mutual information to the left and to the right."""
