"""Classes of words by their keys, and as fields of words."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.features.word_fields import CLASS_FIELDS, PATH_LENGTHS
from spacy_structreg.tasks.dependencies.arc_eager import ArcEager
from spacy_structreg.tasks.knowledge.word_classes import WordClasses
from spacy_structreg.tasks.tagging import TagTransitions
from spacy_structreg.tasks.word_fields import WordFields

PLAIN = WordFields()
NAMES = st.one_of(
    st.lists(st.text("01", min_size=1, max_size=25), min_size=1),
    st.lists(st.text("01a", min_size=1, max_size=3), min_size=1),
)


def of_field(classes: WordClasses, word: str, field: int) -> str | None:
    return classes.text_of(classes.number(PLAIN.key_of(word)), field)


@quick_examples(40)
@given(st.lists(st.text("一二三AＡ", max_size=3), unique=True), NAMES, st.data())
def test_classes_are_those_of_the_words(words: list[str], names: list[str], data: Any) -> None:
    chosen = {word: data.draw(st.sampled_from(names)) for word in words}
    # A full-width form is seen as the other one; whichever comes first counts.
    expected: dict[str, str] = {}
    for word, name in chosen.items():
        expected.setdefault(word.replace("Ａ", "A"), name)
    classes = WordClasses.of_words(chosen.items(), PLAIN.key_of)
    again = pickle.loads(pickle.dumps(classes))
    assert len(classes) == len(expected) == again.n
    assert classes.names == again.names == tuple(sorted(set(expected.values())))
    tree = bool(expected) and all(set(name) <= {"0", "1"} for name in expected.values())
    assert classes.is_tree == tree
    for word in [*words, "不在"]:
        name = expected.get(word.replace("Ａ", "A"), "")
        assert of_field(classes, word, 0) == of_field(again, word, 0) == name
        for field, size in enumerate(PATH_LENGTHS, 1):
            assert of_field(classes, word, field) == (name[:size] if tree else None)


ARRAYS = {
    "keys": np.array([3, 7], dtype=np.uint64),
    "numbers": np.array([1, 0], dtype=np.uint16),
}


@looped(
    ("names", "arrays"),
    [
        (["b", "a"], ARRAYS),
        (["a", "a"], ARRAYS),
        (["", "a"], ARRAYS),
        ([1, 2], ARRAYS),
        (["a"], ARRAYS),
        ([str(i) for i in range(10_000, 80_000)], ARRAYS),
        (["a", "b"], {"keys": ARRAYS["keys"]}),
        (["a", "b"], {**ARRAYS, "more": ARRAYS["keys"]}),
        (["a", "b"], {**ARRAYS, "keys": np.array([7, 3], dtype=np.uint64)}),
        (["a", "b"], {**ARRAYS, "keys": np.array([7, 7], dtype=np.uint64)}),
        (["a", "b"], {**ARRAYS, "keys": np.array([7], dtype=np.uint64)}),
        (["a", "b"], {**ARRAYS, "keys": np.array([3, 7], dtype=np.int64)}),
        (["a", "b"], {**ARRAYS, "numbers": np.array([[1, 0]], dtype=np.uint16)}),
        (["a", "b"], {**ARRAYS, "numbers": np.array([0, 2], dtype=np.uint16)}),
    ],
)
def test_what_is_no_table_is_refused(names: Any, arrays: Any) -> None:
    WordClasses(["a", "b"], ARRAYS)
    with pytest.raises(ValueError, match="word"):
        WordClasses(names, arrays)


def test_templates_read_classes_only_where_there_are_some() -> None:
    classes = WordClasses.of_words([("狗", "0101")], PLAIN.key_of)
    words = WordFields(word_classes=classes)
    for field in CLASS_FIELDS:
        TagTransitions(words, 2, [f"{field}(w-1)"])
        ArcEager(words, 1, [f"{field}(S0)"], ["action"])
        with pytest.raises(ValueError, match="setting word_classes"):
            TagTransitions(PLAIN, 2, [f"{field}(w-1)"])
        with pytest.raises(ValueError, match="setting word_classes"):
            ArcEager(PLAIN, 1, [f"{field}(S0)"], ["action"])
    assert pickle.loads(pickle.dumps(words)).word_classes.names == ("0101",)
