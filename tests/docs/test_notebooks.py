"""The notebooks of the documentation: they run, and what they show belongs to their code."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest
from docs.pages import ROOT
from notebooks import run

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(cell: nbformat.NotebookNode) -> list[list[str]]:
    """The kinds of what a cell shows: streams by name, or the formats of pictures and values."""
    return [sorted(output.get("data", [output.get("name")])) for output in cell.outputs]


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} == {"annotate_and_look", "train_and_compare"}


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, zh_structreg: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINE", str(zh_structreg))
    monkeypatch.setenv("PYTHONWARNINGS", "error::UserWarning")
    cells, committed = (code_cells(each) for each in (run(path), nbformat.read(path, as_version=4)))
    for number, (cell, shown) in enumerate(zip(cells, committed, strict=True), 1):
        # Cells were run in their order, none was changed since without its outputs, as far as one
        # can tell without the same models.
        assert shown.execution_count == number
        assert kinds(cell) == kinds(shown), cell.source
        assert "stderr" not in str(kinds(cell)), cell.outputs


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_small_and_name_no_place_of_a_machine(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.encode()) < 300_000
    for place in ("/home/", "/root/", "/tmp/", str(ROOT), sys.prefix):
        assert place not in text
