"""The constituency benchmark from its command line to its report, on the treebank of a project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.common.run import main
from benchmarks.constituency.systems import Nltk
from benchmarks.constituency.task import CONSTITUENCY
from spacy_structreg.corpora.constituents import ConstituencySentence
from spacy_structreg.corpora.formats.brackets import constituency_sentences
from spacy_structreg.models.constituents import ConstituencyParser

TREEBANK = Path(__file__).parents[2] / "treebank"
PARTS = {part: TREEBANK / f"{part}/general.bracket" for part in ("train", "dev", "test")}
LONGEST = 9


def trees(part: str, longest: int | None = None) -> list[ConstituencySentence]:
    found = constituency_sentences(PARTS[part], "ctb")
    return [tree for tree in found if longest is None or len(tree.words) <= longest]


@pytest.mark.slow
def test_a_run_scores_and_times_every_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [f"--{part}={path}" for part, path in PARTS.items()]
    status = main(
        CONSTITUENCY,
        [*files, "--quick", f"--longest={LONGEST}", f"--output={tmp_path}", "--name=embedded"],
    )
    data: dict[str, Any] = json.loads((tmp_path / "constituency-embedded.json").read_text("utf-8"))
    results = {result["name"]: result for result in data["results"]}
    assert status == 0
    assert list(results) == ["ours", "ours-4", "ours-greedy", "nltk"]
    assert {result["error"] for result in results.values()} == {None}

    # The figures are those of the same training without the harness, which takes so many sentences.
    parser = ConstituencyParser(epochs=2)
    train, dev, test = trees("train"), trees("dev")[:100], trees("test")[:100]
    dev, test = ([tree for tree in part if len(tree.words) <= LONGEST] for part in (dev, test))
    parser.fit(train, dev)
    assert results["ours"]["scores"] == parser.evaluate(test).as_dict()
    assert results["ours"]["scores"]["brackets_f"] > 0.8
    markdown = capsys.readouterr().out
    if Nltk.version() is None:
        assert "not installed: pip install" in markdown
    else:
        assert results["nltk"]["scores"]["brackets_f"] > 0.7
    assert f"sentences of up to {LONGEST} words only" in markdown
