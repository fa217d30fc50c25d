"""The grid of CONTRIBUTING.md, floors by tasks, and the tree that it describes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from looped import looped

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "spacy_structreg"
EMPTY = "–"

Grid = dict[str, dict[str, str]]


def grid_of(text: str) -> Grid:
    """The cells of the table whose header begins with `floor`, by floor and column."""
    rows = [
        [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        for line in text.partition("## The grid")[2].splitlines()
        if line.startswith("|")
    ]
    header, _, *body = rows
    assert header[0] == "floor"
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in body}


def parts_of(folder: Path) -> set[str]:
    """What lies on a floor: folders with a slash, modules without a suffix."""
    found = {f"{each.name}/" for each in folder.iterdir() if (each / "__init__.py").is_file()}
    modules = {each.stem for each in folder.iterdir() if each.suffix in (".py", ".pyx", ".pxd")}
    return found | modules - {"__init__"}


def faults(grid: Grid, floors: dict[str, set[str]]) -> Iterable[str]:
    """Yield what of the tree is not as the grid says."""
    for floor, cells in grid.items():
        parts = set(floors[floor])
        *tasks, shared = cells.items()
        for task, cell in tasks:
            if cell not in (EMPTY, task, f"{task}/"):
                yield f"{floor}: {cell} does not bear the stem {task}"
            there = parts & {task, f"{task}/"}
            if there != {cell} - {EMPTY}:
                yield f"{floor}: the grid says {cell} of {task}, the tree {sorted(there)}"
            parts -= there
        said = {name.strip(" `") for name in shared[1].split(",")} - {"", EMPTY}
        if parts != said:
            yield f"{floor}: shared are {sorted(parts - said)}, not {sorted(said - parts)}"


GRID = grid_of((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
TREE = {floor: parts_of(PACKAGE / floor) for floor in GRID}


def test_the_tree_is_as_the_grid_says() -> None:
    assert list(faults(GRID, TREE)) == []


@looped(
    ("task", "cell", "parts"),
    [
        ("tagging", "tagging", {"tagger"}),  # another stem
        ("tagging", "tagging", {"tagging/"}),  # a folder
        ("tagging", EMPTY, {"tagging"}),  # more than the grid says
        ("tagging", "tagging", {"tagging", "helpers"}),  # a file that nobody knows of
        ("tagging", "tagger", {"tagger"}),  # a stem of its own in the grid
    ],
)
def test_what_departs_from_the_grid_is_found(task: str, cell: str, parts: set[str]) -> None:
    assert list(faults({"tasks": {task: cell, "shared": EMPTY}}, {"tasks": parts}))


def test_no_task_is_known_where_the_grid_has_none() -> None:
    """Floors without columns: their modules bear the stem of no task."""
    stems = {task for cells in GRID.values() for task in cells} - {"shared"}
    for floor in {path.name for path in PACKAGE.iterdir() if path.is_dir()} - set(GRID):
        assert not stems.intersection(part.strip("/") for part in parts_of(PACKAGE / floor)), floor


def test_no_two_modules_of_a_floor_share_a_name() -> None:
    for floor in (path for path in PACKAGE.iterdir() if path.is_dir()):
        modules = {path.with_suffix("") for path in floor.rglob("*.py*") if path.suffix != ".pyc"}
        names = Counter(path.name for path in modules if path.name != "__init__")
        assert [name for name, times in names.items() if times > 1] == [], floor.name
