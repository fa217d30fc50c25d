"""Template tables of segmenters, as data."""

from __future__ import annotations

from typing import Final

from spacy_structreg.features.knowledge import LISTED_WORDS

ZHANG_2014: Final = "c-1 | c0 | c+1 | c-2c-1 | c-1c0 | c0c+1 | c+1c+2 | t-1t0"
"""Characters to segmentation tags: Zhang, Su & Zhou 2014, Table 1."""

GAO_2010: Final = "c-1 | c0 | c+1 | c+2 | c-2c-1 | c-1c0 | c0c+1 | c+1c+2 | t-1t0"
"""Characters to segmentation tags: Gao, Qiu & Huang 2010, Table 1, without types and accessor
variety."""

_SUN_2014: Final = ("c-2", "c-1", "c0", "c+1", "c+2", "c-2c-1", "c-1c0", "c0c+1", "c+1c+2")

SUN_2014: Final = " | ".join(("t-1t0", *_SUN_2014, *(f"t-1t0{each}" for each in _SUN_2014)))
"""Characters to segmentation tags, with rich edge features: each n-gram goes with the tag, and with
the pair of it and the one before (Sun 2014, section 3, which prints no templates)."""

CHARACTER_TYPES: Final = "type-1type0type+1 | type-2type-1type0type+1type+2"
"""Types of the characters around the current one (the types are Gao, Qiu & Huang 2010's)."""

TYPES_OF_TABLES: Final = {"gao2010": "type0"}
"""The templates of types of tables that have their own (Gao, Qiu & Huang 2010, Table 1), in place
of `CHARACTER_TYPES`."""

SKIP_BIGRAM: Final = "c-1c+1"
"""The two neighbors of the current character (Ng & Low 2004)."""

CHARACTER_TABLES: Final = {"zhang2014": ZHANG_2014, "gao2010": GAO_2010, "sun2014": SUN_2014}
"""Tables that a character model may name instead of listing templates."""

ZHANG_CLARK_2011: Final = """
separate: w-1 | w-1 w-2 | one(w-1) | start(w-1) len(w-1) | end(w-1) len(w-1) | end(w-1) c0
separate: start(w-1) end(w-1) | w-1 c0 | end(w-2) w-1 | start(w-1) c0 | end(w-2) end(w-1)
separate: w-2 len(w-1) | len(w-2) w-1
append: c-1 c0
"""
"""Zhang & Clark 2011, Table 1."""

TYPES: Final = """
boundary: first type-1 type0 | first type-1 type0 type+1 | first type-2 type-1 type0 type+1
"""
"""Types of the characters around a place, with what is done there and whether the character before
begins its word."""

CHARACTERS: Final = """
boundary: first c-2 | first c-1 | first c0 | first c-2 c-1 | first c-1 c0 | first c-2 c-1 c0
"""
"""Zhang & Clark 2011, Table 2: characters with the segmentation tag of the one before the place,
which is known once it is known what is done there."""

WORD_TABLES: Final = {
    "zhang_clark_2011": ZHANG_CLARK_2011,
    "types": TYPES,
    "characters": CHARACTERS,
    "lexicon": LISTED_WORDS,
}
"""Tables that a word-based segmenter may name; atoms are those of `tasks.segmentation.words`."""
