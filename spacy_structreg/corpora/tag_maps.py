"""From the tags of treebanks to the universal tags of Universal Dependencies, version 2.

A tag stands for words of several universal tags now and then; the table names the one that most of
its words have. Where a handful of words of a tag have another one, `WordRule`s name them.

Sources: Xia 2000, "The part-of-speech tagging guidelines for the Penn Chinese Treebank (3.0)"; Yu
et al. 2003 (see `corpora.formats.pfr`); Santorini 1990, "Part-of-speech tagging guidelines for the
Penn Treebank project"; universaldependencies.org/u/pos. What is said about words of a tag was
counted in the corpora.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple


class WordRule(NamedTuple):
    """Words of some tags whose universal tag is not that of the table.

    tags: of the treebank. words: in lower case.
    """

    tags: tuple[str, ...]
    words: tuple[str, ...]
    pos: str


def _table(by_pos: Mapping[str, str]) -> Mapping[str, str]:
    """From universal tags, each with the tags that it stands for, to a table by tag."""
    table = {tag: pos for pos, tags in by_pos.items() for tag in tags.split()}
    if len(table) != sum(len(tags.split()) for tags in by_pos.values()):
        raise ValueError("a tag stands in two places of its table")
    return MappingProxyType(table)


# Penn Chinese Treebank. As in UD Chinese, aspect markers (AS) and the 被 of passives (LB, SB) are
# AUX, localizers (LC) and 把 (BA) are ADP, and measure words (M) are NOUN. VA is the adjective that
# is a predicate. VC is 是 and 为, a copula more often than a verb. VV has modal verbs, too. EM, IC,
# INF and NOI come with web and spoken text.
_CTB = _table(
    {
        "ADJ": "JJ VA",
        "ADP": "BA LC P",
        "ADV": "AD",
        "AUX": "AS LB SB VC",
        "CCONJ": "CC",
        "DET": "DT",
        "INTJ": "IJ",
        "NOUN": "M NN NN-SHORT NT NT-SHORT",
        "NUM": "CD OD",
        "PART": "DEC DEG DER DEV ETC MSP SP",
        "PRON": "PN",
        "PROPN": "NR NR-SHORT",
        "PUNCT": "PU",
        "SCONJ": "CS",
        "SYM": "EM",
        "VERB": "VE VV",
        "X": "FW IC INF NOI ON URL X",
    }
)

# PFR. By what most of their words are: c (和 makes two fifths of them) is CCONJ, though 如果 is
# one, too; f (localizers) ADP, as in UD Chinese; i (idioms) VERB, as they are predicates; j
# (abbreviations) PROPN, as most are of countries and institutions; l (set phrases) NOUN; r PRON,
# though 这 and 各 may be DET; u (的) PART, though 了, 着 and 过 are, too; v VERB, though 是, 要 and
# 能 are; vn (verbs used as nouns) and an (adjectives used as nouns) NOUN; vd and ad (both used as
# adverbials) ADV. Ng, Vg and the like are morphemes that go with their class.
_PFR = _table(
    {
        "ADJ": "Ag Bg a ag b bg z",
        "ADP": "f p",
        "ADV": "Dg ad d dg vd",
        "CCONJ": "c",
        "INTJ": "e",
        "NOUN": "Ng Qg Tg an l n ng q qg s t tg vn",
        "NUM": "Mg m mg",
        "PART": "Ug Yg h k u ug y yg",
        "PRON": "Rg r rg",
        "PROPN": "j nr ns nt nz",
        "PUNCT": "w",
        "VERB": "Vg i v vg",
        "X": "g nx o x",
    }
)

# XPOS of UD Chinese GSD, by its releases of version 2. DEC (的) is PART in 57% and SCONJ in 43%, RB
# is ADV in 53% and SCONJ in 47%, VC is AUX in 65% and else VERB; all others are one in 95%, but for
# the rare BB and DEV. LS, PFN and XX are in the training set only. A stray VERB and " are left out.
_UD_CHINESE_PARTS = {
    "ADJ": "JJ",
    "ADP": "IN",
    "ADV": "RB",
    "AUX": "AS BB MD VC",
    "CCONJ": "CC",
    "DET": "DT",
    "NOUN": "ADD NN NNB",
    "NUM": "CD",
    "PART": "DEC PFA PFN SFA SFN SFV UH",
    "PRON": "PRD PRP WP",
    "PROPN": "NNP",
    "PUNCT": "'' ( ) , . ... / : EC HYPH ``",
    "SCONJ": "DEV",
    "VERB": "VV",
    "X": "FW LS XX",
}
_UD_CHINESE = _table(_UD_CHINESE_PARTS)

# The same by version 1 of UD, in which copulas and the 被 of passives were VERB, aspect markers
# and 地 PART, and CCONJ was called CONJ.
_UD_CHINESE_1 = MappingProxyType(
    {
        **_UD_CHINESE,
        "ADD": "SYM",
        "AS": "PART",
        "BB": "VERB",
        "CC": "CONJ",
        "DEV": "PART",
        "UH": "X",
        "VC": "VERB",
    }
)

# Penn Treebank, and what OntoNotes and UD English added: ADD, AFX, GW, HYPH, NFP, XX. The rules see
# to the verb be and to the conjunctions among IN. Verbs are VERB: have and do alone tell nothing.
_PTB = _table(
    {
        "ADJ": "JJ JJR JJS",
        "ADP": "IN RP",
        "ADV": "RB RBR RBS WRB",
        "AUX": "MD",
        "CCONJ": "CC",
        "DET": "DT PDT",
        "INTJ": "UH",
        "NOUN": "NN NNS",
        "NUM": "CD LS",
        "PART": "POS TO",
        "PRON": "EX PRP PRP$ WDT WP WP$",
        "PROPN": "ADD NNP NNPS",
        "PUNCT": "'' , -LRB- -RRB- -LCB- -RCB- -LSB- -RSB- . : HYPH NFP ``",
        "SYM": "# $ SYM",
        "VERB": "VB VBD VBG VBN VBP VBZ",
        "X": "AFX FW GW XX",
    }
)

TAG_MAPS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "ctb": _CTB,
        "pfr": _PFR,
        "ptb": _PTB,
        "ud_chinese": _UD_CHINESE,
        "ud_chinese_1": _UD_CHINESE_1,
    }
)
"""Universal tags of the tags of a treebank, by its name."""

# Tags of dictionaries of jieba, HanLP, pkuseg and thulac, which are PFR's and finer ones. HanLP's
# that begin with g are of terms, those with w of punctuation.
_CTB_OF_FLAGS = _table(
    {
        "AD": "ad d df dg dl vd",
        "AS": "ug uguo ul ule uz uzhe",
        "BA": "pba",
        "CC": "cc",
        "CD": "m mg",
        "DER": "ud ude3",
        "DEV": "ude2 uv",
        "ETC": "udeng",
        "IJ": "e",
        "JJ": "b bg bl",
        "LC": "f",
        "M": "q qg qt qv",
        "NN": "an gb gbc gc gg gi gm gp n nb nba nbc nbp nf ng nh nhd nhm ni nic nis nit nl nm nmc "
        "nn nnd nnt s vn",
        "NR": "np nr nr1 nr2 nrf nrfg nrj nrt ns nsf nt ntc ntcb ntcf ntch nth nto nts ntu nz",
        "NT": "t tg",
        "ON": "o",
        "P": "p",
        "PN": "rr",
        "PU": "w wb wd wf wh wj wky wkz wm wn wp ws wt ww wyy wyz",
        "SP": "y yg",
        "VC": "vshi",
        "VE": "vyou",
        "VV": "v vf vg vi vl vq vx",
        # Which have words of several tags of the Chinese Treebank.
        "": "a ag al c eng g h i j k l mq nx pbei r rg ry rys ryt ryv rz rzs rzt rzv u ude1 udh uj "
        "ulian uls usuo uyy uzhi x xe xm xs xu xx z zg",
    }
)

LIST_FLAGS: Final = frozenset(_CTB_OF_FLAGS)
"""Tags of words in dictionaries of other segmenters."""

FLAGS_OF_CTB: Mapping[str, str] = _table(
    {
        "a": "VA",
        "b": "JJ",
        "c": "CC CS",
        "d": "AD",
        "e": "IJ",
        "eng": "FW",
        "f": "LC",
        "m": "CD OD",
        "n": "NN NN-SHORT",
        "nz": "NR NR-SHORT",
        "o": "ON",
        "p": "BA LB P SB",
        "q": "M",
        "r": "DT PN",
        "t": "NT NT-SHORT",
        "u": "ETC MSP",
        "ud": "DER",
        "uj": "DEC DEG",
        "ul": "AS",
        "uv": "DEV",
        "v": "VC VE VV",
        "x": "EM IC INF NOI PU URL X",
        "y": "SP",
    }
)
"""Flags of jieba for the tags of the Chinese Treebank; names are ``nz``, if no more is known."""

_CTB_CLOSED = (
    *("AS", "BA", "CC", "CS", "DEC", "DEG", "DER", "DEV", "DT", "ETC", "IJ"),
    *("LB", "LC", "MSP", "P", "PN", "PU", "SB", "SP", "VC", "VE", "X"),
)
_UD_CLOSED = ("ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ")

CLOSED_TAGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"ctb": _CTB_CLOSED, "ud": _UD_CLOSED}
)
"""The tags of closed sets of words: of the Chinese Treebank as in ZPar (Zhang & Clark 2011); of
Universal Dependencies, its closed classes without numerals, of which there are ever new ones."""

CLOSED_FIRST_TAGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"ctb": (*_CTB_CLOSED, "CD"), "ud": _UD_CLOSED}
)
"""The tags of words whose first characters are a closed set."""

WORD_RULES: Mapping[str, tuple[WordRule, ...]] = MappingProxyType(
    {
        "ptb": (
            WordRule(
                ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"),
                (
                    *("am", "are", "be", "been", "being", "is", "was", "were"),
                    *("'m", "'re", "'s", "'ve", "’m", "’re", "’s", "’ve"),
                ),
                "AUX",
            ),
            WordRule(("RB",), ("n't", "not", "nt", "n’t"), "PART"),
            WordRule(
                ("IN",),
                (
                    *("although", "because", "before", "if", "once", "since", "so", "that"),
                    *("though", "unless", "until", "whereas", "whether", "while", "whilst"),
                ),
                "SCONJ",
            ),
            WordRule(
                ("NN",),
                (
                    *("anybody", "anyone", "anything", "everybody", "everyone", "everything"),
                    *("nobody", "none", "nothing", "somebody", "someone", "something"),
                ),
                "PRON",
            ),
        )
    }
)
"""Universal tags that depend on the word, by the name of the treebank."""


def listed_tag(flag: str, tags: Collection[str]) -> str | None:
    """The tag that a model has for a word of a dictionary of jieba, HanLP, pkuseg or thulac.

    flag: the word's tag there. tags: of the model. None if the flag has words of several tags of
    the Chinese Treebank, or the model's tags are neither those nor the dictionary's own. Raises
    ValueError for a flag that neither the model has nor such dictionaries.
    """
    if flag in tags:
        return flag
    if not {"NN", "NR", "VV"}.issubset(tags) and flag in LIST_FLAGS:
        return None
    if flag not in LIST_FLAGS:
        raise ValueError(
            f"the model has no tag {flag!r}, nor have dictionaries, whose tags are n, nr, ns, v, a "
            f"and so on; write one of the model ({', '.join(sorted(tags)[:50])}), or none"
        )
    return _CTB_OF_FLAGS[flag] or None


def ruler_patterns(name: str) -> list[dict[str, Any]]:
    """The table and its rules as patterns of spaCy's attribute_ruler, plain lists and dicts.

    The words of the rules come last, as the last pattern that matches wins there.
    name: of a table in `TAG_MAPS`. Raises ValueError for another name.
    """
    patterns: list[dict[str, Any]] = [
        {"patterns": [[{"TAG": tag}]], "attrs": {"POS": pos}}
        for tag, pos in sorted(tag_map(name).items())
    ]
    for rule in WORD_RULES.get(name, ()):
        matched = {"TAG": {"IN": list(rule.tags)}, "LOWER": {"IN": list(rule.words)}}
        patterns.append({"patterns": [[matched]], "attrs": {"POS": rule.pos}})
    return patterns


def tag_map(name: str) -> Mapping[str, str]:
    """Universal tags by the tags of a treebank. Raises ValueError for a name not in `TAG_MAPS`."""
    if name not in TAG_MAPS:
        raise ValueError(f"{name!r} is no table of tags; there are {', '.join(TAG_MAPS)}")
    return TAG_MAPS[name]
