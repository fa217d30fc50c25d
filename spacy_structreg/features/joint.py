"""Template tables of joint segmentation and tagging, as data."""

from __future__ import annotations

from typing import Final

from spacy_structreg.features.knowledge import LISTED_TAGS
from spacy_structreg.features.segmentation import WORD_TABLES, ZHANG_CLARK_2011

ZHANG_CLARK_2011_JOINT: Final = f"""{ZHANG_CLARK_2011}
separate: w-1 t-1 | t-2 w-1 | w-1 t-1 end(w-2) | w-1 t-1 c0 | one(w-1) c-2 c0 t-1 | t-1 start(w-1)
separate: inner(w-1) t-1 end(w-1) | inner(w-1) t-1 cat(end(w-1))
tag: t-1 | t-2 t-1 | w-1 | c0 | c0 cat(c0) | c0 t-1 c-1
append: t0 c0 | c0 t0 start(w0) | c0 t0 c-1
"""
"""Zhang & Clark 2011, Tables 1 and 7. The event *tag* carries the tag of the word that begins; the
last template of the second line is printed under append, where the word it reads is not complete
yet."""

JOINT_TABLES: Final = {
    **WORD_TABLES,
    "zhang_clark_2011_joint": ZHANG_CLARK_2011_JOINT,
    "listed_tags": LISTED_TAGS,
}
"""Tables that a word-based joint tagger may name; atoms are those of `tasks.segmentation.words`."""
