"""The option --scheduler: what a Dask cluster trains is what threads train, to the byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_structreg.cli.init_config import init_config

Runs = Callable[..., str]
Fails = Callable[..., str]

SPACE = """
settings: {nlp.tokenizer.model.learning.dropout: {low: 0.0, high: 0.4, step: 0.1}}
trials: 3
"""


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a Dask cluster of two processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, sentences: list[list[str]]) -> Path:
    """A folder with configs and a corpus of words whose lengths are their tags."""
    folder = tmp_path_factory.mktemp("corpora")
    vocab = spacy.blank("zh").vocab
    docs = [
        Doc(
            vocab,
            words=words,
            spaces=[False] * len(words),
            tags=[f"T{len(word)}" for word in words],
        )
        for words in sentences * 2
    ]
    corpus = folder / "corpus.spacy"
    DocBin(docs=docs).to_disk(corpus)
    for task in ("segment", "tag"):
        (folder / f"{task}.cfg").write_text(
            init_config(None, task=task, train=corpus, dev=corpus), "utf-8"
        )
    (folder / "space.yml").write_text(SPACE, "utf-8")
    return folder


def commands(folder: Path, output: Path) -> dict[str, tuple[list[Any], list[Path]]]:
    """Of each command its arguments, and the files that are to be the same."""
    corpus = folder / "corpus.spacy"
    corpora: list[Any] = ["--train", corpus, "--dev", corpus]
    few = ["--training.max_epochs", 2]
    segment = folder / "segment.cfg"
    return {
        "fit": (
            ["fit", segment, output / "fit", *corpora, "--models", 3, *few],
            [output / "fit/tokenizer/model.srt"],
        ),
        "jackknife": (
            ["jackknife", folder / "tag.cfg", corpus, output / "out.spacy", "--folds", 3, *few],
            [output / "out.spacy"],
        ),
        "search": (
            ["search", segment, folder / "space.yml", output / "found", *corpora, *few],
            [output / "found" / name for name in ("trials.md", "best.cfg", "search.json")],
        ),
    }


@pytest.mark.parametrize("name", ["fit", "jackknife", "search"])
def test_a_cluster_makes_the_same_files(
    name: str, folder: Path, scheduler: str, runs: Runs, tmp_path: Path
) -> None:
    made = []
    for place, options in (("here", ()), ("there", ("--scheduler", scheduler))):
        arguments, files = commands(folder, tmp_path / place)[name]
        runs(*arguments, *options)
        made.append([file.read_bytes() for file in files])
    assert made[0] == made[1]
    if name == "search":
        lines = []
        for place in ("here", "there"):
            text = (tmp_path / place / "found/trials.jsonl").read_text("utf-8")
            lines.append([{**json.loads(line), "seconds": 0} for line in text.splitlines()])
        assert lines[0] == lines[1]
        assert all(line["figure"] is not None for line in lines[0])


@pytest.mark.parametrize("name", ["fit", "jackknife", "search"])
def test_an_address_without_a_scheduler_is_refused(
    name: str, folder: Path, fails: Fails, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    arguments, files = commands(folder, tmp_path)[name]
    assert "here://nowhere" in fails(*arguments, "--scheduler", "here://nowhere")
    assert not any(file.exists() for file in files)
