"""The training set of a corpus of a grid: `training_part.py GRID CORPUS OUTPUT.spacy`."""

from __future__ import annotations

import sys
from pathlib import Path


def main(grid: Path, corpus: str, output: Path) -> None:
    """Write it, that of the first fold or seed if there are several."""
    from corpora import read_corpus
    from grid import Grid
    from studies.runs import data_folder

    from spacy_structreg.corpora.files import replace_bytes

    found = Grid(grid)
    entry = found.corpora[found.known_corpus(corpus, str(grid))]
    parts = read_corpus(corpus, entry, data_folder(entry)).parts(0, 0)
    output.parent.mkdir(parents=True, exist_ok=True)
    with replace_bytes(output) as stream:
        stream.write(parts["train"])


if __name__ == "__main__":
    # What studies share.
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    try:
        main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
