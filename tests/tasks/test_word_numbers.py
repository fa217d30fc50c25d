"""The numbers of the fields of words, against the texts that they stand for."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from functools import cache

import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from word_field_twins import FIELDS, Field, unfold

from spacy_structreg.corpora.word_lists import ListedWord
from spacy_structreg.features.word_fields import CLASS_FIELDS, WORD_FIELDS
from spacy_structreg.tasks.knowledge.known_words import KnownWords
from spacy_structreg.tasks.knowledge.word_classes import WordClasses
from spacy_structreg.tasks.word_fields import TagSets, WordFields

TAGS = ("N", "V", "P")
PLAIN = WordFields()
LISTED = [
    ListedWord("学生", ("n", "v"), 3),
    ListedWord("a", ("n",), 1),
    ListedWord("学", (), 2),
]


CATEGORIES = {"学": [0, 1], "生": [0, 1], "a": [1]}
DICTIONARY = {"学生": [0], "家": [0], "a": [1, 2]}
TWINS: dict[str, Field] = {
    **FIELDS,
    "catstart": lambda word: tuple(CATEGORIES.get(unfold(word)[0], ())),
    "catend": lambda word: tuple(CATEGORIES.get(unfold(word)[-1], ())),
    "tags": lambda word: tuple(DICTIONARY.get(unfold(word), ())),
}


@cache
def knowing() -> WordFields:
    return WordFields(
        True,
        TagSets.from_mapping(3, {ord(each): found for each, found in CATEGORIES.items()}),
        TagSets.from_mapping(3, {PLAIN.key_of(word): found for word, found in DICTIONARY.items()}),
        word_classes=WordClasses.of_words(
            [("学生", "0110"), ("a", "011011"), ("b", "10")], PLAIN.key_of
        ),
        known=KnownWords.of(LISTED),
    )


words = st.one_of(
    st.sampled_from(["学生", "学", "生", "a", "b", "ａ", "家", "alpha", "IV", "试一试"]),
    st.text(st.one_of(st.sampled_from("aAbBIVX1３.,-。学三年α𠀀"), st.characters()), min_size=1,
            max_size=9),
)  # fmt: skip


def check(found: list[str], names: Iterable[str], value_of: Callable[[str, str], object]) -> None:
    """Words share the number of a field exactly when they share a value."""
    numbers = [knowing().values(word) for word in found]
    for name in names:
        values = [value_of(name, word) for word in found]
        pairs = set(zip([each[name] for each in numbers], values, strict=True))
        assert len({number for number, _ in pairs}) == len(pairs) == len(set(values)), name


@quick_examples(200)
@given(st.lists(words, max_size=6))
def test_words_share_a_number_exactly_when_they_share_a_text(found: list[str]) -> None:
    names = [name for name in WORD_FIELDS if name != "guide"]
    check(found, names, lambda name, word: knowing().text(name, word, TAGS))


# With two characters of each kind, and full-width and upper-case ones that look like others.
plain_words = st.text(st.sampled_from("学生家aAｂB12３。，三十年Éé"), min_size=1, max_size=7)
long_words = st.integers(13, 18).flatmap(lambda n: st.just("aab"[: n % 3] + "家" * n))


@quick_examples(200)
@given(st.lists(st.one_of(plain_words, long_words), max_size=6))
def test_words_share_a_number_exactly_when_the_twin_says_so(found: list[str]) -> None:
    more = [word.swapcase() for word in found]
    check([*found, *more], TWINS, lambda name, word: TWINS[name](word))


def test_texts_by_hand() -> None:
    fields = knowing()
    assert [fields.text(name, "ａ", TAGS) for name in ("w", "tags", "catend", "listed")] == [
        "a", "V/P", "V", "n",
    ]  # fmt: skip
    assert [fields.text(name, "学生") for name in CLASS_FIELDS] == ["0110"] * 5
    assert fields.text("class6", "a") == "011011"
    assert fields.text("class", "生") == ""
    assert fields.text("listed", "学") == ""
    assert fields.text("listed", "生") is None
    assert PLAIN.text("listed", "学生") is PLAIN.text("tags", "学生", TAGS) is None
    with pytest.raises(KeyError):
        PLAIN.text("size", "学生")


def test_fields_survive_pickling() -> None:
    again = pickle.loads(pickle.dumps(knowing()))
    assert again.values("学生") == knowing().values("学生")
