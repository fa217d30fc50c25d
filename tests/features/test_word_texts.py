"""What is seen of how words are written, against worked examples and Python's own case mapping."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.features.word_fields import (
    MAX_CHARACTERS,
    WORD_FIELDS,
    capitals,
    digits,
    kinds,
    letter_ngrams,
    lower_case,
    parts,
    shape,
)


def text_of(name: str, word: str) -> str | None:
    read = WORD_FIELDS[name].text
    assert read is not None
    return read(word)


words = st.text(
    st.one_of(st.sampled_from("aAbZéÉγ3０三年.-,。学\0𠀀|\\"), st.characters()), max_size=9
)


@looped(
    ("word", "expected"),
    [
        ("", ("", "", "none")),
        ("Word", ("Xxxx", "Xx", "first")),
        ("WORD", ("XXXX", "X", "all")),
        ("A", ("X", "X", "first")),
        ("McCoy", ("XxXxx", "XxXx", "mixed")),
        ("iPod", ("xXxx", "xXx", "mixed")),
        ("the", ("xxx", "x", "lower")),
        ("1,024.5", ("0p000.0", "0p0.0", "none")),
        ("B-52", ("X-00", "X-0", "first")),
        ("三月７日", ("nd0d", "nd0d", "none")),
        ("学\0𠀀", ("opo", "opo", "none")),
        ("Ａｂ", ("Xx", "Xx", "first")),
    ],
)
def test_kinds_shapes_and_capitals(word: str, expected: tuple[str, str, str]) -> None:
    assert (kinds(word), shape(word), capitals(word)) == expected


@looped(
    ("word", "expected"),
    [
        ("TNF-alpha", "X-G"),
        ("IFN-γ", "X-G"),
        ("NF-kappaB", "X-GX"),
        ("Γ", "G"),
        ("IL-2", "X-0"),
        ("Factor-VIII", "Xx-R"),
        ("Xenopus", "Xx"),
        ("IV", "R"),
        ("XL", "X"),
        ("VIIII", "X"),
        ("((a))", "(x)"),
        ("a,;b", "x,;x"),
        ("p53/p73", "x0/x0"),
        ("BETA", "G"),
        ("", ""),
    ],
)
def test_parts_of_biomedical_names(word: str, expected: str) -> None:
    assert parts(word) == expected


def test_digits_become_zeros() -> None:
    assert digits("Type-2B９") == "type-0b0"
    assert digits("三\U0001d7d7") == "三\U0001d7d7"


@given(st.text(st.characters(max_codepoint=0x24F), max_size=9))
def test_case_is_that_of_python_where_lengths_stay(word: str) -> None:
    expected = "".join(c.lower() if len(c.lower()) == 1 else c for c in word)
    assert lower_case(word) == "".join(
        new if ord(old) not in (0xAA, 0xB5, 0xBA) else old
        for old, new in zip(word, expected, strict=True)
    )


@given(words)
def test_affixes(word: str) -> None:
    small = lower_case(word)
    for size in range(1, 7):
        names = (f"prefix{size}", f"suffix{size}") if size > 1 else ("start", "end")
        expected = (small[:size], small[len(small) - size :]) if size <= len(word) else (None, None)
        assert tuple(text_of(name, word) for name in names) == expected


@given(words)
def test_only_some_fields_are_null(word: str) -> None:
    for name, field in WORD_FIELDS.items():
        if field.text is not None:
            assert field.is_nullable or text_of(name, word) is not None


def test_letter_ngrams_of_short_words() -> None:
    assert letter_ngrams("") == []
    assert set(letter_ngrams("a")) == {".a.", "^a.", ".a$", "^a$"}
    assert set(letter_ngrams("ab")) == {
        ".a.", ".b.", "^a.", ".ab.", ".b$", "^ab.", ".ab$", "^ab$",
    }  # fmt: skip


@given(st.text(st.sampled_from("ab^$."), max_size=12))
def test_letter_ngrams_are_the_substrings_of_the_word_between_its_ends(word: str) -> None:
    # Brackets stand for the ends, which no word here contains.
    between = f"<{word}>"
    expected = {
        between[i : i + n] for n in range(1, 7) for i in range(len(between) - n + 1)
    } - {"<", ">", "<>"}  # fmt: skip
    found = letter_ngrams(word)
    assert len(found) == len(set(found))
    assert {
        re.sub(r"^\.", "", re.sub(r"^\^", "<", text[0]))
        + text[1:-1]
        + {"$": ">", ".": ""}[text[-1]]
        for text in found
    } == expected


def test_long_words_cost_no_more_than_their_beginning() -> None:
    word = "ab" * 1_000_000
    assert letter_ngrams(word) == letter_ngrams(word[:MAX_CHARACTERS])
    assert text_of("len", word) == "15"
    assert text_of("pattern", word) == "ABABABABABABABA"
