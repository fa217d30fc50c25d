"""Folds of jackknifing in other processes: the same Docs as in threads, from every component."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
import spacy
from joblib import parallel_config
from looped import looped
from made_up import TRAIN, tag_of
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.cli.jackknife import jackknife_docs
from spacy_structreg.pipeline.constituency_documents import Phrase, write_phrases
from spacy_structreg.pipeline.readers import predicted_doc

PIPES = {
    "structreg_tagger": "Tagger",
    "structreg_parser": "DependencyParser",
    "structreg_constituency": "ConstituencyParser",
    "structreg_sequence_labeler": "SequenceLabeler",
    "structreg_textcat": "TextClassifier",
}


@pytest.fixture(scope="module", params=["loky", "dask"])
def elsewhere(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """The arguments of `parallel_config` for a backend of other processes."""
    if request.param == "loky":
        yield {"backend": "loky"}
        return
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield {"backend": "dask", "client": client}


def gold_doc(vocab: spacy.Vocab, words: list[str]) -> Doc:
    n = len(words)
    # Some relations occur in few sentences, so that not all processes know their strings.
    doc = Doc(
        vocab,
        words=words,
        spaces=[False] * n,
        tags=list(map(tag_of, words)),
        heads=[0, *range(n - 1)],
        deps=["ROOT", *(f"after_{tag_of(word)}" for word in words[:-1])],
        ents=["B-ACTOR" if word in ("老师", "小王", "她") else "O" for word in words],
    )
    write_phrases(doc, [Phrase("IP", 0, n, 1), Phrase("VP", 1, n, 1)])
    doc.cats = {"asks": float("？" in words), "tells": float("？" not in words)}
    return doc


def annotated(factory: str, n_threads: int) -> list[bytes]:
    """The Docs of a jackknifed corpus, by a pipeline that is made for it."""
    nlp = spacy.blank("zh")
    model = {"@architectures": f"spacy_structreg.{PIPES[factory]}.v1", "seed": 1}
    pipe: Any = nlp.add_pipe(factory, config={"model": model})
    pipe.estimator.epochs = 2
    references = [gold_doc(nlp.vocab, words) for words in TRAIN[:24]]
    examples = [
        Example(predicted_doc(nlp, doc, {"words", "tags", "sents"}), doc) for doc in references
    ]
    docs = jackknife_docs(pipe, examples, n_folds=3, n_threads=n_threads)
    return [doc.to_bytes() for doc in docs]


@looped("factory", PIPES)
def test_docs_are_the_same_to_the_byte(factory: str, elsewhere: dict[str, Any]) -> None:
    expected = annotated(factory, 1)
    assert annotated(factory, 2) == expected
    backend: AbstractContextManager[Any] = parallel_config(**elsewhere)
    with backend:
        assert annotated(factory, 2) == expected
