"""Write the list of all tables and figures: `python scripts/index.py PAPER … OUTPUT`."""

from __future__ import annotations

import sys
from pathlib import Path


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
    head = f"# Tables and figures of the papers\n\n{len(tables)} with results: {counts}."
    with replace_text(output) as stream:
        stream.write("\n\n".join(part.strip() for part in [head, *parts]) + "\n")


if __name__ == "__main__":
    # What studies share.
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    try:
        main(sys.argv[1:-1], Path(sys.argv[-1]))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
