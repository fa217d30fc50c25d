"""Gold sentences as others would write them."""

from __future__ import annotations

from typing import Any

import spacy
from looped import looped
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.annotated import AnnotatedSentence
from spacy_structreg.corpora.text_variants import (
    count_final_marks,
    half_width_punctuation,
    rewritten,
    with_spaces,
    without_final_punctuation,
    without_punctuation,
)
from spacy_structreg.pipeline.text_variants import create_text_variants

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
    # Words that come to be neighbors have a space between.
    assert without_punctuation(SENTENCE) == AnnotatedSentence(
        ["用", "Node", "Git", "，"],
        ["P", "NR", "NR", "NN"],
        spaces=[False, True, False, False],
    )


@looped(
    ("words", "n_marks"),
    [
        (["好", "。"], 1),
        (["好", "？", "！！", "."], 3),
        (["真", "……"], 1),
        # Without the closing quote or bracket, the opening one would be left over.
        (["“", "好", "。", "”"], 0),
        (["好", "，"], 0),
        (["。", "。"], 1),
        (["！"], 0),
        ([], 0),
    ],
)
def test_final_punctuation_is_what_ends_sentences(words: list[str], n_marks: int) -> None:
    assert count_final_marks(words) == n_marks
    tags = ["NN" if word in "好真" else "PU" for word in words]
    changed = without_final_punctuation(AnnotatedSentence(words, tags, heads=[-1] * len(words)))
    n_kept = len(words) - n_marks
    assert (changed.words, changed.tags) == (words[:n_kept], tags[:n_kept])
    assert changed.heads is changed.entities is None


class CountedList(list[str]):
    """A list that counts what is copied from it."""

    n_copied = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        if isinstance(place, slice):
            CountedList.n_copied += len(found)
        return found


def test_rows_of_final_marks_are_no_burden() -> None:
    n = 10_000
    CountedList.n_copied = 0
    sentence = AnnotatedSentence(
        CountedList(["好", *"！" * n, "好", "！"]), CountedList(["VA", *["PU"] * n, "VA", "PU"])
    )
    assert len(without_final_punctuation(sentence).words) == n + 2
    assert CountedList.n_copied < 10 * n


def test_augmented_corpora_and_reports_have_the_same_variants() -> None:
    nlp = spacy.blank("zh")
    words = ["“", "好", "”", "、", "‘", "来", "’", "：", "（", "～", "）", "…", "。", "？！"]
    doc = Doc(nlp.vocab, words=words, spaces=[False] * len(words))
    sentence = AnnotatedSentence(words, ["PU"] * len(words))

    def augmented(**chances: float) -> list[str]:
        off = {"half_width": 0.0, "no_final": 0.0, "spaces": 0.0}
        augment = create_text_variants(**{**off, **chances}, keep=False)
        (example,) = augment(nlp, Example(doc, doc))
        return [token.text for token in example.reference]

    narrow = half_width_punctuation(sentence).words
    assert narrow == [*"\"好\",'来':(~)….", "?!"]
    assert augmented(half_width=1.0) == narrow
    assert augmented(no_final=1.0) == without_final_punctuation(sentence).words == words[:-3]


def test_nothing_may_be_left() -> None:
    assert without_punctuation(AnnotatedSentence(["！"], ["PU"])).words == []
