"""Tables of Zhang & Clark 2011 on corpora in the layouts of those that are licensed."""

from __future__ import annotations

import random
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
import srsly
from looped import looped
from papers_project import FOLDER, TREES, finish, papers
from study_contract import CONFIG, tables

from spacy_structreg.corpora.formats.brackets import read_brackets

GRID: dict[str, Any] = srsly.read_yaml(FOLDER / "configs/zc11.yml")

# Articles that are of the training, the development and the test set in all splits.
ARTICLES = {"train": (1, 815), "dev": (301, 886), "test": (271, 816)}

TRADITIONAL = [
    *("我們", "學校", "老師", "今天", "朋友", "讀書", "喜歡", "圖書館"),
    *("看見", "的", "很", "他", "這裡", "昨天", "開門", "。"),
]
ENCODINGS = {"as": "cp950", "hk": "big5hkscs", "pk": "gb18030"}

# Trees of the Penn Treebank, function tags and empty words too; the places are filled in.
ENGLISH = """
( (S (NP-SBJ (DT The) (NN {0})) (VP (VBD {1}) (NP (DT a) (JJ {2}) (NN {3}))) (. .)) )
( (S (NP-SBJ-1 (DT The) (NN {0})) (VP (VBD was) (VP (VBN {1}) (NP (-NONE- *-1))
     (PP (IN by) (NP (DT a) (NN {3}))))) (. .)) )
"""
ENGLISH_WORDS = (
    ["dog", "neighbor", "baker"],
    ["painted", "called", "followed"],
    ["tall", "quiet"],
    ["teacher", "horse", "clerk"],
)


def small(table: dict[str, Any]) -> dict[str, Any]:
    """A table, or its panel, on the licensed corpora alone, once each."""
    parts = [{**table, **panel} for panel in table.get("panels", {"": {}}).values()]
    licensed = [
        {name: 1 for name in part.get("seeds", {}) if "needs" in GRID["corpora"][name]}
        for part in parts
    ]
    part, seeds = max(zip(parts, licensed, strict=True), key=lambda each: len(each[1]))
    return {**{key: each for key, each in part.items() if key != "panels"}, "seeds": seeds}


@pytest.fixture(scope="module")
def licensed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with corpora of our own sentences, in the layouts of the licensed ones."""
    folder = tmp_path_factory.mktemp("licensed")
    draw = random.Random(0)
    lines = [" ".join(draw.choices(TRADITIONAL, k=8)) + "\n" for _ in range(40)]
    sentences = {"train": "".join(lines[:30]), "test": "".join(lines[30:])}

    def write(path: str, text: str, encoding: str = "utf-8") -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding=encoding)

    for name, encoding in ENCODINGS.items():
        write(f"sighan2003/{name}-train.txt", sentences["train"], encoding)
        write(f"sighan2003/{name}-testref.txt", sentences["test"], encoding)
    for name in ("as", "cityu", "pku", "msr"):
        gold = "testing" if name == "as" else "test"
        write(f"sighan/icwb2-data/training/{name}_training.utf8", sentences["train"])
        write(f"sighan/icwb2-data/gold/{name}_{gold}_gold.utf8", sentences["test"])
    for part, numbers in ARTICLES.items():
        trees = [tree.to_bracket(2) for tree in islice(read_brackets(ours(part)), 24)]
        for place, number in enumerate(numbers):
            text = "".join(f"<S>\n{tree}\n</S>\n" for tree in trees[12 * place :][:12])
            write(f"ctb/bracketed/chtb_{number:03}.fid", text, "gb18030")
    words = zip(*map(cycle, ENGLISH_WORDS), strict=False)
    for section in range(2, 24):
        text = "".join(ENGLISH.format(*next(words)) for _ in range(2))
        write(f"wsj/{section:02}/wsj_{section:02}01.mrg", text)
    return folder


def variables_of(licensed: Path) -> dict[str, Path]:
    """The variables that name the folders of these corpora."""
    folders = {
        **{"SIGHAN": "sighan", "SIGHAN2003": "sighan2003"},
        **{"CTB": "ctb", "CTB3": "ctb", "CTB4": "ctb", "PTB": "wsj"},
    }
    return {f"STRUCTREG_{name}": licensed / path for name, path in folders.items()}


def ours(part: str) -> Path:
    return TREES / part / "general.bracket"


@pytest.fixture(scope="module")
def made(licensed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after all tables on licensed corpora, with one epoch and small beams."""
    project = papers("").copied(tmp_path_factory.mktemp("projects"))
    for config in (project / "systems").glob("*.cfg"):
        text = config.read_text(encoding="utf-8").replace("beam = 64", "beam = 2")
        config.write_text(text.replace("beam = 16", "beam = 2"), encoding="utf-8")
    grid = {
        **GRID,
        "corpora": {
            name: {**entry, **({"counts": "any"} if "split" in entry else {}), **folds(entry)}
            for name, entry in GRID["corpora"].items()
        },
        "systems": {
            name: {**system, "changed": {**system.get("changed", {}), "training.max_epochs": 1}}
            for name, system in GRID["systems"].items()
        },
        "tables": {
            name: small(table)
            for name, table in GRID["tables"].items()
            if name.startswith("table_")
        },
    }
    srsly.write_yaml(project / CONFIG, grid)
    return finish(project, variables=variables_of(licensed))


def folds(entry: dict[str, Any]) -> dict[str, int]:
    return {"folds": 3} if "folds" in entry else {}


@pytest.mark.slow
@looped(
    "name",
    [
        name
        for name, table in GRID["tables"].items()
        if name.startswith("table_") and small(table)["seeds"]
    ],
)
def test_every_cell_of_a_licensed_corpus_is_filled(made: Path, name: str) -> None:
    table = GRID["tables"][name]
    text = (made / f"report/{name}.md").read_text(encoding="utf-8")
    assert "not run yet" not in text.lower()
    found = [each for each in tables(text) if any(title.endswith(", ours") for title in each[0])]
    assert len(found) == len(small(table)["seeds"])
    for rows in found:
        assert [row[0] for row in rows[1:]] == list(small(table)["rows"])
        for row in rows[1:]:
            cells = dict(zip(rows[0], row, strict=True))
            # Where the paper has a figure, so have we; columns without any are left out.
            for title in table["columns"].values():
                if cells.get(f"{title}, paper"):
                    assert cells[f"{title}, ours"], (row[0], title)
