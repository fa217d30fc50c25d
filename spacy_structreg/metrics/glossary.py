"""Meaning of each figure, by the key that all reports of the package use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["SCORE_GLOSSARY"]

_WORDS = {
    "seg_p": "precision of words: a word is right if a gold word has the same first and last "
    "character",
    "seg_r": "recall of words",
    "seg_f": "F of words, as of the SIGHAN bakeoffs",
    "oov_rate": "share of gold words that are not in the training corpus",
    "oov_r": "recall of words that are not in the training corpus",
    "iv_r": "recall of words that are in the training corpus",
    "joint_p": "precision of words that are right with their tag",
    "joint_r": "recall of words that are right with their tag",
    "joint_f": "F of words that are right with their tag",
    "joint_char_acc": "share of characters whose word has the right tag, wherever words end",
}
_TAGS = {
    f"{kind}_{end}": text.format(what)
    for kind, what in (("tag", "tag"), ("pos", "universal tag"))
    for end, text in {
        "acc": "share of given words with the right {}",
        "p": "precision, from raw text, of words that are right with their {}",
        "r": "recall, from raw text, of words that are right with their {}",
        "f": "F, from raw text, of words that are right with their {}",
    }.items()
}
_TAGS_BY_VOCABULARY = {
    "oov_tag_acc": "share with the right tag of given words that are not in the training corpus",
    "iv_tag_acc": "share with the right tag of given words that are in the training corpus",
}
_TREES = {
    "dep_uas": "share of given words with the right head",
    "dep_las": "share of given words with the right head and label",
    "dep_root": "share of the roots of sentences that are found, of given words",
    "dep_nonroot": "share of other given words than roots with the right head",
    "dep_complete": "share of sentences of given words with all heads right",
    "uas_f": "F, from raw text, of words that are right with their head",
    "las_f": "F, from raw text, of words that are right with their head and label",
    "nonroot_f": "F, from raw text, of other words than roots that are right with their head",
}
_PUNCTUATED = {**_TREES, "tag_f": _TAGS["tag_f"]}
_BRACKETS = {
    "brackets_p": "precision of constituents over given words, as of EVALB",
    "brackets_r": "recall of constituents over given words",
    "brackets_f": "F of constituents over given words",
    "brackets_complete": "share of sentences with all constituents right",
    "brackets_crossing": "crossing brackets in a sentence, on the mean (a number)",
    "brackets_no_crossing": "share of sentences without crossing brackets",
}
_LABELS = {
    "head_acc": "share of right constituents with the right head word",
    "label_acc": "share of given words with the right label",
    "ents_p": "precision of entities, or spans",
    "ents_r": "recall of entities, or spans",
    "ents_f": "F of entities, or spans: with the same characters and label",
    "cats_acc": "share of texts of the right category",
    "cats_macro_f": "mean over categories of their F",
}

SCORE_GLOSSARY: Final[Mapping[str, str]] = MappingProxyType(
    {
        **_WORDS,
        **_TAGS,
        **_TAGS_BY_VOCABULARY,
        **_TREES,
        **{f"{key}_nopunct": f"{text}; without punctuation" for key, text in _PUNCTUATED.items()},
        **_BRACKETS,
        **{f"{key}_40": f"{text}; sentences of up to 40 words" for key, text in _BRACKETS.items()},
        "text_brackets_f": "F, from raw text, of constituents: with the same characters and label",
        **_LABELS,
    }
)
"""Descriptions of figures: fractions of 1, printed in percent, unless they say otherwise."""
