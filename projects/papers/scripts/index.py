"""Write the list of all tables and figures: `python scripts/index.py PAPER … OUTPUT`.

The picture of all claims, claims.svg, is drawn beside it.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

MEANING = (
    "*Run here*: **yes**, all rows of the paper's own systems are run on some corpus, with five "
    "seeds, and tuned as the paper does. **In part**: what is missing stands beside. **No**: "
    "nothing is run. This follows from the runs, but for what is said of tuning. *Runs, those "
    "shared*: how many are made, and how many of them are those of other pages, too."
)
CHOICES = ("s14_choice", "w13_choice")


def main(papers: list[str], output: Path) -> None:
    """Write the list, and draw the claims."""
    # Nothing is shown.
    import_module("matplotlib").use("Agg")
    from claims import RULE, counted, findings
    from grid import HERE, Grid, Results
    from plots import claims_picture
    from report import here, listed
    from studies.pictures import save_pictures

    from spacy_structreg.corpora.files import replace_text

    parts, states, claims = [], [], {}
    for paper in papers:
        grid = Grid(Path("configs") / f"{paper}.yml")
        results = Results(output.parent / paper / "runs.jsonl")
        grid.settle(results)
        parts += [f"## [{grid.title}]({paper}/README.md)", listed(grid, results, f"{paper}/")]
        states += [here(grid, results, each)[0] for each in grid.tables]
        claims[grid.title] = [
            (each, found) for each in grid.tables for found in findings(grid, results, each)
        ]
    counts = ", ".join(f"{states.count(each)} {each}" for each in HERE)
    of_all = counted([found for of_paper in claims.values() for _, found in of_paper])
    choices = ", ".join(f"[{name}]({name}/README.md)" for name in CHOICES)
    head = [
        "# Tables and figures of the papers",
        f"{len(states)} tables and figures: {counts}. Claims of the papers: {of_all}.",
        "![Claims of the papers](claims.svg)",
        MEANING,
        RULE,
        f"Settings that were chosen for our corpora: {choices}.",
    ]
    with replace_text(output) as stream:
        stream.write("\n\n".join(part.strip() for part in [*head, *parts]) + "\n")
    draw = {"claims": partial(claims_picture, claims)}
    save_pictures(draw, output.parent, ".svg", "papers")


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What studies share.
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    try:
        main(sys.argv[1:-1], Path(sys.argv[-1]))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
