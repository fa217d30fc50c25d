"""Folds of jackknifing in other processes: the same Docs as in threads, from every component."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from contract.components import PIPES
from joblib import parallel_config
from looped import looped
from small_pipeline import examples

from spacy_structreg.cli.jackknife import jackknife_docs


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


def annotated(name: str, n_threads: int) -> list[bytes]:
    """The Docs of a jackknifed corpus, whose labels occur in few sentences each."""
    nlp = PIPES[name].untrained()
    pipe: Any = nlp.get_pipe("pipe")
    pipe.estimator.epochs = 2
    docs = jackknife_docs(pipe, examples(nlp.vocab), n_folds=3, n_threads=n_threads)
    return [doc.to_bytes() for doc in docs]


@looped("name", PIPES)
def test_docs_are_the_same_to_the_byte(name: str, elsewhere: dict[str, Any]) -> None:
    expected = annotated(name, 1)
    assert annotated(name, 2) == expected
    backend: AbstractContextManager[Any] = parallel_config(**elsewhere)
    with backend:
        assert annotated(name, 2) == expected
