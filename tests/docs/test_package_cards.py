"""The pages on packages say of license and sources what the packages do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from runpy import run_path
from typing import Any

from docs.pages import ROOT
from looped import looped


def facts_of(project: Path) -> dict[str, Any]:
    """What the package of a project says of itself; that of the quickstart is made by a script."""
    path = project / "configs/package_meta.json"
    if path.is_file():
        return dict(json.loads(path.read_text("utf-8")))
    return dict(run_path(str(project / "scripts/package_meta.py"))["ABOUT"])


@looped(
    ("project", "package"),
    [
        ("quickstart", "zh_structreg"),
        ("quickstart", "zh_structreg_fast"),
        ("ud_chinese", "zh_gsd_structreg"),
        ("ud_english", "en_ewt_structreg"),
    ],
)
def test_cards_name_license_sources_and_use(project: str, package: str) -> None:
    card = (ROOT / f"docs/{package}.md").read_text("utf-8")
    folder = ROOT / "projects" / project
    facts = facts_of(folder)
    rows = dict(re.findall(r"^\| ([^|]+) \| (.+) \|$", card, re.M))
    (license_row,) = (row for row in rows if row.startswith("license of "))
    assert rows[license_row] == facts["license"]
    assert {"intended use", "does not write", "trained on"} <= set(rows)
    for source in facts["sources"]:
        for value in source.values():
            assert value.removesuffix(" in simplified script") in card
    _, name = package.split("_", 1)
    assert f'package: "{name.removesuffix("_fast")}"' in (folder / "project.yml").read_text("utf-8")
