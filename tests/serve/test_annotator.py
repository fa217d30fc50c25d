"""Annotators: bounded memory, and pipelines that are not ours."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgpack
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.serve.annotator import AnnotateOptions, Annotator
from spacy_structreg.serve.errors import FaultError
from spacy_structreg.serve.requests import DocumentAnswer
from spacy_structreg.serve.worker import LENGTH, packed


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked at in /proc")
def test_memory_of_workers_stays_flat(pipeline: Path) -> None:
    command = [sys.executable, str(Path(__file__).with_name("worker_with_small_caches.py"))]
    sizes = []
    with subprocess.Popen(
        [*command, str(pipeline)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def received() -> Any:
            length = int.from_bytes(process.stdout.read(LENGTH), "big")  # type: ignore[union-attr]
            return msgpack.unpackb(process.stdout.read(length))  # type: ignore[union-attr]

        assert "pipeline" in received()
        for number in range(1_200):
            # Every word is new: nothing of it may be kept.
            words = [f"看{20 * number + i}书" for i in range(20)]
            listed = [(word, None, "force", None) for word in words]
            request = {"texts": ["。".join(words)], "options": {"user_words": listed}}
            process.stdin.write(packed(request))
            process.stdin.flush()
            (answer,) = received()["answers"]
            assert len(json.loads(answer)["tokens"]) == 39
            pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
            sizes.append(pages * os.sysconf("SC_PAGE_SIZE"))
        process.stdin.close()
    # Kept, the words of the second half would take more than 18 MB.
    assert max(sizes[600:]) < max(sizes[:600]) + (8 << 20), sizes[::50]


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
    options = AnnotateOptions(alternatives=2, confidence=True, pictures=True)
    found = [json.loads(each) for each in asked.annotate(texts, options)]
    for each, text in zip(found, texts, strict=True):
        DocumentAnswer.model_validate(each)
        assert each["text"] == text
        assert each["pictures"] == []
        assert not {"margins", "confidence", "alternatives"} & each.keys()
    assert found[0]["entities"] == [{"label": "GPE", "start": 3, "end": 4}]
    assert [(each["start"], each["end"]) for each in found[0]["sentences"]] == [(0, 5), (5, 8)]
    conllu = asked.annotate(["Rain ."], AnnotateOptions(conllu=True))[0].decode()
    assert conllu.startswith("# text = Rain .\n1\tRain\t")
    with pytest.raises(FaultError, match="takes no user words"):
        asked.annotate(["a"], AnnotateOptions(user_words=(("a", None, "force", None),)))
    with pytest.raises(FaultError, match="no part of the pipeline has a model"):
        asked.explain("a", None, AnnotateOptions())


def test_numbers_that_json_does_not_have() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("no_number")
    (answer,) = Annotator(nlp).annotate(["a"], AnnotateOptions())
    DocumentAnswer.model_validate_json(answer)
    assert json.loads(answer)["categories"] == {"sea": None}


@Language.component("no_number")
def no_number(doc: Doc) -> Doc:
    """Give a category a score that is no number."""
    doc.cats = {"sea": math.nan}
    return doc
