"""Views of text in another script."""

from __future__ import annotations

import pickle
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from example_counts import quick_examples
from hypothesis import given
from hypothesis import strategies as st
from looped import looped

from spacy_structreg.features.character_classes import TABLE_SIZE, half_width_table
from spacy_structreg.features.scripts import (
    Script,
    normalization_table,
    opencc_script,
    read_script,
    stored_script,
)

CHARACTERS = st.integers(0, 0x10FFFF).filter(lambda code: not 0xD800 <= code <= 0xDFFF)


def script_of(looks: dict[int, int]) -> Script:
    return Script(np.array(sorted(looks.items()), dtype=np.uint32).reshape(-1, 2))


@quick_examples(30)
@given(
    st.dictionaries(
        st.integers(0, 0x32400).filter(lambda c: not 0xD800 <= c <= 0xDFFF), CHARACTERS
    ),
    st.lists(CHARACTERS),
    st.booleans(),
)
def test_a_view_maps_one_character_after_the_other(
    looks: dict[int, int], codes: list[int], half_width: bool
) -> None:
    script = script_of(looks)
    codes += list(looks)[:10]
    text = "".join(map(chr, codes))
    seen = script.normalize(text)
    assert [ord(character) for character in seen] == [looks.get(code, code) for code in codes]
    table = normalization_table(half_width, script)
    for code in codes:
        narrow = int(half_width_table()[code]) if half_width and code < TABLE_SIZE else code
        found = int(table[code]) if code < len(table) else code
        assert found == looks.get(narrow, narrow)
    again = pickle.loads(pickle.dumps(script))
    assert again == script
    assert stored_script("simplified", script.arrays) == script


def test_without_a_script_there_are_only_half_widths() -> None:
    assert len(normalization_table(False, None)) == 0
    assert normalization_table(True, None) is half_width_table()
    assert read_script(None) is None
    assert stored_script(None, {}) is None


@looped(
    "pairs",
    [
        np.zeros((2, 3), dtype=np.uint64),
        np.array([1, 2], dtype=np.uint64),
        np.array([[1, 2]], dtype=np.int64),
        np.array([[2, 1], [1, 1]], dtype=np.uint64),
        np.array([[1, 1], [1, 2]], dtype=np.uint64),
        np.array([[1, 0x110000]], dtype=np.uint64),
        np.array([[2**63, 1]], dtype=np.uint64),
        np.array([[0xD800, 1]], dtype=np.uint64),
        np.array([[1, 0xDFFF]], dtype=np.uint64),
    ],
)
def test_what_is_no_script_is_refused(pairs: np.ndarray) -> None:
    with pytest.raises(ValueError, match="script"):
        stored_script("simplified", {"script": pairs})


def test_setting_and_table_go_together() -> None:
    with pytest.raises(ValueError, match="do not match"):
        stored_script("simplified", {})
    with pytest.raises(ValueError, match="do not match"):
        stored_script(None, script_of({1: 2}).arrays)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opencc", None)
    with pytest.raises(ImportError, match=r"spacy_structreg\[scripts\]"):
        read_script("simplified")
    with pytest.raises(ValueError, match="choose from simplified"):
        read_script("runic")
    with pytest.raises(ImportError, match=r"spacy_structreg\[scripts\]"):
        opencc_script("s2t", "this", "leave it out")


def test_longer_forms_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = {"漢": "汉", "國": "国国"}

    class Converter:
        def __init__(self, name: str) -> None:
            assert name == "t2s"

        def convert(self, text: str) -> str:
            return "".join(looks.get(character, character) for character in text)

    monkeypatch.setitem(sys.modules, "opencc", SimpleNamespace(OpenCC=Converter))
    script: Any = read_script("simplified")
    assert script.normalize("漢國A漢") == "汉國A汉"


def test_the_table_of_opencc() -> None:
    pytest.importorskip("opencc")
    script: Any = read_script("simplified")
    assert script.normalize("後來的發展，乾髮，Ａ於") == "后来的发展，干发，Ａ于"
    assert opencc_script("s2t", "", "").normalize("后来的發展，A") == "後來的發展，A"
