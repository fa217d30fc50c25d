"""Run the notebooks of the documentation, and keep what they show: `make notebooks`.

python docs/tools/notebooks.py docs/notebooks/*.ipynb
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

# It has no types.
_format: Any = nbformat


def run(path: Path, timeout: int = 300) -> Any:
    """A notebook with the outputs of its cells, run in its folder by this interpreter.

    timeout: of each cell, in seconds. Raises CellExecutionError where a cell fails.
    """
    notebook = _format.read(path, as_version=4)
    folder = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        resources=folder,
        coalesce_streams=True,
        record_timing=False,
    )
    kernel = dict(notebook.metadata.get("kernelspec", {}))
    client.execute()
    # Without the version of Python.
    notebook.metadata = _format.from_dict({"kernelspec": kernel})
    return notebook


def main() -> None:
    """Run the notebooks that are named on the command line."""
    for name in sys.argv[1:]:
        path = Path(name)
        notebook = run(path)
        _format.write(notebook, path)
        print(path.name)


if __name__ == "__main__":
    main()
