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

ARCS: Final = """
arc: S0w | S0t | S0w S0t | S1w | S1t | S1w S1t | S2w | S2t | c0 | c0 c+1
arc: S0w S1w | S0t S1t | S0w S1t | S0t S1w | S0w S0t S1w | S0w S0t S1t | S0w S1w S1t | S0t S1w S1t
arc: S0w S0t S1w S1t
arc: S0t c0 | S0w c0 | S0t S1t c0 | S0w S1t c0 | S0t S1w c0 | S0t c0 c+1 | S0t S1t c0 c+1
arc: S0t type0 | S0t S1t type0 | end(S0) c0 | S2t S1t S0t | S2t S1t S0w | S2t S1w S0t | S2w S1t S0t
arc: S1t S1lt S0t | S1t S1rt S0t | S1t S0t S0lt | S1t S0t S0rt
arc: S1t S1lt S0w | S1t S1rt S0w | S1t S0w S0lt | S1w S0t S0lt | S1w S1rt S0t
arc: S0t S0lt S0l2t | S0t S0rt S0r2t | S1t S1lt S1l2t | S1t S1rt S1r2t
arc: S0w dist(S1,S0) | S0t dist(S1,S0) | S1w dist(S1,S0) | S1t dist(S1,S0)
arc: S0w S1w dist(S1,S0) | S0t S1t dist(S1,S0)
arc: S0w S0vl | S0t S0vl | S0w S0vr | S0t S0vr | S1w S1vl | S1t S1vl | S1w S1vr | S1t S1vr
arc: S0lw | S0lt | S0llabel | S0rw | S0rt | S0rlabel
arc: S1lw | S1lt | S1llabel | S1rw | S1rt | S1rlabel
arc: S0l2t | S0l2label | S0r2t | S0r2label | S1l2t | S1l2label | S1r2t | S1r2label
arc: S0t S0llabel | S0t S0rlabel | S1t S1llabel | S1t S1rlabel
arc: S0t S1t S0llabel | S0t S1t S1rlabel | S0t S1t S1llabel
arc: end(S0) S0t | end(S1) S1t | end(S0) end(S1) | end(S0) S0t S1t | end(S1) S0t S1t
arc: start(S0) S0t | start(S1) S1t | start(S0) S0t S1t | len(S0) len(S1) S0t S1t
arc: end(S0) S1w | S0w end(S1) | S0w S0t end(S1) | start(S0) end(S0) S0t | start(S1) end(S1) S1t
"""
"""Words and tags of the stack, their children, distances and characters, and the next characters:
the templates of Huang & Sagae 2010 and Zhang & Nivre 2011 as far as they do not read words to come,
which are not known yet (Hatori et al. 2012, Table 2)."""

WORD_TREES: Final = f"""{ZHANG_CLARK_2011_JOINT}{ARCS}
tag: S0w | S0t | S0t c0 | S0t S1t | S0t S0llabel | S0t S0rlabel
"""
"""Zhang & Clark 2011's words and tags, trees over them, and what the tree says of the next tag."""

WORD_TREE_TABLES: Final = {
    **WORD_TABLES,
    "word_trees": WORD_TREES,
    "listed_tags": LISTED_TAGS,
}
"""Tables that a joint parser may name; atoms are those of `tasks.joint.word_trees`."""

JOINT_TABLES: Final = {
    **WORD_TABLES,
    "zhang_clark_2011_joint": ZHANG_CLARK_2011_JOINT,
    "listed_tags": LISTED_TAGS,
}
"""Tables that a word-based joint tagger may name; atoms are those of `tasks.segmentation.words`."""
