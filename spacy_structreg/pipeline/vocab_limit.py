"""Pipelines in bounded memory: what they forget of the texts that they have seen."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Final

from spacy.language import Language

# The parts of a vocabulary that no text adds to.
_NOT_WORDS: Final = ("vectors", "lookups")


class VocabLimit:
    """Lets a pipeline forget the words that were not in its vocabulary when it was loaded.

    nlp: nobody else may use it. n_new: after so many new words, of some 400 bytes each, all of them
    are forgotten. Making words anew costs more than finding them, so it is not done each time.
    """

    def __init__(self, nlp: Language, n_new: int) -> None:
        self._nlp = nlp
        self._n_new = n_new
        self._zone = ExitStack()
        self._limit = 0

    def forget(self) -> None:
        """Forget all new words if there are more than `n_new`; no Doc may be in use."""
        strings = self._nlp.vocab.strings
        if len(strings) <= self._limit:
            return
        self._zone.close()
        # The end of a zone leaves gaps in the tables, which would grow with every zone: they are
        # filled anew.
        vocab: Any = self._nlp.vocab
        getters = dict(vocab.lex_attr_getters)
        vocab.from_bytes(vocab.to_bytes(exclude=_NOT_WORDS), exclude=_NOT_WORDS)
        # Reading the bytes wraps one of the functions in itself, again each time.
        vocab.lex_attr_getters = getters
        self._zone.enter_context(self._nlp.memory_zone())
        self._limit = len(strings) + self._n_new
