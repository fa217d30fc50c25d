"""Classified texts, of cells between tabs and of JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from looped import looped

from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.formats.classified import read_classified

PAIRS = [("Two boats left, at dawn.", "harbour"), ("The soup is “salty”", "kitchen")]


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_cells_between_tabs(tmp_path: Path) -> None:
    lines = "".join(f"{text}\t{category}\n" for text, category in PAIRS)
    path = write(tmp_path / "a.tsv", f"\n{lines}\n")
    assert list(read_classified(path)) == PAIRS
    turned = "".join(f"{category}\t7\t{text}\n" for text, category in PAIRS)
    path = write(tmp_path / "b.tsv", turned)
    assert list(read_classified(path, ["category", "_", "text"])) == PAIRS
    # This begins documents of column files, and is a text as any other.
    path = write(tmp_path / "c.tsv", "-DOCSTART-\tx\n")
    assert list(read_classified(path)) == [("-DOCSTART-", "x")]


@looped("key", ["category", "label"])
def test_lines_of_json(tmp_path: Path, key: str) -> None:
    text = "\n".join(json.dumps({"text": text, key: cat, "id": 1}) for text, cat in PAIRS)
    assert list(read_classified(write(tmp_path / "a.jsonl", f"\n{text}\n"))) == PAIRS


@looped(
    ("name", "content", "line", "fault"),
    [
        ("a.tsv", "x\ty\nz\n", 2, "1 cell between tabs"),
        ("a.tsv", "x\ty\tz\n", 1, "3 cells"),
        ("a.tsv", "x\ty\n\ty\n", 2, "is empty"),
        ("a.tsv", "x\ty\n\u3000\ty\n", 2, "is empty"),
        ("a.jsonl", '{"text": "x", "category": "y"}\n{"text"\n', 2, "is no JSON"),
        ("a.jsonl", '["x", "y"]\n', 1, "is no object with strings"),
        ("a.jsonl", '{"text": "x"}\n', 1, "is no object with strings"),
        ("a.jsonl", '{"text": "x", "category": ["y"]}\n', 1, "is no object with strings"),
        ("a.jsonl", '{"text": " ", "category": "y"}\n', 1, "the text of"),
        ("a.jsonl", '{"text": "x", "category": ""}\n', 1, "the category of"),
        ("a.jsonl", '{"text": "\\ud800", "category": "y"}\n', 1, "lone surrogate"),
        ("a.jsonl", "[" * 100_000 + "\n", 1, "is no JSON"),
    ],
)
def test_faulty_files(tmp_path: Path, name: str, content: str, line: int, fault: str) -> None:
    with pytest.raises(CorpusError) as caught:
        list(read_classified(write(tmp_path / name, content)))
    assert caught.value.line == line
    assert fault in caught.value.fault


@looped("columns", [["text"], ["text", "category", "category2"], ["_", "_"]])
def test_columns_that_are_refused(tmp_path: Path, columns: list[str]) -> None:
    with pytest.raises(ValueError, match="are not text and category"):
        list(read_classified(tmp_path / "a.tsv", columns))
