"""Two commits compared: trees that are built, and the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.compare import run as compare
from benchmarks.compare.trees import ROOT
from spacy_structreg.corpora.formats.segmented import write_segmented
from spacy_structreg.models.segmentation import CharacterSegmenter


@pytest.mark.slow
def test_ratios_are_of_two_packages_in_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tree(commit: str, folder: Path, repository: Path) -> Path:
        return ROOT

    monkeypatch.setattr(compare, "built_tree", tree)
    text, pipeline = inputs(tmp_path)
    given = [
        *(".", ".", "--pipelines", f"ours={pipeline}", f"--text={text}", f"--output={tmp_path}"),
        *("--quick", "--kinds=lists,make_doc,parser", "--batch=10", "--rounds=3"),
    ]
    assert compare.main(given) == 0
    path = tmp_path / "compare-working_tree-working_tree.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    assert [result["kind"] for result in data["results"]] == ["lists", "make_doc"]
    for result in data["results"]:
        assert result["ratios"] == [
            head / base for base, head in zip(result["base"], result["head"], strict=True)
        ]
        assert len(result["ratios"]) == 3
    markdown = path.with_suffix(".md").read_text(encoding="utf-8")
    assert "| ours | lists of words, a batch a call, characters |" in markdown


def inputs(folder: Path) -> tuple[Path, Path]:
    """A text and a pipeline that segments."""
    import spacy

    sentences = [["海鸥", "飞过", "码头"], ["渔船", "离开", "灯塔"]] * 10
    write_segmented(folder / "text.txt", sentences)
    model = {"@architectures": "spacy_structreg.CharacterSegmenter.v1"}
    tokenizer = {"@tokenizers": "spacy_structreg.Segmenter.v1", "model": model}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    assert isinstance(nlp.tokenizer.model, CharacterSegmenter)
    nlp.tokenizer.model.fit(sentences)
    nlp.to_disk(folder / "pipeline")
    return folder / "text.txt", folder / "pipeline"
