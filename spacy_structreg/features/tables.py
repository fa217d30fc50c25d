"""The papers' template tables, as data."""

from __future__ import annotations

ZHANG_2014 = "c-1 | c0 | c+1 | c-2c-1 | c-1c0 | c0c+1 | c+1c+2 | t-1t0"
"""Characters to segmentation tags: Zhang, Su & Zhou 2014, Table 1."""

CHARACTER_TYPES = "type-1type0type+1 | type-2type-1type0type+1type+2"
"""Types of the characters around the current one (the types are Gao, Qiu & Huang 2010's)."""

SKIP_BIGRAM = "c-1c+1"
"""The two neighbours of the current character (Ng & Low 2004)."""

CHARACTER_TABLES = {"zhang2014": ZHANG_2014}
"""Tables that a character model may name instead of listing templates."""
