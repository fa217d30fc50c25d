"""Gold Docs and annotated sentences, where several packages add tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_structreg.metrics.figures import Scores
from spacy_structreg.pipeline import gold_docs
from spacy_structreg.pipeline.gold_docs import read_docbin, save_docs, sentence_of_doc
from spacy_structreg.pipeline.task import (
    Pairs,
    PipelineTask,
    ScoreSettings,
    TaskPart,
    all_tasks,
)


class Attribute(PipelineTask):
    """An attribute of tokens, as a column."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.attributes = (name.upper(),)  # type: ignore[misc]

    def has_gold(self, doc: Doc) -> bool:
        return doc.has_annotation(self.attributes[0])

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        raise AssertionError("nothing is scored here")

    def read_gold(self, doc: Doc, spans_key: str | None) -> dict[str, Any]:
        return {"extra": {self.name: [getattr(token, f"{self.name}_") for token in doc]}}


@pytest.fixture
def doc(monkeypatch: pytest.MonkeyPatch) -> Doc:
    tasks = [*all_tasks(), Attribute("lemma"), Attribute("norm")]
    monkeypatch.setattr(gold_docs, "all_tasks", lambda: tasks)
    doc = Doc(Vocab(), words=["ships", "sail"], lemmas=["ship", "sail"])
    doc[0].norm_, doc[1].norm_ = "boat", "go"
    return doc


def test_columns_of_several_tasks_are_kept(doc: Doc) -> None:
    assert sentence_of_doc(doc).extra == {"lemma": ["ship", "sail"], "norm": ["boat", "go"]}


def test_attributes_of_tasks_are_written(doc: Doc, tmp_path: Path) -> None:
    save_docs(tmp_path / "corpus.spacy", [doc], ["MORPH"])
    (found,) = read_docbin(tmp_path / "corpus.spacy", Vocab())
    assert [(token.lemma_, token.norm_) for token in found] == [("ship", "boat"), ("sail", "go")]
