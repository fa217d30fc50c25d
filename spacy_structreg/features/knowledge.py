"""Template tables of knowledge sources, as data."""

from __future__ import annotations

from collections.abc import Iterable
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

LEXICON_ATOMS: Final = ("lexb", "lexe", "lexm", "freqb", "freqe", "freqm", "tagb", "tage", "tagm")
"""Lengths, frequencies and tags of the longest listed words that begin here, end here, and have the
character inside (`tasks.knowledge.lexicon_source`)."""

LEXICON: Final = """
lexb0lexe0lexm0 | lexb0c0 | lexe0c0 | lexe0lexb+1 | lexe-1lexb0 |
freqb0lexb0 | freqe0lexe0 | freqm0lexm0 | tagb0tage0tagm0 | tage-1tagb0
"""
"""Listed words around a character: their lengths, together, with the character and over a boundary;
their frequencies; and their tags. Chosen on the development set of UD Chinese GSD."""

LISTED_WORDS: Final = """
separate: listed(w-1) | listed(w-1) len(w-1) | listed(w-2) listed(w-1)
separate: tags(w-1) | tags(w-2) tags(w-1) | tags(w-1) len(w-1) | tags(w-1) c0
"""
"""Listed words that end here: their frequency, and their tags."""

LISTED_TAGS: Final = """
separate: listed(w-1) t-1 | tags(w-1) t-1 | tags(w-2) tags(w-1) t-1
tag: tags(w-1)
"""
"""The listed tags of a word with the tag that it has."""

CORPUS: Final = "corpus"
WORD_LIST: Final = "word list"
STATISTICS: Final = "statistics"
GUIDE: Final = "guide"
WORD_CLASSES: Final = "word classes"
TYPED_RUN: Final = "typed run"
USER_WORDS: Final = "user words"
"""The names of knowledge sources in explanations."""

BEYOND: Final = "(edge)"
"""The value of an atom, in explanations, beyond the ends of a sentence."""


def joined_sources(sources: Iterable[str]) -> str:
    """The knowledge source of a feature, from those of its atoms: `CORPUS` if there is no other."""
    others = dict.fromkeys(source for source in sources if source != CORPUS)
    return ", ".join(others) or CORPUS
