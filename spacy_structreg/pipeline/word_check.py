"""Warnings of Docs that are not of the kind that a model learned from.

spaCy imports this module whenever any pipeline is made, so it imports next to nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from spacy.tokens import Doc

if TYPE_CHECKING:
    from spacy_structreg.models.word_counts import WordCounts

# A training corpus of fewer Chinese words says nothing about them.
_LEAST_LEARNED: Final = 20
# So many different characters, each a token, are seen at least before a warning: twice as many as
# are found in a row in our treebank.
_LEAST_SEEN: Final = 32
# How often so many in a row may be found in text like that of the training corpus.
_CHANCE: Final = 1e-6
# A model of single characters that has seen so many of them, and no word, will see none.
_ENOUGH: Final = 300


class WordCheck:
    """Warns of Docs of single characters for a model of words, of the reverse, and of missing tags.

    Of each of the two, words and tags, at most once; it belongs to one pipe in one process.
    pipe: its name.

    A model of words meets single characters if the first Chinese tokens of all Docs have one
    character each, 32 or more different ones, and so many together would come up by chance less
    than once in a million times: if s is the share of the Chinese words of the training corpus that
    have several characters, n characters with (1 - s)ⁿ ≤ 10⁻⁶. A Doc of one Chinese token says
    nothing. A model of single characters, to which s is 0, meets words at the first Chinese token
    of several characters. Models that have learned from less than 20 Chinese words warn of neither.
    """

    def __init__(self, pipe: str) -> None:
        self._pipe = pipe
        self._counts: WordCounts | None = None
        self._words_are_known = self._tags_are_known = False
        self._single: set[str] = set()

    def words(self, docs: Iterable[Doc], counts: WordCounts) -> None:
        """Look at the words of Docs. counts: of the training corpus of the model."""
        if counts is not self._counts:
            # The model is another one than before.
            self._counts = counts
            self._words_are_known = counts.han < _LEAST_LEARNED
            self._single = set()
        if not self._words_are_known:
            self._look(docs, counts)

    def _look(self, docs: Iterable[Doc], counts: WordCounts) -> None:
        from spacy_structreg.models.word_counts import is_han

        for doc in docs:
            chinese = [token.text for token in doc if is_han(token.text)]
            several = next((text for text in chinese if len(text) > 1), None)
            if several is not None:
                if not counts.long:
                    self._warn(
                        "learned from single characters, but is given words, such as "
                        f"{several!r:.40}; "
                        'set segmenter = "char" in [nlp.tokenizer] of the pipeline, which then '
                        "parts all characters, or train the pipe on words"
                    )
                self._words_are_known = True
                return
            if len(chinese) > 1:
                self._single.update(chinese)
        share = counts.share_of_long
        n_single = len(self._single)
        if not share:
            self._words_are_known = n_single >= _ENOUGH
        elif n_single >= _LEAST_SEEN and (1 - share) ** n_single <= _CHANCE:
            self._warn(
                f"learned from words, of which {share:.0%} have several characters, but is given "
                "single characters, as by spaCy's own tokenizer of Chinese; let the pipeline have "
                "a tokenizer that finds words, by 'python -m spacy structreg init-config … --base "
                "SEGMENTER', or give it Docs of words"
            )
            self._words_are_known = True

    def tags(self, docs: Iterable[Doc], counts: WordCounts, attribute: str) -> None:
        """Look for tags in Docs. counts: as of `words`. attribute: ``"tag"`` or ``"pos"``."""
        if self._tags_are_known or 2 * counts.annotated <= counts.words:
            return
        for doc in docs:
            if not doc.has_annotation(attribute.upper()) and not doc.text.isspace() and len(doc):
                self._warn(
                    f"learned from words with tags, but token.{attribute}_ is empty in "
                    f"{doc.text!r:.40}; put a pipe before it that tags, by 'python -m spacy "
                    "structreg init-config … --base TAGGER', or give it Docs with tags"
                )
                self._tags_are_known = True
                return

    def _warn(self, what: str) -> None:
        warnings.warn(f"the pipe {self._pipe!r} {what}", UserWarning, stacklevel=2)
