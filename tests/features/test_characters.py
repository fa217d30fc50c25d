"""Character types, the half-width view, and what no segmentation may do."""

from __future__ import annotations

import unicodedata

import pytest
from looped import looped

from spacy_structreg.features.character_classes import (
    ALPHABETS,
    EXTENDS,
    JOINS_NEXT,
    REGIONAL,
    TABLE_SIZE,
    WHITE_SPACE,
    half_width_table,
    property_table,
    type_table,
)

G10 = {
    "digit": "0123456789０５９",
    "letter": "azAZéßñÀøαωЖяａｚＡＺ",
    "punctuation": "，。！？、；：“”‘’《》（）【】—…·％￥／～「」『』〈〉・￡"
    ".,!?-%#@$~`_^|\\/<>[]{}+=*&'\"×÷",
    "other": "中国人龘々〆〇あアァーㄅ한ｱ𠀀𪚥\u0e01\u05d0",
}  # fmt: skip

EXTENDED = {
    "digit": "0９",
    "letter": "aＺé",
    "numeral": "〇零一二两兩三九十百千万亿萬億壹拾",
    "date": "年月日号號时時分秒点點",
    "dot": ".．·・•",
    "dash": "-－—–―~～",
    "punctuation": "，。！？：；、“”《》%/",
    "other": "中国人天あア한𠀀",
}


@looped(("alphabet", "examples"), [("g10", G10), ("extended", EXTENDED)])
def test_types_of_characters(alphabet: str, examples: dict[str, str]) -> None:
    table = type_table(alphabet)
    assert tuple(examples) == ALPHABETS[alphabet]
    for name, characters in examples.items():
        for character in characters:
            number = table[ord(character)] if ord(character) < TABLE_SIZE else table[-1]
            assert ALPHABETS[alphabet][number - 1] == name, (character, hex(ord(character)))


def test_the_extended_alphabet_only_refines() -> None:
    # A character that g10 calls a digit or a letter is called so by the larger alphabet as well.
    g10, extended = type_table("g10"), type_table("extended")
    for name in ("digit", "letter"):
        ours = g10 == 1 + ALPHABETS["g10"].index(name)
        assert (ours == (extended == 1 + ALPHABETS["extended"].index(name))).all()


@looped("alphabet", ALPHABETS)
def test_zero_is_left_for_padding(alphabet: str) -> None:
    table = type_table(alphabet)
    assert table.shape == (TABLE_SIZE,)
    assert set(table.tolist()) == set(range(1, len(ALPHABETS[alphabet]) + 1))


def test_an_alphabet_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match=r"'g11'.*choose from g10, extended"):
        type_table("g11")


def test_letters_and_digits_are_what_unicode_says() -> None:
    table = type_table("g10")
    digit, letter = (1 + ALPHABETS["g10"].index(name) for name in ("digit", "letter"))
    for code in (table == digit).nonzero()[0].tolist():
        assert unicodedata.category(chr(code)) == "Nd", hex(code)
    for code in range(0x250):
        assert (table[code] == letter) == chr(code).isalpha(), hex(code)


def test_the_half_width_view_is_that_of_unicode_and_keeps_the_length() -> None:
    table = half_width_table()
    changed = [code for code in range(TABLE_SIZE) if table[code] != code]
    assert changed == list(range(0xFF01, 0xFF5F))
    for code in changed:
        assert chr(table[code]) == unicodedata.normalize("NFKC", chr(code))


def test_white_space_is_what_python_strips() -> None:
    table = property_table()
    for code in range(0x110000):
        white = code < TABLE_SIZE and bool(table[code] & WHITE_SPACE)
        assert white == chr(code).isspace(), hex(code)


def test_what_extends_is_a_mark_or_has_no_form_of_its_own() -> None:
    table = property_table()
    for code in (table & EXTENDS).nonzero()[0].tolist():
        assert unicodedata.category(chr(code)) in {"Mn", "Me", "Mc", "Cf", "Cn", "Sk"}, hex(code)


def test_marks_extend_and_other_characters_do_not() -> None:
    table = property_table()
    # Accents, a keycap, marks of kana and tones, variation selectors, joiners, skin tones.
    for character in "\u0301\u036f\u20e3\u3099\u302a\ufe0e\ufe0f\u200c\u200d\U0001f3fb\U0001f3ff":
        assert table[ord(character)] & EXTENDS, hex(ord(character))
    for character in "中a1，。\u309bー😀👍":
        assert table[ord(character)] == 0, character


def test_only_the_zero_width_joiner_joins_the_next() -> None:
    assert (property_table() & JOINS_NEXT).nonzero()[0].tolist() == [0x200D]


def test_regional_indicators_are_the_letters_of_flags() -> None:
    codes = (property_table() & REGIONAL).nonzero()[0].tolist()
    names = [unicodedata.name(chr(code)) for code in codes]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert names == [f"REGIONAL INDICATOR SYMBOL LETTER {letter}" for letter in letters]


@looped("table", [type_table("g10"), half_width_table(), property_table()])
def test_tables_are_shared_and_so_cannot_be_written(table) -> None:
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 1
