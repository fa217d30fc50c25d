"""The kinds of work that are timed, and what each is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

__all__ = ["FOUND", "KINDS", "LATENCY", "Kind", "Unit"]

Unit: TypeAlias = Literal["characters", "words", "sentences"]

CNN: Final = "cnn-jieba"
"""The peer of pipelines: of spaCy's two the faster one."""


@dataclass(frozen=True)
class Kind:
    """A kind of work.

    title: what is done. unit: what its rate counts, of the gold corpus, so that it is the same for
    all systems. system, kind: what it is compared with in each round; an empty system is the same
    one, an empty kind the same one; both empty for no comparison.
    """

    title: str
    unit: Unit
    system: str = ""
    kind: str = ""


KINDS: Final[Mapping[str, Kind]] = {
    "boundaries": Kind("offsets of words, a batch a call", "characters", "ltp", "lists"),
    "lists": Kind("lists of words, a batch a call", "characters", "ltp"),
    "list": Kind("lists of words, a sentence a call", "characters", "ltp"),
    "tagged_lists": Kind("lists of words with tags, a batch a call", "characters"),
    "bare_docs": Kind("bare Docs of words that are known", "characters"),
    "make_doc": Kind("nlp.make_doc, a sentence a call", "characters", "", "bare_docs"),
    "tokenizer_pipe": Kind("nlp.tokenizer.pipe", "characters", "", "bare_docs"),
    "tagger_lists": Kind("tags of lists of words, a batch a call", "words"),
    "tagger_pipe": Kind("the tagger's pipe on Docs", "words", "", "tagger_lists"),
    "parser": Kind("trees of tagged words, a batch a call", "sentences", CNN, "parser_pipe"),
    "parser_greedy": Kind(
        "trees of tagged words, a batch a call, beam 1", "sentences", CNN, "parser_pipe"
    ),
    "parser_pipe": Kind("the parser's pipe on Docs", "sentences", CNN),
    "constituency": Kind("phrases of tagged words, a batch a call", "sentences"),
    "constituency_pipe": Kind(
        "the constituency parser's pipe on tagged Docs", "sentences", "", "constituency"
    ),
    "raw": Kind("nlp.pipe on raw text, with all pipes", "characters", CNN),
}
"""By name, in the order of the report. Systems without a call for a batch make one a sentence."""

FOUND: Final[Mapping[str, str]] = {
    "raw": "nlp.pipe, all pipes",
    "tokenizer_pipe": "nlp.tokenizer.pipe",
    "tagged_lists": "lists of words with tags",
    "lists": "lists of words",
}
"""Kinds whose words, from raw text, are scored; by which call they come."""

LATENCY: Final[Mapping[str, str]] = {
    "list": "words of a text",
    "make_doc": "nlp.make_doc",
    "raw": "nlp, all pipes",
}
"""Kinds of which single calls are timed, too."""
