"""Variants of gold sentences in another script, or with other punctuation.

What half-width marks are, and which marks at an end are left out, holds for all who write variants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final

from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.sentences import STOPS, TERMINATORS, latin_spaces

PUNCTUATION: Final = "PU"
"""The tag of punctuation in the Chinese Treebank."""

_MARKS: Final = dict(zip("，。！？；：（）", ",.!?;:()", strict=True))
# Several of them become one.
_OTHER_MARKS: Final = dict(zip("、“”‘’", ",\"\"''", strict=True))
_FULL_WIDTH_ASCII: Final = range(0xFF01, 0xFF5F)

HALF_WIDTH_FORMS: Final = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in _FULL_WIDTH_ASCII} | _MARKS | _OTHER_MARKS
)
"""Full-width forms of ASCII, other full-width marks and curly quotes as they are typed without an
input method, for `str.translate`: a character for each."""

FULL_WIDTH_MARKS: Final = str.maketrans({half: full for full, half in _MARKS.items()})
"""The half-width marks whose full-width ones are known, for `str.translate`."""

_FINAL: Final = frozenset(TERMINATORS + STOPS)


def count_final_marks(words: Sequence[str]) -> int:
    """Number of words at the end of a text that are final punctuation, which many people leave out.

    They are marks that end sentences, such as ``。`` and ``？！``; quotes and brackets are none,
    for those that open would be left over. The first word is none.
    """
    return sum(1 for _ in takewhile(_FINAL.issuperset, reversed(words[1:])))


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
