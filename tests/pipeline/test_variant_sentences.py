"""Gold sentences as others would write them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import spacy
from looped import looped
from sentence_variants import (
    half_width_punctuation,
    rewritten,
    with_spaces,
    without_final_punctuation,
    without_punctuation,
)
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.pipeline.text_variants import count_final_marks, create_text_variants

SENTENCE = with_spaces(
    Sentence(
        ("用", "Node", "，", "Git", "…", "（", "，"),
        ("P", "NR", "PU", "NR", "PU", "PU", "NN"),
        heads=(1, -1, 1, 1, 1, 1, 1),
        entities=[(1, 2, "PRODUCT")],
    )
)


def test_latin_words_have_spaces_between() -> None:
    sentence = with_spaces(Sentence(("用", "Git", "Hub", "，", "好")))
    assert sentence.spaces == (False, True, False, False, False)
    known = Sentence(("a", "b"), spaces=(False, False))
    assert with_spaces(known) == known


def test_half_width_is_of_punctuation_alone() -> None:
    changed = half_width_punctuation(SENTENCE)
    assert changed == replace(SENTENCE, words=("用", "Node", ",", "Git", "…", "(", "，"))
    assert [*map(len, changed.words)] == [*map(len, SENTENCE.words)]


def test_all_is_kept_of_another_script() -> None:
    changed = rewritten(SENTENCE, lambda word: word.replace("用", "甪"))
    assert changed == replace(SENTENCE, words=("甪", *SENTENCE.words[1:]))


def test_words_without_punctuation() -> None:
    # Words that come to be neighbors have a space between.
    assert without_punctuation(SENTENCE) == Sentence(
        ("用", "Node", "Git", "，"),
        ("P", "NR", "NR", "NN"),
        spaces=(False, True, False, False),
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
    ],
)
def test_final_punctuation_is_what_ends_sentences(words: list[str], n_marks: int) -> None:
    assert count_final_marks(words) == n_marks
    tags = ["NN" if word in "好真" else "PU" for word in words]
    tree = Sentence(tuple(words), tuple(tags), (-1,) * len(words))
    n_kept = len(words) - n_marks
    pairs = zip(words[:n_kept], tags[:n_kept], strict=True)
    assert without_final_punctuation(tree) == with_spaces(Sentence.of_pairs(pairs))


class CountedTuple(tuple[str, ...]):
    """A tuple that counts what is copied from it."""

    n_copied = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        if isinstance(place, slice):
            CountedTuple.n_copied += len(found)
        return found


def test_rows_of_final_marks_are_no_burden() -> None:
    n = 10_000
    CountedTuple.n_copied = 0
    sentence = Sentence(
        CountedTuple(["好", *"！" * n, "好", "！"]), CountedTuple(["VA", *["PU"] * n, "VA", "PU"])
    )
    changed = without_final_punctuation(sentence)
    assert changed is not None
    assert len(changed.words) == n + 2
    assert CountedTuple.n_copied < 10 * n


def test_augmented_corpora_and_reports_have_the_same_variants() -> None:
    nlp = spacy.blank("zh")
    words = ["“", "好", "”", "、", "‘", "来", "’", "：", "（", "～", "）", "…", "。", "？！"]
    doc = Doc(nlp.vocab, words=words, spaces=[False] * len(words))
    sentence = Sentence(tuple(words), ("PU",) * len(words))

    def augmented(**chances: float) -> tuple[str, ...]:
        off = {"half_width": 0.0, "no_final": 0.0, "spaces": 0.0}
        augment = create_text_variants(**{**off, **chances}, keep=False)
        (example,) = augment(nlp, Example(doc, doc))
        return tuple(token.text for token in example.reference)

    narrow = half_width_punctuation(sentence).words
    assert narrow == (*"\"好\",'来':(~)….", "?!")
    assert augmented(half_width=1.0) == narrow
    changed = without_final_punctuation(sentence)
    assert changed is not None
    assert augmented(no_final=1.0) == changed.words == tuple(words[:-3])


def test_nothing_may_be_left() -> None:
    assert without_punctuation(Sentence(("！",), ("PU",))) is None
