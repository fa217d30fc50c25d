"""Template tables of constituency parsers, as data.

Atoms and events are those of `tasks.constituents`.
"""

from __future__ import annotations

from typing import Final

PHRASES: Final = """
action: S0t S0c | S0w S0c | S1t S1c | S1w S1c | S2t S2c | S2w S2c | S3t S3c | S3w S3c
action: N0w N0t | N1w N1t | N2w N2t | N3w N3t
action: S0lw S0lc | S0rw S0rc | S0uw S0uc | S1lw S1lc | S1rw S1rc | S1uw S1uc
action: S0w S1w | S0w S1c | S0c S1w | S0c S1c | S0w N0w | S0w N0t | S0c N0w | S0c N0t
action: N0w N1w | N0w N1t | N0t N1w | N0t N1t | S1w N0w | S1w N0t | S1c N0w | S1c N0t
action: S0c S1c S2c | S0w S1c S2c | S0c S1w S2c | S0c S1c S2w
action: S0c S1c N0t | S0w S1c N0t | S0c S1w N0t | S0c S1c N0w
action: S0w bracket | S0c bracket | S0w S1c bracket | S0c S1w bracket | S0c S1c bracket
action: S0w N0t bracket | S0c N0w bracket | S0c N0t bracket
action: S0w separator | S0w S0c separator | S0w separators | S0w S0c separators
action: S1w separator | S1w S1c separator | S1w separators | S1w S1c separators
action: S0c S1c separator | S0c S1c separators
"""
"""The templates of Zhang & Clark 2011, Table 20."""

PHRASES_PLUS: Final = f"""{PHRASES}
action: S0firstw S0c | S0firstt S0c | S0lastw S0c | S0lastt S0c
action: S1firstw S1c | S1firstt S1c | S1lastw S1c | S1lastt S1c
action: S1lastw S0firstw | S1lastt S0firstt | S1lastt S0firstt S0c S1c | S0lastt N0t S0c
action: size(S0) S0c | size(S1) S1c | size(S0) size(S1) S0c S1c
action: S0t S1t | S0c S1t | S0t S1c | S0t N0t S0c | S0t S1t N0t | S1t S0t S2t | S0c N0t N1t
action: S0c S1c N0t N1t | S0c S1c S2c N0t | S0c S1c S2c S3c
action: S0c S0lc S0rc | S1c S1lc S1rc | S0c S1c S0lc S0rc | S0c S1c S1lc S1rc
action: S0lc S1c S0c | S1rc S1c S0c | S0rc S0c N0t | S0uc S0c S1c | S0uc S0c N0t
"""
"""`PHRASES`, with the words at the ends of phrases and between them, sizes, tags of heads, and what
phrases are made of."""

LEAN: Final = """
action: S0t S0c | S0w S0c | S1t S1c | S1w S1c | S2t S2c | S3t S3c | S3w S3c | N0w N0t | N1w N1t
action: N2w N2t | N3w N3t | S0lw S0lc | S0rw S0rc | S1rw S1rc | S0c S1w | S0c S1c | S0w N0w
action: S0w N0t | S0c N0w | S0c N0t | N0w N1t | N0t N1w | N0t N1t | S1w N0t | S1c N0w | S1c N0t
action: S0c S1c S2c | S0w S1c S2c | S0c S1c S2w | S0c S1c N0t | S0c S1w N0t | S0c S1c bracket
action: S0w separators | S0w S0c separators | S1w separators | S0c S1c separators | S0firstw S0c
action: S0firstt S0c | S0lastw S0c | S0lastt S0c | S1firstw S1c | S1firstt S1c | S1lastw S1c
action: S1lastt S1c | S1lastt S0firstt | S1lastt S0firstt S0c S1c | S0lastt N0t S0c | size(S0) S0c
action: S0t S1t | S0c S1t | S0t S1c | S0t N0t S0c | S1t S0t S2t | S0c N0t N1t | S0c S1c N0t N1t
action: S0c S1c S2c N0t | S0c S1c S2c S3c | S0c S0lc S0rc | S1c S1lc S1rc | S0c S1c S1lc S1rc
action: S1rc S1c S0c | S0uc S0c N0t
"""
"""`PHRASES_PLUS` without the third that a parser of Chinese misses least: templates were taken
away, always those without which brackets and heads of the dev set came out best."""

CLASSES: Final = """
action: class(S0) S0c | class(S1) S1c | class(N0) N0t | class(S0) class(S1) | class(S0) class(N0)
action: class(S0) S0c S1c | S0c class(S1) S1c | class(S0) S0c N0t | S0c class(N0)
action: class6(S0) S0c | class6(S1) S1c | class6(N0) | class6(S0) class6(S1) | class4(S0) class4(S1)
"""
"""Classes of heads and of the next word, which are added where there are classes."""

CONSTITUENT_TABLES: Final = {
    "phrases": PHRASES,
    "phrases+": PHRASES_PLUS,
    "lean": LEAN,
    "classes": CLASSES,
}
"""Tables that a constituency parser may name instead of listing templates."""
