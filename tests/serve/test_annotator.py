"""Annotators in this process: bounded memory, and pipelines that are not ours."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
import spacy
from small_pipeline import trained

from spacy_structreg.pipeline import documents
from spacy_structreg.serve import annotator
from spacy_structreg.serve.annotator import Annotator, Wishes
from spacy_structreg.serve.requests import DocumentAnswer
from spacy_structreg.tasks import tokens


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked at in /proc")
def test_memory_stays_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    # Else so few words would not fill what is remembered of them.
    monkeypatch.setattr(annotator, "MOST_WORDS", 1_000)
    monkeypatch.setattr(documents, "_MOST_STRINGS", 500)
    monkeypatch.setattr(tokens, "_MOST_REMEMBERED", 100_000)
    asked = Annotator(trained())
    sizes = []
    for number in range(40):
        # Every word is new: nothing of it may be kept.
        words = [f"看{1000 * number + i}书" for i in range(1000)]
        wishes = Wishes(user_words=tuple((word, None, "force", None) for word in words))
        answers = asked.annotate(["。".join(words[i : i + 50]) for i in range(0, 1000, 50)], wishes)
        assert len(json.loads(answers[0])["tokens"]) == 99
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        sizes.append(pages * os.sysconf("SC_PAGE_SIZE"))
    # Kept, the words of the second half would take more than 30 MB.
    assert max(sizes[20:]) < max(sizes[:20]) + (8 << 20), sizes


def test_pipelines_of_others() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "GPE", "pattern": "Oslo"}])  # type: ignore[attr-defined]
    asked = Annotator(nlp)
    described = asked.describe()
    assert described["annotates"] == ["words", "entities", "sentences"]
    assert [part["explains"] for part in described["parts"]] == [False, False, False]
    assert (described["alternatives"], described["confidence"]) == ([], [])
    assert not described["user_words"]
    texts = ["We sail to Oslo. It rains.", "", " "]
    wishes = Wishes(alternatives=2, confidence=True, pictures=True)
    found = [json.loads(each) for each in asked.annotate(texts, wishes)]
    for each, text in zip(found, texts, strict=True):
        DocumentAnswer.model_validate(each)
        assert each["text"] == text
        assert each["pictures"] == []
        assert not {"margins", "confidence", "alternatives"} & each.keys()
    assert found[0]["entities"] == [{"label": "GPE", "start": 3, "end": 4}]
    assert [(each["start"], each["end"]) for each in found[0]["sentences"]] == [(0, 5), (5, 8)]
    assert asked.annotate(["Rain ."], Wishes(conllu=True))[0].decode().startswith("1\tRain\t")
    with pytest.raises(ValueError, match="takes no user words"):
        asked.annotate(["a"], Wishes(user_words=(("a", None, "force", None),)))
    with pytest.raises(ValueError, match="no part of the pipeline has a model"):
        asked.explain("a", None, Wishes())
