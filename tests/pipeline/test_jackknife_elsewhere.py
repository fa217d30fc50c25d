"""Folds of jackknifing in other processes: the same Docs as in threads, from every component."""

from __future__ import annotations

from typing import Any

from contract.components import PIPES
from joblib import parallel_config
from looped import looped
from small_pipeline import examples

from spacy_structreg.cli.jackknife import jackknife_docs


def annotated(name: str, n_threads: int) -> list[bytes]:
    """The Docs of a jackknifed corpus, whose labels occur in few sentences each."""
    nlp = PIPES[name].untrained()
    pipe: Any = nlp.get_pipe("pipe")
    pipe.estimator.epochs = 2
    docs = jackknife_docs(pipe, examples(nlp.vocab), n_folds=3, n_threads=n_threads)
    return [doc.to_bytes() for doc in docs]


@looped("name", PIPES)
def test_docs_are_the_same_to_the_byte(name: str) -> None:
    """Of the backends of joblib, one; trainings are held to all of them."""
    expected = annotated(name, 1)
    assert annotated(name, 2) == expected
    with parallel_config(backend="loky"):
        assert annotated(name, 2) == expected
