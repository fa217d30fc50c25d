"""Figures of words with universal tags on registers."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.common.treebank import (
    BLIND,
    Fit,
    by_ctb,
    by_pfr,
    fit_of,
    read_registers,
    text_of,
    untagged,
)


def test_figures_are_of_all_registers_and_of_the_lowest() -> None:
    gold = {
        "harbour": [[("海鸥", "NOUN"), ("飞过", "VERB"), ("灯塔", "NOUN")]],
        "town": [[("电车", "NOUN"), ("停", "VERB"), ("在", "ADP"), ("这里", "PRON")]],
    }
    found = {
        # 鸥飞 crosses two gold words; white space does not count.
        "harbour": [[("海", "NOUN"), ("鸥飞", "X"), ("过", "VERB"), (" ", "X"), ("灯塔", "NOUN")]],
        "town": [[("电车", "NOUN"), ("停在", "VERB"), ("这里", "NOUN")]],
    }
    # Of 7 gold words and 7 found ones 3 are right, 2 of them with their tags.
    fit = fit_of(gold, found)
    lowest = 2 * 1 / (3 + 4)
    assert fit == Fit(3 / 7, 2 / 7, 2 / 7, lowest, "harbour")
    words = {name: [untagged(word for word, _ in each[0])] for name, each in found.items()}
    assert fit_of(gold, words) == Fit(3 / 7, None, 2 / 7, lowest, "harbour")


def test_tags_are_compared_as_universal_ones() -> None:
    assert by_ctb([("海鸥", "NN"), ("飞", "VV"), ("?", "no tag")]) == [
        *(("海鸥", "NOUN"), ("飞", "VERB"), ("?", "X")),
    ]
    # Of jieba a mark is x; finer tags count by their letter.
    found = by_pfr([("杭州", "LOC"), ("飞", "vx"), ("，", "x")], {"LOC": "ns"})
    assert found == [("杭州", "PROPN"), ("飞", "VERB"), ("，", "PUNCT")]


def test_the_blind_part_has_all_registers(tmp_path: Path) -> None:
    registers = read_registers(BLIND)
    assert len(registers) == 23
    assert sum(map(len, registers.values())) == 808
    assert text_of([("用", "P"), ("spa", "X"), ("Cy", "X"), ("吧", "X")]) == "用spa Cy吧"
    with pytest.raises(ValueError, match="no file"):
        read_registers(tmp_path)
