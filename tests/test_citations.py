"""What docstrings and comments refer to."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = re.compile(r"[\w./-]*\w\.md\b")


def test_pages_that_the_package_names_are_in_the_repository() -> None:
    files = [p for s in ("py", "pyi", "pyx", "pxd") for p in ROOT.glob(f"spacy_structreg/**/*.{s}")]
    named = {(path, page) for path in files for page in PAGE.findall(path.read_text("utf-8"))}
    assert [each for each in named if not (ROOT / each[1]).is_file()] == []
