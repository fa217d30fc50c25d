"""Meanings of tags and relations of Chinese treebanks, in a few words of English.

Sources: as of `corpora.tag_maps`; of tags that came to the Chinese Treebank with web and spoken
text, and of UD Chinese, the words that bear them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["RELATION_GLOSSARY", "TAG_GLOSSARY"]

_CTB = {
    "AD": "adverb",
    "AS": "aspect marker",
    "BA": "把 in ba-construction",
    "CC": "coordinating conjunction",
    "CD": "cardinal number",
    "CS": "subordinating conjunction",
    "DEC": "的 in a relative clause",
    "DEG": "associative 的",
    "DER": "得 before a complement",
    "DEV": "地 before VP",
    "DT": "determiner",
    "EM": "emoticon",
    "ETC": "等, 等等",
    "FW": "foreign word",
    "IC": "incomplete word",
    "IJ": "interjection",
    "INF": "unanalyzed fragment of web or spoken text",
    "JJ": "other noun-modifier",
    "LB": "被 in long bei-construction",
    "LC": "localizer",
    "M": "measure word",
    "MSP": "other particle",
    "NN": "common noun",
    "NN-SHORT": "common noun, abbreviated",
    "NOI": "noise",
    "NR": "proper noun",
    "NR-SHORT": "proper noun, abbreviated",
    "NT": "temporal noun",
    "NT-SHORT": "temporal noun, abbreviated",
    "OD": "ordinal number",
    "ON": "onomatopoeia",
    "P": "preposition excluding 把 and 被",
    "PN": "pronoun",
    "PU": "punctuation",
    "SB": "被 in short bei-construction",
    "SP": "sentence-final particle",
    "URL": "web address",
    "VA": "predicative adjective",
    "VC": "copula",
    "VE": "有 as the main verb",
    "VV": "other verb",
    "X": "other",
}

# Morphemes that go with their class have a capital in January 1998, and none in later releases.
_MORPHEMES = {
    "A": "adjectival",
    "B": "noun-modifying",
    "D": "adverbial",
    "M": "numeral",
    "N": "nominal",
    "Q": "measuring",
    "R": "pronominal",
    "T": "temporal",
    "U": "auxiliary",
    "V": "verbal",
    "Y": "modal",
}
_PFR = {
    "a": "adjective",
    "ad": "adjective used as an adverbial",
    "an": "adjective used as a noun",
    "b": "noun-modifier",
    "c": "conjunction",
    "d": "adverb",
    "e": "interjection",
    "f": "localizer",
    "g": "morpheme",
    "h": "prefix",
    "i": "idiom",
    "j": "abbreviation",
    "k": "suffix",
    "l": "set phrase",
    "m": "number",
    "n": "noun",
    "nr": "name of a person",
    "ns": "name of a place",
    "nt": "name of an organization",
    "nx": "foreign letters",
    "nz": "other proper noun",
    "o": "onomatopoeia",
    "p": "preposition",
    "q": "measure word",
    "r": "pronoun",
    "s": "noun of place",
    "t": "temporal noun",
    "u": "particle",
    "v": "verb",
    "vd": "verb used as an adverbial",
    "vn": "verb used as a noun",
    "w": "punctuation",
    "x": "character that is no morpheme",
    "y": "sentence-final particle",
    "z": "adjective of state",
    **{f"{letter}g": f"{kind} morpheme" for letter, kind in _MORPHEMES.items()},
    **{f"{letter.lower()}g": f"{kind} morpheme" for letter, kind in _MORPHEMES.items()},
}

_UD_CHINESE = {
    "''": "closing quotation mark",
    "(": "opening bracket",
    ")": "closing bracket",
    ",": "comma",
    ".": "full stop, question mark or exclamation mark",
    "...": "ellipsis",
    "/": "slash or dot between parts of a name",
    ":": "colon or semicolon",
    "ADD": "address",
    "AS": "aspect marker",
    "BB": "被 or 把",
    "CC": "coordinating conjunction",
    "CD": "number",
    "DEC": "的",
    "DEV": "地",
    "DT": "determiner",
    "EC": "enumeration comma",
    "FW": "foreign word",
    "HYPH": "hyphen or dash",
    "IN": "preposition or localizer",
    "JJ": "adjective",
    "LS": "list item marker",
    "MD": "modal verb",
    "NN": "common noun",
    "NNB": "measure word or unit",
    "NNP": "proper noun",
    "PFA": "adjectival prefix",
    "PFN": "nominal prefix",
    "PRD": "demonstrative or reflexive pronoun",
    "PRP": "personal pronoun",
    "RB": "adverb or subordinating conjunction",
    "SFA": "adjectival suffix",
    "SFN": "nominal suffix",
    "SFV": "verbal suffix",
    "UH": "sentence-final particle",
    "VC": "copula",
    "VV": "verb",
    "WP": "interrogative pronoun",
    "XX": "unknown",
    "``": "opening quotation mark",
}

TAG_GLOSSARY: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "CTB": MappingProxyType(_CTB),
        "UD Chinese": MappingProxyType(_UD_CHINESE),
        "PFR": MappingProxyType(_PFR),
    }
)
"""The meanings of tags, by the short name of their treebank."""

RELATION_GLOSSARY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "advmod:dvp": "adverbial modifier with 地",
        "advmod:loc": "localizer phrase as modifier",
        "advmod:rcomp": "resultative complement",
        "aux:asp": "aspect marker",
        "aux:ba": "把 in ba-construction",
        "aux:prtmod": "particle of a verb, such as 所",
        "compound:nn": "noun modifier of a noun",
        "compound:vc": "part of a verb compound",
        "etc": "等, 等等",
        "mark:clf": "measure word",
        "nmod:assmod": "modifier with 的 that is no clause",
        "nmod:poss": "pronoun as possessive modifier",
        "nmod:prep": "prepositional modifier",
        "nmod:range": "phrase of extent, duration or frequency",
        "nmod:tmod": "temporal modifier",
        "nmod:topic": "topic",
        "parataxis:prnmod": "parenthetical modifier",
    }
)
"""The meanings of relations of `corpora.dependency_relations` that spaCy does not explain."""
