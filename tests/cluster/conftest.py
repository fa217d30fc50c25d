"""What the tests of runs share: a pipeline of words, tags and heads, and texts for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from small_pipeline import WORDS, trained


@pytest.fixture(scope="session")
def raw_pipeline(made_once: Callable[..., Path]) -> str:
    """The folder of a trained pipeline that writes words, tags, heads and relations."""
    return str(made_once("raw-pipeline", lambda folder: trained(["parser"]).to_disk(folder)))


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two workers of this machine."""
    from spacy_structreg.cluster.engines import connect

    with connect(n_workers=2) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Texts, all different, of known words and others."""
    draw = Random(0)
    words = [word for sentence in WORDS for word in sentence] + ["鑫", "👍", " ", "New York", "，"]
    return [
        f"{number}" + "".join(draw.choices(words, k=draw.randint(1, 10))) for number in range(400)
    ]


@pytest.fixture(scope="session")
def jsonl(texts: list[str], made_once: Callable[..., Path]) -> Path:
    """These, as JSON lines with numbers."""

    def fill(folder: Path) -> None:
        with (folder / "texts.jsonl").open("w", encoding="utf-8") as stream:
            for number, text in enumerate(texts):
                stream.write(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n")

    return made_once("cluster-texts", fill) / "texts.jsonl"
