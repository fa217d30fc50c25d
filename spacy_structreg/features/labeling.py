"""Template tables of sequence labelers, as data; their atoms are those of `tasks.tokens`.

``label:`` templates stand with each label, ``edge:`` templates with each pair of neighboring
labels; ``edge:`` alone is the pair itself. Of each table there is a second one with some rich edge
features (Sun 2014, section 3, after Sun, Wang & Li 2012), whose name ends with ``+edges``.
"""

from __future__ import annotations

from typing import Final

NER: Final = """
label: w0 | w-1 | w+1 | lower(w0)
label: shape(w0) | shape(w-1) | shape(w+1) | shape(w-1) shape(w0) | kinds(w0)
label: ngrams(w0)
label: prefix2(w0) | prefix3(w0) | prefix4(w0) | suffix2(w0) | suffix3(w0) | suffix4(w0)
label: words(-4..-1) | words(+1..+4)
label: caps(w-1) caps(w0) caps(w+1)
label: w-2 w-1 shape(w-1)
label: gazetteers(w-1) | gazetteers(w0) | gazetteers(w+1)
edge:
"""
"""Names in running text: Wang et al. 2013, section 5.2, after Finkel, Grenager & Manning 2005."""

CHUNKING: Final = """
label: w-2 | w-1 | w0 | w+1 | w+2 | w-1 w0 | w0 w+1
label: tag(w-2) | tag(w-1) | tag(w0) | tag(w+1) | tag(w+2)
label: tag(w-2) tag(w-1) | tag(w-1) tag(w0) | tag(w0) tag(w+1) | tag(w+1) tag(w+2)
label: tag(w-2) tag(w-1) tag(w0) | tag(w-1) tag(w0) tag(w+1) | tag(w0) tag(w+1) tag(w+2)
edge:
"""
"""Phrases of tagged words (CoNLL-2000), after Sha & Pereira 2003, Table 1; needs a column ``tag``.
"""

CHUNKING_RICH: Final = f"""
label: w-1 w+1 | w-1 w0 w+1 | tag(w-1) tag(w+1)
label: w0 tag(w0) | w-1 tag(w0) | w+1 tag(w0) | w0 tag(w-1) | w0 tag(w+1)
label: lower(w0) | prefix2(w0) | prefix3(w0) | suffix2(w0) | suffix3(w0) | suffix4(w0)
label: shape(w-1) | shape(w0) | shape(w+1){CHUNKING}"""
"""Phrases of tagged words, with words and tags joined, affixes and shapes; slower, and better on a
part of CoNLL-2000 held out."""

POS: Final = """
label: w-1 | w0 | w+1 | w-1 w0 | w0 w+1
edge:
"""
"""Parts of speech: Wang et al. 2013, section 5.2 (SANCL)."""

POS_RICH: Final = """
label: w-2 | w-1 | w0 | w+1 | w+2 | w-1 w0 | w0 w+1 | w-1 w+1
label: lower(w0) | shape(w0) | caps(w0) | digits(w0)
label: start(w0) | prefix2(w0) | prefix3(w0) | prefix4(w0) | prefix5(w0)
label: end(w0) | suffix2(w0) | suffix3(w0) | suffix4(w0) | suffix5(w0)
label: suffix2(w-1) | suffix3(w-1) | suffix2(w+1) | suffix3(w+1)
edge:
"""
"""Parts of speech, with affixes and shapes, after Ratnaparkhi 1996."""

CHARACTERS: Final = """
label: w-2 | w-1 | w0 | w+1 | w+2
label: w-2 w-1 | w-1 w0 | w0 w+1 | w+1 w+2 | w-1 w+1
label: kinds(w-1) kinds(w0) kinds(w+1)
label: kinds(w-2) kinds(w-1) kinds(w0) kinds(w+1) kinds(w+2)
label: gazetteers(w-1) | gazetteers(w0) | gazetteers(w+1)
edge:
"""
"""Names over characters, each a token: the window of Zhang, Su & Zhou 2014, Table 1, with unigrams
two characters away, and the skip bigram and kinds of characters of Ng & Low 2004."""

BIO: Final = """
label: w-2 | w-1 | w0 | w+1 | w+2 | w-1 w0 | w0 w+1 | lower(w0) | digits(w0)
label: parts(w-1) | parts(w0) | parts(w+1) | parts(w-1) parts(w0) parts(w+1)
label: kinds(w0) | shape(w0) | caps(w-1) caps(w0) caps(w+1) | len(w0)
label: prefix2(w0) | prefix3(w0) | prefix4(w0) | prefix5(w0)
label: suffix2(w0) | suffix3(w0) | suffix4(w0) | suffix5(w0) | suffix3(w-1) | suffix3(w+1)
label: ngrams(w0)
label: words(-4..-1) | words(+1..+4)
label: gazetteers(w-1) | gazetteers(w0) | gazetteers(w+1)
edge:
"""
"""Biomedical names: word patterns, affixes and classes of parts (digits, Roman numerals, Greek
letters), after Settles 2004."""

CLASSES: Final = """
label: class(w-2) | class(w-1) | class(w0) | class(w+1) | class(w+2)
label: class(w-1) class(w0) | class(w0) class(w+1)
label: class4(w0) | class6(w0) | class10(w0) | class20(w0) | class6(w-1) | class6(w+1)
"""
"""Classes of words, which are added where there are classes: Ratinov & Roth 2009, section 6.1."""

_TABLES: Final = {
    "ner": (NER, "edge: w-1 | w0 | shape(w-1) shape(w0) | suffix3(w0)"),
    "chunking": (CHUNKING, "edge: w0 | tag(w0) | tag(w-1) tag(w0) | tag(w0) tag(w+1)"),
    "chunking-rich": (CHUNKING_RICH, "edge: w0 | tag(w0) | tag(w-1) tag(w0) | tag(w0) tag(w+1)"),
    "pos": (POS, "edge: w0"),
    "pos-rich": (POS_RICH, "edge: w0 | suffix3(w0) | shape(w0)"),
    "characters": (CHARACTERS, "edge: w-1 | w0 | w-1 w0 | w0 w+1"),
    "bio": (BIO, "edge: w-1 | w0 | parts(w-1) parts(w0) | suffix3(w0)"),
}

LABELING_TABLES: Final = {
    name: text
    for table, (plain, edges) in _TABLES.items()
    for name, text in ((table, plain), (f"{table}+edges", f"{plain}{edges}\n"))
} | {"classes": CLASSES}
"""Tables that a labeler may name instead of listing templates."""
