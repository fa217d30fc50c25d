"""The tables of the documentation that show results: what `make tables` writes is what is there."""

from __future__ import annotations

import re
from pathlib import Path

import tables
from looped import looped


@looped(("path", "folder"), tables.pages().items(), ids=str)
def test_tables_are_those_of_the_stored_results(path: Path, folder: str) -> None:
    page = path.read_text("utf-8")
    assert tables.with_tables(page, folder) == page


def test_all_tables_are_shown() -> None:
    marks = "".join(path.read_text("utf-8") for path in tables.pages())
    assert set(re.findall(r"<!-- table (\w+), made by", marks)) == {*tables.TABLES}


def test_speed_has_two_digits() -> None:
    found = [tables.speed([rate]) for rate in (17_300.0, 5_140.0, 254_000.0, 999_600.0, 4.71e6)]
    assert found == ["17 k", "5.1 k", "254 k", "1.0 M", "4.7 M"]
