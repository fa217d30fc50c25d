"""The glossary of tags: of those that the tables of universal tags have, and of no others."""

from __future__ import annotations

import pytest

from spacy_structreg.corpora.tag_glossary import TAG_GLOSSARY
from spacy_structreg.corpora.tag_maps import TAG_MAPS


@pytest.mark.parametrize(
    ("name", "tables"),
    [("CTB", ["ctb"]), ("PFR", ["pfr"]), ("UD Chinese", ["ud_chinese", "ud_chinese_1"])],
)
def test_all_tags_are_explained(name: str, tables: list[str]) -> None:
    assert set(TAG_GLOSSARY[name]) == {tag for table in tables for tag in TAG_MAPS[table]}
    assert all(TAG_GLOSSARY[name].values())
