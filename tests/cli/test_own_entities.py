"""Entities of one's own: a pipe beside those of a base, from exports and characters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import spacy
from small_pipeline import gold_doc, trained
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.pipeline.pipeline_correction import correct_pipeline
from spacy_structreg.pipeline.task import TOKENIZER

# Of other names and labels than the base knows.
TEXTS = ["我看大字。", "他写大字。", "小王看大字！", "他看书。", "我写书。", "小王写大字。"] * 4


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "base"
    trained().to_disk(path)
    return path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(structreg_app, list(map(str, arguments)))
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


@pytest.mark.slow
def test_a_pipe_beside_those_of_a_base(base: Path, tmp_path: Path) -> None:
    corpus, output = tmp_path / "own.col", tmp_path / "out"
    labels = {"大": "B-ART", "字": "I-ART"}
    rows = ["".join(f"{each} {labels.get(each, 'O')}\n" for each in text) for text in TEXTS]
    corpus.write_text("\n".join(rows), "utf-8")
    run("convert", corpus, tmp_path / "own.spacy", "--columns", "word,label")
    corpus = tmp_path / "own.spacy"
    run("fit", "label", output, "--base", base, "--train", corpus)
    nlp, before = spacy.load(output), spacy.load(base)
    assert nlp.pipe_names == ["sequence_labeler", *before.pipe_names]
    doc = nlp("小王写大字！")
    assert [token.text for token in doc] == [token.text for token in before(doc.text)]
    assert ("大字", "ART") in [(span.text, span.label_) for span in doc.ents]
    assert ("小王", "PER") in [(span.text, span.label_) for span in doc.ents]
    # What the base finds is not in the corpus, and does not count.
    printed = run("evaluate", output, corpus)
    assert "PER" not in printed
    assert "Not counted, as the gold corpus has none of their labels: ner" in printed
    # Of two pipes for entities, that is corrected which knows the labels.
    gold = Doc(nlp.vocab, words=["书", "看", "大", "字"], spaces=[False] * 4)
    gold.set_ents([spacy.tokens.Span(gold, 2, 4, "ART")])
    report = correct_pipeline(nlp, [gold])
    assert list(report) == [TOKENIZER, "sequence_labeler"]
    assert not any(each.wrong for each in report.values())
    assert [(span.text, span.label_) for span in nlp("书看大字").ents] == [("大字", "ART")]
    # Again, as a pre-annotation.
    spacy.tokens.DocBin(docs=[nlp("小王写大字！")]).to_disk(tmp_path / "found.spacy")
    run("convert", tmp_path / "found.spacy", tmp_path / "tasks.json")
    (task,) = json.loads((tmp_path / "tasks.json").read_text("utf-8"))
    values = [each["value"] for each in task["predictions"][0]["result"]]
    assert {"start": 3, "end": 5, "text": "大字", "labels": ["ART"]} in values


def test_corrections_see_the_tags_of_the_tokenizer(base: Path) -> None:
    """No pipe tags words that are given, where the tokenizer tags those that it finds."""
    nlp = spacy.load(base)
    gold = gold_doc(nlp.vocab, 1)
    report = correct_pipeline(nlp, [gold])
    assert {"parser", "constituency", "ner"} <= set(report)
    assert not any(each.wrong for each in report.values())
