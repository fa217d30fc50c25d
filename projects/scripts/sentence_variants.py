"""Variants of gold sentences in another script, or with other punctuation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.sentences import latin_spaces
from spacy_structreg.pipeline.text_variants import HALF_WIDTH_FORMS, count_final_marks

PUNCTUATION: Final = "PU"
"""The tag of punctuation in the Chinese Treebank."""


def with_spaces(sentence: Sentence) -> Sentence:
    """A sentence with the spaces of its text, which files of brackets do not keep."""
    return replace(sentence, spaces=sentence.spaces or tuple(latin_spaces(sentence.words)))


def rewritten(sentence: Sentence, rewrite: Callable[[str], str]) -> Sentence:
    """Return a sentence with converted words and the same annotation."""
    return replace(sentence, words=tuple(map(rewrite, sentence.words)))


def half_width_punctuation(sentence: Sentence) -> Sentence:
    """A tagged sentence with punctuation in half width, and its annotation."""
    pairs = zip(sentence.words, sentence.tags, strict=True)
    return replace(
        sentence,
        words=tuple(
            word.translate(HALF_WIDTH_FORMS) if tag == PUNCTUATION else word for word, tag in pairs
        ),
    )


def without_punctuation(sentence: Sentence) -> Sentence | None:
    """The other words of a tagged sentence than punctuation, with their tags; None without any."""
    return _chosen(sentence, [tag != PUNCTUATION for tag in sentence.tags])


def without_final_punctuation(sentence: Sentence) -> Sentence | None:
    """The words of a tagged sentence before its final punctuation, with their tags.

    Final punctuation is that of `count_final_marks`.
    """
    n_kept = len(sentence.words) - count_final_marks(sentence.words)
    return _chosen(sentence, [place < n_kept for place in range(len(sentence.words))])


def _chosen(sentence: Sentence, keeps: list[bool]) -> Sentence | None:
    """Some words of a sentence, and their tags. Trees and entities may not fit any longer."""
    rows = zip(sentence.words, sentence.tags, keeps, strict=True)
    pairs = [(word, tag) for word, tag, kept in rows if kept]
    return with_spaces(Sentence.of_pairs(pairs)) if pairs else None
