"""`structreg adapt`: statistics of a pipeline counted anew, written whole or not at all."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy

from spacy_structreg.cli.adapt import adapt
from spacy_structreg.tasks.knowledge.ngrams import count_ngrams
from spacy_structreg.tasks.knowledge.statistics_source import StatisticsSource

RAW = ["这麒麟好", "那麒麟在", "看麒麟。有麒麟吃", "大麒麟书", "麒麟很多"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, sentences: list[list[str]]) -> str:
    """A pipeline whose tokenizer has statistics of raw text."""
    folder = tmp_path_factory.mktemp("trained") / "pipeline"
    model = {
        "@architectures": "spacy_structreg.CharacterSegmenter.v1",
        "seed": 1,
        "statistics": "accessor_variety",
    }
    tokenizer = {"@tokenizers": "spacy_structreg.Segmenter.v1", "model": model}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    nlp.tokenizer.model.epochs = 2
    nlp.tokenizer.model.fit(sentences)
    nlp.tokenizer.user_words.add("麒麟")
    nlp.add_pipe("sentencizer", config={"punct_chars": ["。"]})
    nlp.to_disk(folder)
    return str(folder)


def source_of(tokenizer: Any) -> StatisticsSource:
    (source,) = tokenizer.model._fitted_spec().atoms.sources
    assert isinstance(source, StatisticsSource)
    return source


def equal(one: StatisticsSource, other: StatisticsSource) -> bool:
    return all(
        np.array_equal(array, other.contents()[1][name])
        for name, array in one.contents()[1].items()
    )


def test_files_of_all_kinds_are_counted(
    trained: str, tmp_path: Path, runs: Callable[..., str]
) -> None:
    text = "\n".join(RAW) + "\n"
    (tmp_path / "a.txt").write_bytes(text.encode("gb18030"))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text.encode("gb18030")))
    (tmp_path / "c.txt.xz").write_bytes(lzma.compress(text.encode("gb18030")))
    files = [str(tmp_path / name) for name in ("a.txt", "b.txt.gz", "c.txt.xz")]
    output = tmp_path / "adapted"
    printed = runs("adapt", trained, *files, output, "--encoding", "gb18030", "--threads", 2)
    assert printed == f"Counted {3 * len(text)} characters, and saved the pipeline to {output}\n"
    before, adapted = spacy.load(trained), spacy.load(output)
    counted = StatisticsSource.of(count_ngrams(RAW * 3))
    assert equal(source_of(adapted.tokenizer), source_of(before.tokenizer).joined(counted))
    assert adapted.pipe_names == before.pipe_names
    assert adapted.tokenizer.user_words == before.tokenizer.user_words
    assert adapted("看麒麟").text == "看麒麟"
    adapt(trained, files[:1], output, alone=True, encoding="gb18030", force=True)
    assert equal(source_of(spacy.load(output).tokenizer), StatisticsSource.of(count_ngrams(RAW)))


def test_tokenizers_adapt_to_texts_and_docs(trained: str) -> None:
    nlp = spacy.load(trained)
    docs = [nlp.make_doc(text) for text in RAW]
    before = nlp.tokenizer
    by_docs, by_texts = before.adapted(docs, together=False), before.adapted(RAW, together=False)
    assert equal(source_of(by_docs), source_of(by_texts))
    assert equal(source_of(by_docs), StatisticsSource.of(count_ngrams(RAW)))
    assert by_docs.user_words is before.user_words
    assert [doc.text for doc in by_docs.pipe(RAW)] == RAW
