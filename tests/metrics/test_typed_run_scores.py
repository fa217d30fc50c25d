"""Typed runs in texts: cut rightly or not."""

from __future__ import annotations

import pytest
from looped import looped
from typed_run_cases import has_right_runs


def bounds(marked: str) -> tuple[str, list[list[int]]]:
    """A text and its runs; this reads character by character."""
    text = ""
    runs: list[list[int]] = []
    for character in marked:
        if character == "⟦":
            runs.append([len(text)])
        elif character in "|⟧":
            runs[-1].append(len(text))
        else:
            text += character
    return text, runs


@looped(
    ("marked", "words", "right", "right_as_part"),
    [
        ("重⟦35|kg⟧左", "重 35 kg 左", True, True),
        ("重⟦35|kg⟧左", "重 35kg 左", False, True),
        ("重⟦35|kg⟧左", "重35 kg 左", False, True),
        ("重⟦35|kg⟧左", "重 35 kg左", False, True),
        ("重⟦35|kg⟧左", "重 3 5 kg 左", False, False),
        # White space counts nowhere, on whichever side of a cut it stands.
        ("重⟦35| kg⟧ 左", "重 35 kg 左", True, True),
        ("重⟦35 |kg⟧ 左", "重 35 kg 左", True, True),
        ("⟦a b⟧", "ab", True, True),
        ("⟦a b⟧", "a b", False, False),
        # All runs of a text have to be right.
        ("⟦@a⟧和⟦@b⟧", "@a 和 @b", True, True),
        ("⟦@a⟧和⟦@b⟧", "@a 和 @ b", False, False),
        ("⟦3.5⟧万", "3.5万", False, True),
        ("⟦3.5⟧万", "3. 5万", False, False),
    ],
)
def test_words_of_runs(marked: str, words: str, right: bool, right_as_part: bool) -> None:
    text, runs = bounds(marked)
    assert has_right_runs(text, runs, words.split()) is right
    assert has_right_runs(text, runs, words.split(), whole=False) is right_as_part


def test_other_words_are_an_error() -> None:
    with pytest.raises(ValueError, match="are not those of"):
        has_right_runs("35kg", [[0, 2, 4]], ["35", "k"])
