"""Template tables of words as a transition system (`tasks.words`), in method.md's names."""

from typing import Final

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

ZHANG_CLARK_2011_JOINT: Final = f"""{ZHANG_CLARK_2011}
separate: w-1 t-1 | t-2 w-1 | w-1 t-1 end(w-2) | w-1 t-1 c0 | one(w-1) c-2 c0 t-1 | t-1 start(w-1)
separate: inner(w-1) t-1 end(w-1) | inner(w-1) t-1 cat(end(w-1))
tag: t-1 | t-2 t-1 | w-1 | c0 | c0 cat(c0) | c0 t-1 c-1
append: t0 c0 | c0 t0 start(w0) | c0 t0 c-1
"""
"""Zhang & Clark 2011, Tables 1 and 7. The event *tag* carries the tag of the word that begins; the
last template of the second line is printed under append, where the word it reads is not complete
yet."""

WORD_TABLES: Final = {
    "zhang_clark_2011": ZHANG_CLARK_2011,
    "zhang_clark_2011_joint": ZHANG_CLARK_2011_JOINT,
    "types": TYPES,
    "characters": CHARACTERS,
}
