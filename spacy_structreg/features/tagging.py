"""Template tables of the word tagger, as data; their atoms are those of `tasks.tagging`."""

from __future__ import annotations

from typing import Final

WORDS: Final = """
tag: t-1 | t-2 t-1 | w0 t-1
tag: w0 | w-1 | w+1 | w-1 w0 | w0 w+1
tag: start(w0) | end(w0) | prefix2(w0) | suffix2(w0) | prefix3(w0) | suffix3(w0)
tag: prefix4(w0) | suffix4(w0)
tag: len(w0) | start(w0) len(w0) | end(w0) len(w0)
tag: chars(w0) | start(w0) chars(w0) | end(w0) chars(w0)
tag: kinds(w0) | repeated(w0) | shape(w0) | lower(w0)
tag: catstart(w0) | catend(w0) | catstart(w0) catend(w0) | catend(w-1) | catstart(w+1)
tag: end(w-1) | start(w+1) | end(w-1) start(w0) | end(w0) start(w+1)
tag: suffix2(w-1) | suffix2(w+1) | tags(w+1)
"""
"""After Collins 2002 and Zhang & Clark 2008: the word and its neighbors, affixes and characters,
shapes, and which tags the words of these characters, and the next one, have been seen with. For any
script; chosen on the development set of UD Chinese, where words two places away and pairs of words
that do not stand together add nothing but time."""

LATIN: Final = """
tag: t-1 | t-2 t-1 | w0 t-1
tag: w0 | w-1 | w+1 | w-2 | w+2 | w-1 w0 | w0 w+1 | w-1 w+1
tag: start(w0) | prefix2(w0) | prefix3(w0) | prefix4(w0) | prefix5(w0)
tag: end(w0) | suffix2(w0) | suffix3(w0) | suffix4(w0) | suffix5(w0)
tag: shape(w0) | lower(w0)
"""
"""After Ratnaparkhi 1996 and Collins 2002, for alphabetic scripts, where single characters say
little; chosen on the development set of UD English EWT, where it is better than `WORDS`."""

CLASSES: Final = """
tag: class(w0) | class(w-1) | class(w+1) | class(w-1) class(w0) | class(w0) class(w+1)
tag: class(w0) t-1 | class4(w0) | class6(w0) | class10(w0) | class20(w0)
tag: class6(w-1) | class6(w+1) | class10(w-1) class10(w0) | class10(w0) class10(w+1)
"""
"""Classes of the word and its neighbors, and the beginnings of their paths, which are added where
there are classes: after Ratinov & Roth 2009, section 6.1."""

LISTED: Final = """
tag: listed(w0) | listed(w-1) listed(w0) | listed(w0) listed(w+1) | listed(w0) t-1
tag: listed(w0) w0 | listed(w-1) | listed(w+1) | listed(w0) suffix2(w0)
"""
"""The tags that word lists give a word and its neighbors."""

GUIDE: Final = """
tag: guide(w0) | guide(w0) w0 | guide(w0) end(w0) | guide(w0) t-1
tag: guide(w-1) guide(w0) | guide(w0) guide(w+1) | guide(w-1) guide(w0) guide(w+1)
"""
"""Tags by a guide of another standard, alone, in pairs and triples, and with the word (Jiang, Huang
& Liu 2009)."""

TAGGER_TABLES: Final = {
    "words": WORDS,
    "latin": LATIN,
    "guide": GUIDE,
    "classes": CLASSES,
    "lexicon": LISTED,
}
"""Tables that a tagger may name instead of listing templates."""
