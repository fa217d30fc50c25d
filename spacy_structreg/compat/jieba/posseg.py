"""jieba's tagging, over a pipeline of ours: ``import spacy_structreg.compat.jieba.posseg as pseg``.

Flags are those of jieba: ``n``, ``v``, ``nr`` and so on. A listed word has the flag that it was
listed with. Others have that of their tag (`corpora.tag_maps.FLAGS_OF_CTB`); tags that are flags of
jieba's kind stay. Proper nouns are ``nr``, ``ns`` or ``nt`` within a person, a place or an
organization that the pipeline finds, and else ``nz``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from spacy_structreg.compat import jieba
from spacy_structreg.corpora.tag_maps import FLAGS_OF_CTB, LIST_FLAGS

__all__ = ["POSTokenizer", "cut", "dt", "initialize", "lcut", "pair"]

_NUMBER: Final = re.compile("[.0-9]+")
_LATIN: Final = re.compile("[a-zA-Z0-9]+")
_OF_ENTITY: Final = {
    "PERSON": "nr",
    "PER": "nr",
    "GPE": "ns",
    "LOC": "ns",
    "FAC": "ns",
    "ORG": "nt",
}
_ASPECT: Final = {"着": "uz", "著": "uz", "过": "ug", "過": "ug"}
_OF_POS: Final = {
    **{"ADJ": "a", "ADP": "p", "ADV": "d", "AUX": "v", "CCONJ": "c", "DET": "r", "INTJ": "e"},
    **{"NOUN": "n", "NUM": "m", "PART": "u", "PRON": "r", "PROPN": "nz", "SCONJ": "c", "VERB": "v"},
}
_USEFUL: Final = frozenset({"doc.ents", "token.tag", "token.pos"})


class pair:
    """A word and its flag, which may be unpacked."""

    def __init__(self, word: str, flag: str) -> None:
        self.word = word
        self.flag = flag

    def __repr__(self) -> str:
        return f"pair({self.word!r}, {self.flag!r})"

    def __str__(self) -> str:
        return f"{self.word}/{self.flag}"

    def __iter__(self) -> Iterator[str]:
        return iter((self.word, self.flag))

    def __lt__(self, other: pair) -> bool:
        return self.word < other.word

    def __eq__(self, other: object) -> bool:
        return isinstance(other, pair) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self.word)

    def encode(self, arg: str) -> bytes:
        """The word and its flag, parted by a slash, in an encoding."""
        return str(self).encode(arg)


class POSTokenizer:
    """A tokenizer whose words have flags; what it has not is that of the tokenizer."""

    def __init__(self, tokenizer: jieba.Tokenizer | None = None) -> None:
        self.tokenizer = jieba.Tokenizer() if tokenizer is None else tokenizer

    def __repr__(self) -> str:
        return f"<POSTokenizer tokenizer={self.tokenizer!r}>"

    def __getattr__(self, name: str) -> Any:
        # As jieba has it.
        if name in ("cut_for_search", "lcut_for_search", "tokenize", "tokenizer"):
            raise NotImplementedError(f"words with flags have no {name}; call the tokenizer's")
        return getattr(self.tokenizer, name)

    def cut(self, sentence: jieba.Text, HMM: bool = True) -> Iterator[pair]:
        """Yield the words of a text, and the white space between them, with their flags.

        Raises ValueError if the pipeline gives no tags.
        """
        text = jieba.decoded(sentence)
        nlp = jieba.pipeline()
        doc = self.tokenizer.model_tokenizer()(text, user_words=self.tokenizer.words())
        for name, pipe in nlp.pipeline:
            if not _USEFUL.isdisjoint(nlp.get_pipe_meta(name).assigns):
                doc = pipe(doc)
        if len(doc) and not (doc.has_annotation("TAG") or doc.has_annotation("POS")):
            raise ValueError(
                "the pipeline finds words without tags, and flags need tags; use another one, such "
                "as use('zh_structreg')"
            )
        flags = self.tokenizer.user_word_tag_tab
        end = 0
        for token in doc:
            if not token.is_space:
                for gap in jieba.gaps(text, end, token.idx):
                    yield pair(text[slice(*gap)], "x")
                yield pair(token.text, flags.get(token.text) or _flag(token))
                end = token.idx + len(token)
        for gap in jieba.gaps(text, end, len(text)):
            yield pair(text[slice(*gap)], "x")

    def lcut(self, sentence: jieba.Text, HMM: bool = True) -> list[pair]:
        """The list of what `cut` yields."""
        return list(self.cut(sentence, HMM))


def _flag(token: Any) -> str:
    """jieba's flag for a token with a tag."""
    if _NUMBER.fullmatch(token.text):
        return "m"
    if _LATIN.fullmatch(token.text):
        return "eng"
    if token.tag_ == "AS":
        return _ASPECT.get(token.text, "ul")
    flag = FLAGS_OF_CTB.get(token.tag_)
    if flag is None:
        is_flag = token.tag_.lower() in LIST_FLAGS
        flag = token.tag_ if is_flag else _OF_POS.get(token.pos_, "x")
    return _OF_ENTITY.get(token.ent_type_, flag) if flag == "nz" else flag


dt: Final = POSTokenizer(jieba.dt)
"""The tokenizer that the functions of this module are of."""

initialize: Final = dt.initialize
"""`Tokenizer.initialize` of the tokenizer of `dt`."""


def cut(sentence: jieba.Text, HMM: bool = True, use_paddle: bool = False) -> Iterator[pair]:
    """Yield the words of a text, and the white space between them, with their flags."""
    yield from dt.cut(sentence, HMM)


def lcut(sentence: jieba.Text, HMM: bool = True, use_paddle: bool = False) -> list[pair]:
    """The list of what `cut` yields."""
    return list(cut(sentence, HMM))
