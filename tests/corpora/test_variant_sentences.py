"""Gold sentences as others would write them."""

from __future__ import annotations

from spacy_structreg.corpora.annotated import AnnotatedSentence
from spacy_structreg.corpora.text_variants import (
    half_width_punctuation,
    rewritten,
    with_spaces,
    without_final_punctuation,
    without_punctuation,
)

SENTENCE = with_spaces(
    AnnotatedSentence(
        ["用", "Node", "，", "Git", "…", "（", "，"],
        ["P", "NR", "PU", "NR", "PU", "PU", "NN"],
        heads=[1, -1, 1, 1, 1, 1, 1],
        entities=[(1, 2, "PRODUCT")],
    )
)


def test_latin_words_have_spaces_between() -> None:
    sentence = with_spaces(AnnotatedSentence(["用", "Git", "Hub", "，", "好"]))
    assert sentence.spaces == [False, True, False, False, False]
    known = AnnotatedSentence(["a", "b"], spaces=[False, False])
    assert with_spaces(known) == known


def test_half_width_is_of_punctuation_alone() -> None:
    changed = half_width_punctuation(SENTENCE)
    assert changed == SENTENCE._replace(words=["用", "Node", ",", "Git", "…", "(", "，"])
    assert [*map(len, changed.words)] == [*map(len, SENTENCE.words)]


def test_all_is_kept_of_another_script() -> None:
    changed = rewritten(SENTENCE, lambda word: word.replace("用", "甪"))
    assert changed == SENTENCE._replace(words=["甪", *SENTENCE.words[1:]])


def test_words_without_punctuation() -> None:
    # Words that come to be neighbours have a space between.
    assert without_punctuation(SENTENCE) == AnnotatedSentence(
        ["用", "Node", "Git", "，"],
        ["P", "NR", "NR", "NN"],
        spaces=[False, True, False, False],
    )


def test_final_punctuation_is_all_behind_the_last_word() -> None:
    assert without_final_punctuation(SENTENCE).words == SENTENCE.words
    sentence = SENTENCE._replace(words=SENTENCE.words[:6], tags=(SENTENCE.tags or [])[:6])
    changed = without_final_punctuation(sentence)
    assert (changed.words, changed.tags) == (["用", "Node", "，", "Git"], ["P", "NR", "PU", "NR"])
    assert changed.heads is changed.entities is None


def test_nothing_may_be_left() -> None:
    sentence = AnnotatedSentence(["！"], ["PU"])
    assert without_punctuation(sentence).words == without_final_punctuation(sentence).words == []
