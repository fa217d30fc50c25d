"""Pipelines that read both scripts, and know classes of words."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

LOOKS = str.maketrans({"學": "学", "們": "们", "語": "语"})
SENTENCES = [["我们", "学", "语言"], ["你们", "也", "学", "语言"]]
TEXT = "我們也學 語言\n學語言"


class Converter:
    def __init__(self, name: str) -> None:
        assert name == "t2s"

    def convert(self, text: str) -> str:
        return text.translate(LOOKS)


def test_docs_keep_their_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opencc", SimpleNamespace(OpenCC=Converter))
    model = {"@architectures": "spacy_structreg.CharacterSegmenter.v1", "script": "simplified"}
    tokenizer = {"@tokenizers": "spacy_structreg.Segmenter.v1", "model": model}
    nlp: Any = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    nlp.tokenizer.model.fit(SENTENCES)
    nlp.to_disk(tmp_path / "pipeline")
    monkeypatch.setitem(sys.modules, "opencc", None)
    for each in (nlp, spacy.load(tmp_path / "pipeline")):
        doc = each(TEXT)
        assert doc.text == TEXT
        words = [token.text.translate(LOOKS) for token in doc]
        assert words == [token.text for token in each(TEXT.translate(LOOKS))]


def test_a_pipe_knows_classes(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_text("0\t语言\t1\n0\t汉语\t1\n1\t学\t1\n", encoding="utf-8")
    nlp = spacy.blank("xx")
    model = {"@architectures": "spacy_structreg.Tagger.v1", "word_classes": str(path)}
    nlp.add_pipe("structreg_tagger", config={"model": model})
    docs = [Doc(nlp.vocab, words=words, tags=["T"] * len(words)) for words in SENTENCES]
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    path.unlink()
    for _ in range(2):
        nlp.update(examples)
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    doc = again.pipe([Doc(again.vocab, words=["学", "汉语"])])
    assert [token.tag_ for token in next(iter(doc))] == ["T", "T"]
