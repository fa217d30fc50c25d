"""Progress bars in a kernel of Jupyter, and in a process without terminal."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

BARS = """
import sys, warnings
warnings.simplefilter("error")
from spacy_structreg.models.segmentation import CharacterSegmenter
from spacy_structreg.models.progress import progress_bar, shows_bars
CharacterSegmenter(seed=1, epochs=2).fit([["我", "们"], ["你", "们"]], progress=True)
print(shows_bars(), [*progress_bar("ab", "count")])
"""
NO_WIDGETS = "import sys; sys.modules['ipywidgets'] = None"


@pytest.mark.slow
def test_bars_in_notebooks_without_widgets() -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(NO_WIDGETS), nbformat.v4.new_code_cell(BARS)]
    )
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    outputs = notebook.cells[1].outputs
    said = dict.fromkeys(("stdout", "stderr"), "")
    for output in outputs:
        said[output.name] += output.text
    assert said["stdout"] == "True ['a', 'b']\n"
    assert "train: 100%" in said["stderr"]
    assert "count: 100%" in said["stderr"]
    assert "Warning" not in said["stderr"]
