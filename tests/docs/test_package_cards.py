"""The pages on packages say of licence and sources what the packages do."""

from __future__ import annotations

import json

import pytest
from docs.pages import ROOT


@pytest.mark.parametrize(
    ("project", "package"),
    [("ud_chinese", "zh_gsd_structreg"), ("ud_english", "en_ewt_structreg")],
)
def test_cards_name_licence_and_sources(project: str, package: str) -> None:
    card = (ROOT / f"docs/{package}.md").read_text("utf-8")
    folder = ROOT / "projects" / project
    facts = json.loads((folder / "configs/package_meta.json").read_text("utf-8"))
    assert facts["license"] in card
    for source in facts["sources"]:
        for value in source.values():
            assert value.removesuffix(" in simplified script") in card
    _, name = package.split("_", 1)
    assert f'package: "{name}"' in (folder / "project.yml").read_text("utf-8")
