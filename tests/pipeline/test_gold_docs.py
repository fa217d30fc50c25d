"""Gold Docs and annotated sentences, where several packages add tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_structreg.metrics.figures import Scores
from spacy_structreg.pipeline import gold_docs
from spacy_structreg.pipeline.gold_docs import (
    doc_of_sentence,
    read_docbin,
    save_docs,
    sentence_of_doc,
)
from spacy_structreg.pipeline.task import (
    Pairs,
    ScoreSettings,
    TaskPart,
    TokenTask,
    all_tasks,
)


class Lemmas(TokenTask):
    stem = attribute = "lemma"

    def score(self, pairs: Pairs, part: TaskPart, settings: ScoreSettings) -> Scores:
        raise AssertionError("nothing is scored here")


class Norms(Lemmas):
    stem = attribute = "norm"


class Features(Lemmas):
    stem = attribute = "morph"


@pytest.fixture
def doc(monkeypatch: pytest.MonkeyPatch) -> Doc:
    tasks = [*all_tasks(), Lemmas(), Norms(), Features()]
    monkeypatch.setattr(gold_docs, "all_tasks", lambda: tasks)
    doc = Doc(Vocab(), words=["ships", "sail"], lemmas=["ship", "sail"])
    doc[0].norm_, doc[1].norm_ = "boat", "go"
    doc[0].set_morph("Number=Plur")
    return doc


def test_columns_of_several_tasks_are_kept(doc: Doc) -> None:
    sentence = sentence_of_doc(doc)
    assert sentence.extra == {
        "lemma": ["ship", "sail"],
        "norm": ["boat", "go"],
        "morph": ["Number=Plur", ""],
    }
    found = doc_of_sentence(Vocab(), sentence)
    assert sentence_of_doc(found) == sentence
    assert not found[1].has_morph()
    # A sentence without them is none of theirs.
    assert sentence_of_doc(Doc(Vocab(), words=["ships"])).extra is None


def test_attributes_of_tasks_are_written(doc: Doc, tmp_path: Path) -> None:
    save_docs(tmp_path / "corpus.spacy", [doc], ["MORPH"])
    (found,) = read_docbin(tmp_path / "corpus.spacy", Vocab())
    assert [(token.lemma_, token.norm_) for token in found] == [("ship", "boat"), ("sail", "go")]
