"""References and openings of docstrings and comments."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A docstring says what a thing is, or what a function does, not that it is a question.
QUESTION = re.compile(r'^\s*r?"""(?:What|How|Whether|Which)\b.*', re.MULTILINE)
PAGE = re.compile(r"[\w./-]*\w\.md\b")


def test_pages_that_the_package_names_are_in_the_repository() -> None:
    files = [p for s in ("py", "pyi", "pyx", "pxd") for p in ROOT.glob(f"spacy_structreg/**/*.{s}")]
    named = {(path, page) for path in files for page in PAGE.findall(path.read_text("utf-8"))}
    assert [each for each in named if not (ROOT / each[1]).is_file()] == []


def test_docstrings_do_not_begin_with_a_question() -> None:
    files = [*ROOT.glob("spacy_structreg/**/*.py*"), *ROOT.glob("docs/tools/*.py")]
    sources = [path for path in files if path.suffix in (".py", ".pyi", ".pyx", ".pxd")]
    assert len(sources) > 100
    assert [
        (path, found) for path in sources for found in QUESTION.findall(path.read_text("utf-8"))
    ] == []


def test_one_module_claims_to_be_the_base_of_all_models() -> None:
    modules = ROOT.glob("spacy_structreg/models/*.py")
    first = {path.name: path.read_text("utf-8").partition("\n")[0] for path in modules}
    claims = [name for name, line in first.items() if re.search(r"of all (models|estim)", line)]
    assert claims == ["base_model.py"]
