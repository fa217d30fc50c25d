"""Write the list of all tables and figures: `python scripts/index.py PAPER … OUTPUT`."""

from __future__ import annotations

import sys
from pathlib import Path

MEANING = (
    "*Run here*: **yes**, the paper's system with its settings; all rows of the paper's own "
    "systems are run on some corpus, with five seeds, and its licensed corpora are read in their "
    "layout by a test. "
    "**In part**: what is missing stands beside. **No**: nothing is run."
)


def main(papers: list[str], output: Path) -> None:
    """Write the list."""
    from grid import HERE, Grid, Results
    from report import listed

    from spacy_structreg.corpora.files import replace_text

    parts, tables = [], []
    for paper in papers:
        grid = Grid(Path("configs") / f"{paper}.yml")
        results = Results(output.parent / paper / "runs.jsonl")
        parts += [f"## [{grid.title}]({paper}/README.md)", listed(grid, results, f"{paper}/")]
        tables += grid.tables
    counts = ", ".join(f"{sum(each.here == here for each in tables)} {here}" for here in HERE)
    head = ["# Tables and figures of the papers", f"{len(tables)} tables and figures: {counts}."]
    with replace_text(output) as stream:
        stream.write("\n\n".join(part.strip() for part in [*head, MEANING, *parts]) + "\n")


if __name__ == "__main__":
    # What studies share.
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    try:
        main(sys.argv[1:-1], Path(sys.argv[-1]))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
