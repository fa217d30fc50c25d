"""`structreg correct` and `structreg info`: what they write, print and leave alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from click.testing import Result

Invoke = Callable[..., Result]
Runs = Callable[..., str]
WORDS = ["小", "王昨", "天在", "公园", "。"]


@pytest.fixture
def corrections(tmp_path: Path) -> Path:
    path = tmp_path / "corrections.txt"
    path.write_text(" ".join(WORDS) + "\n老师 看书 。\n", "utf-8")
    return path


@pytest.fixture
def sample(tmp_path: Path, sentences: list[list[str]]) -> Path:
    path = tmp_path / "sample.txt"
    path.write_text(
        "\n".join(["".join(words) for words in sentences] + ["", "老师看书。"]), "utf-8"
    )
    return path


def test_correct(
    runs: Runs, pipeline: str, corrections: Path, sample: Path, tmp_path: Path
) -> None:
    output, report = tmp_path / "out", tmp_path / "report.json"
    printed = runs("correct", pipeline, corrections, output, "-s", sample, "-o", report)
    nlp = spacy.load(output)
    assert [token.text for token in nlp("".join(WORDS))] == WORDS
    assert [token.text for token in nlp("老师看书。")] == ["老师", "看书", "。"]
    told = json.loads(report.read_text("utf-8"))
    part = told["pipes"]["tokenizer"]
    assert part["sentences"] == part["right"] + part["corrected"] == 2
    assert part["wrong"] == {}
    assert told["sample"]["texts"] == 6
    before = spacy.load(pipeline)
    different = [
        text
        for text in sample.read_text("utf-8").split("\n")
        if [t.text for t in before(text)] != [t.text for t in nlp(text)]
    ]
    assert [each["text"] for each in told["sample"]["changed"]] == different
    assert "老师看书。" in different
    assert f"changed: {len(different)} of 6 texts of the sample" in printed
    assert "+ 老师 看书 。" in printed


def test_correct_says_what_stays_wrong(runs: Runs, pipeline: str, tmp_path: Path) -> None:
    path = tmp_path / "both.txt"
    path.write_text("老师 看书\n老 师看书\n", "utf-8")
    printed = runs("correct", pipeline, path, tmp_path / "out")
    assert "still comes out wrong" in printed


def test_info(invoke: Invoke, runs: Runs, pipeline: str, untrained: str, characters: str) -> None:
    printed = runs("info", pipeline)
    for text in ("tokenizer", "CharacterSegmenter", "4: B E M S", "weights", "algorithm=pa_i"):
        assert text in printed
    described = json.loads(invoke("info", pipeline, "--json").output)
    assert described["parts"]["tokenizer"]["model"]["class"] == "CharacterSegmenter"
    assert "untrained" in invoke("info", untrained).output
    assert "ChineseTokenizer" in invoke("info", characters).output
