"""Jackknifing: Docs annotated by components each of which was trained on the other Docs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import chain
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.splits import fold_bounds
from spacy_structreg.models.parallel import run_tasks
from spacy_structreg.models.progress import progress_bar


def jackknife_docs(
    pipe: Any, examples: Sequence[Example], *, n_folds: int, n_threads: int = 1
) -> list[Doc]:
    """Annotate the references of a corpus by a component, in place of its gold annotation.

    Folds are runs of Docs (`corpora.splits.fold_bounds`); each is annotated by a component of the
    settings of `pipe` that was trained on the others. All other annotation stays, and the Docs are
    copies. They do not depend on where folds run: n_threads of them at a time, in threads, or as
    ``joblib.parallel_config`` has it. Shows a progress bar on standard error, if that is a
    terminal. Raises ValueError for fewer Docs than folds, and for Docs of other tokens than those
    predicted from.
    """
    bounds = fold_bounds(len(examples), n_folds)
    for number, each in enumerate(examples, 1):
        if [token.text for token in each.predicted] != [token.text for token in each.reference]:
            raise ValueError(
                f"Doc {number} of the corpus has other words than the tokenizer finds; let its "
                'reader give the gold words (gold = ["words"])'
            )
    gold = [pipe.gold(example)[0] for example in examples]
    untrained = pipe.with_estimator(pipe.estimator.untrained())
    shared = untrained, gold, [example.predicted for example in examples]
    progress: Any = {"desc": "jackknife", "unit": " folds", "total": n_folds}
    with closing(run_tasks(_predict_fold, shared, bounds, n_threads)) as predicted:
        folds = list(progress_bar(predicted, **progress))
    writer = pipe.with_estimator(pipe.estimator)
    docs = [example.reference.copy() for example in examples]
    for doc, annotation in zip(docs, chain.from_iterable(folds), strict=True):
        writer.set_annotations([doc], [annotation])
    return docs


def _predict_fold(
    shared: tuple[Any, list[list[Any]], list[Doc]], bound: tuple[int, int]
) -> list[Any]:
    """Train on the gold sentences out of bounds, and predict for the Docs within them."""
    pipe, gold, docs = shared
    begin, end = bound
    rest = list(chain.from_iterable(gold[:begin] + gold[end:]))
    trained = pipe.with_estimator(pipe.estimator.untrained().fit(rest))
    return list(trained.predict(docs[begin:end]))
