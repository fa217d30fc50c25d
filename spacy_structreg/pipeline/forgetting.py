"""Pipelines in bounded memory: what they forget of the texts that they have seen."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Final

from spacy.language import Language

__all__ = ["Forgetting"]

# Of a vocabulary.
_NOT_WORDS: Final = ("vectors", "lookups")


class Forgetting:
    """Lets a pipeline forget the words that were not in its vocabulary when it was loaded.

    nlp: nobody else may use it. most: so many new words, of some 400 bytes each, are kept before
    all of them are forgotten: to make words anew costs more than to find them.
    """

    def __init__(self, nlp: Language, most: int) -> None:
        self._nlp = nlp
        self._more = most
        self._zone = ExitStack()
        self._most = 0

    def forget(self) -> None:
        """Forget, if there are so many new words; no Doc may be in use."""
        strings = self._nlp.vocab.strings
        if len(strings) <= self._most:
            return
        self._zone.close()
        # Its tables are left with gaps, and grow with every zone if they are not filled anew.
        vocab: Any = self._nlp.vocab
        getters = dict(vocab.lex_attr_getters)
        vocab.from_bytes(vocab.to_bytes(exclude=_NOT_WORDS), exclude=_NOT_WORDS)
        # Which wraps one of them in itself.
        vocab.lex_attr_getters = getters
        self._zone.enter_context(self._nlp.memory_zone())
        self._most = len(strings) + self._more
