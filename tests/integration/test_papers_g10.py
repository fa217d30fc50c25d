"""Tables of Gao, Qiu & Huang 2010 on our treebank under the names of the bakeoff's files."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import srsly
from papers_project import FOLDER, TREES, finish, papers
from study_contract import RUNS, tables

from spacy_structreg.cli.fit import fit
from spacy_structreg.cli.pipelines import load_pipeline
from spacy_structreg.corpora.formats.brackets import read_brackets

GRID: dict[str, Any] = srsly.read_yaml(FOLDER / "configs/g10.yml")
DOMAINS = {"literature": "novels", "computer": "computing", "medicine": "medicine"}
DOMAINS["finance"] = "news"

Sentences = list[list[str]]


def sentences(path: str, n: int) -> Sentences:
    trees = islice(read_brackets(TREES / f"{path}.bracket"), n)
    return [[word for word, _ in tree.tagged_words()] for tree in trees]


@pytest.fixture(scope="module")
def texts() -> dict[str, Sentences]:
    found = {name: sentences(f"test/{register}", 15) for name, register in DOMAINS.items()}
    return {**found, "train": sentences("train/general", 120)}


@pytest.fixture(scope="module")
def made(texts: dict[str, Sentences], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after all tables on the corpora of the bakeoff, with two epochs and one seed."""
    folder = tmp_path_factory.mktemp("bakeoff")
    for script in ("simplified", "traditional"):
        (folder / script).mkdir()
        for name, found in texts.items():
            text = "".join("  ".join(words) + "\n" for words in found)
            (folder / script / f"{name}.txt").write_text(text, encoding="utf-8")
    grid = {
        **GRID,
        "systems": {
            name: {**system, "changed": {**system.get("changed", {}), "training.max_epochs": 2}}
            for name, system in GRID["systems"].items()
        },
        "tables": {
            name: {**table, "seeds": {each: 1 for each in table["seeds"] if is_licensed(each)}}
            for name, table in GRID["tables"].items()
        },
    }
    project = papers(srsly.yaml_dumps(grid)).copied(tmp_path_factory.mktemp("projects"))
    return finish(project, variables={"STRUCTREG_SIGHAN2010": folder})


def is_licensed(corpus: str) -> bool:
    return "needs" in GRID["corpora"][corpus]


@pytest.mark.slow
@pytest.mark.parametrize("name", GRID["tables"])
def test_every_cell_of_the_bakeoff_is_filled(made: Path, name: str) -> None:
    table = GRID["tables"][name]
    text = (made / f"report/{name}.md").read_text(encoding="utf-8")
    assert "not run yet" not in text.lower()
    found = [each for each in tables(text) if any(title.endswith(", ours") for title in each[0])]
    assert len(found) == sum(map(is_licensed, table["seeds"])) in (4, 8)
    for rows in found:
        assert [row[0] for row in rows[1:]] == list(table["rows"])
        for row in rows[1:]:
            cells = dict(zip(rows[0], row, strict=True))
            for title in table["columns"].values():
                assert float(cells[f"{title}, ours"]) >= 0
        assert any(cell for title, cell in zip(*rows[:2], strict=True) if title.endswith(", paper"))


@pytest.mark.slow
@pytest.mark.parametrize("together", [False, True])
def test_variety_is_counted_on_the_text_to_segment(
    made: Path, texts: dict[str, Sentences], tmp_path: Path, together: bool
) -> None:
    """Right words, counted here, of a segmenter that was trained and adapted by hand."""
    paths = {}
    n = len(texts["train"]) * 9 // 10
    for part, found in {"train": texts["train"][:n], "dev": texts["train"][n:]}.items():
        paths[part] = tmp_path / f"{part}.txt"
        paths[part].write_text("".join(" ".join(words) + "\n" for words in found), "utf-8")
    system = GRID["systems"]["perceptron_together" if together else "printed"]
    overrides = {**system.get("changed", {}), "training.max_epochs": 2}
    fit(made / "systems/g10.cfg", tmp_path / "model", **paths, overrides=overrides)
    trained = load_pipeline(str(tmp_path / "model")).tokenizer.model
    gold = texts["medicine"]
    model = trained.adapt(map("".join, gold), together=together)
    right = n_found = 0
    for words in gold:
        found = model.predict("".join(words))
        n_found += len(found)
        right += len(spans(words) & spans(found))
    (line,) = (
        each
        for each in map(srsly.json_loads, (made / RUNS).read_text("utf-8").splitlines())
        if each["corpus"] == "bakeoff_medicine"
        and f"raw={system['raw']}" in each["setting"]
        and ("perceptron" in each["setting"]) == together
    )
    assert line["figures"]["seg_p"] == pytest.approx(right / n_found, abs=1e-6)
    assert line["figures"]["seg_r"] == pytest.approx(right / sum(map(len, gold)), abs=1e-6)
    if not together:
        # It matters.
        again = [trained.predict("".join(words)) for words in gold]
        assert again != [model.predict("".join(words)) for words in gold]


def spans(words: list[str]) -> set[tuple[int, int]]:
    ends = [sum(map(len, words[: i + 1])) for i in range(len(words))]
    return set(zip([0, *ends], ends, strict=False))
