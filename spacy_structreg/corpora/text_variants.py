"""Gold sentences as others would write them: in another script, or with other punctuation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from spacy_structreg.corpora.annotated import AnnotatedSentence
from spacy_structreg.corpora.sentences import latin_spaces

__all__ = [
    "half_width_punctuation",
    "rewritten",
    "with_spaces",
    "without_final_punctuation",
    "without_punctuation",
]

PUNCTUATION: Final = "PU"
"""The tag of punctuation in the Chinese Treebank."""

# As it is typed without an input method: a character for each.
_HALF_WIDTH: Final = str.maketrans("，、。！？；：（）“”‘’", ",,.!?;:()\"\"''")


def with_spaces(sentence: AnnotatedSentence) -> AnnotatedSentence:
    """A sentence with the spaces of its text, which files of brackets do not keep."""
    return sentence._replace(spaces=sentence.spaces or latin_spaces(sentence.words))


def rewritten(sentence: AnnotatedSentence, rewrite: Callable[[str], str]) -> AnnotatedSentence:
    """A sentence whose words are written otherwise, and its annotation."""
    return sentence._replace(words=list(map(rewrite, sentence.words)))


def half_width_punctuation(sentence: AnnotatedSentence) -> AnnotatedSentence:
    """A tagged sentence with punctuation in half width, and its annotation."""
    pairs = zip(sentence.words, sentence.tags or (), strict=True)
    return sentence._replace(
        words=[word.translate(_HALF_WIDTH) if tag == PUNCTUATION else word for word, tag in pairs]
    )


def without_punctuation(sentence: AnnotatedSentence) -> AnnotatedSentence:
    """The other words of a tagged sentence than punctuation, with their tags; maybe none."""
    return _chosen(sentence, [tag != PUNCTUATION for tag in sentence.tags or ()])


def without_final_punctuation(sentence: AnnotatedSentence) -> AnnotatedSentence:
    """The words of a tagged sentence up to the last that is no punctuation, with their tags."""
    tags = sentence.tags or []
    return _chosen(sentence, [set(tags[index:]) != {PUNCTUATION} for index in range(len(tags))])


def _chosen(sentence: AnnotatedSentence, keeps: list[bool]) -> AnnotatedSentence:
    """Some words of a sentence, and their tags. Trees and entities may not fit any longer."""
    rows = zip(sentence.words, sentence.tags or (), keeps, strict=True)
    pairs = [(word, tag) for word, tag, kept in rows if kept]
    return with_spaces(AnnotatedSentence([word for word, _ in pairs], [tag for _, tag in pairs]))
