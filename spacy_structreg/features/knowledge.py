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
