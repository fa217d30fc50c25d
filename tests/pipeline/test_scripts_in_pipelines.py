"""Pipelines that read both scripts, and know classes of words."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import spacy

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
