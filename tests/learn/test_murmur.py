"""MurmurHash64A against spaCy's own and against a twin."""

from __future__ import annotations

import pytest
import spacy.strings
from hypothesis import given
from hypothesis import strategies as st
from looped import looped
from twins import murmur_64a

from spacy_structreg.learn.murmur import hash_string

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(TEXT)
def test_the_ids_of_spacy(text: str) -> None:
    # spaCy keeps 0 for the empty string instead of hashing it.
    if text:
        assert hash_string(text) == spacy.strings.hash_string(text)


@looped("length", range(26))
def test_every_length_of_the_last_word(length: int) -> None:
    text = "".join(chr(ord("a") + i) for i in range(length))
    assert hash_string(text) == murmur_64a(text.encode())
    if text:
        assert hash_string(text) == spacy.strings.hash_string(text)


@given(TEXT, st.integers(0, 2**64 - 1))
def test_other_seeds(text: str, seed: int) -> None:
    assert hash_string(text, seed) == murmur_64a(text.encode(), seed)


def test_a_lone_surrogate_has_no_bytes() -> None:
    with pytest.raises(UnicodeEncodeError):
        hash_string("a\ud800")
