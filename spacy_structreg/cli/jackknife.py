"""`structreg jackknife`: a corpus annotated by models that have not seen what they annotate."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import OverridesArgument, SchedulerOption, trained_by
from spacy_structreg.cli.outputs import ForceOption, check_file

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.training import Example


def jackknife(
    config: Annotated[Path, Arg(metavar="CONFIG", help="Config with a component to train")],
    corpus: Annotated[Path, Arg(metavar="CORPUS", help="Gold corpus, .spacy")],
    output: Annotated[Path, Arg(metavar="OUTPUT", help="File to write, .spacy")],
    *,
    n_folds: Annotated[
        int, Opt("--folds", "-k", min=2, help="Parts that the corpus is cut into")
    ] = 10,
    n_threads: Annotated[
        int, Opt("--threads", "-t", min=1, help="Models that are trained side by side")
    ] = 2,
    scheduler: SchedulerOption = None,
    overrides: OverridesArgument = None,
    force: ForceOption = False,
) -> tuple[str, float]:
    """Annotate a corpus by models that were trained on the rest of it.

    For each of k parts, the component of the config, such as a tagger, is trained on the other
    parts, for the epochs of [training] or its own, and annotates this part. What is trained on the
    output, such as a parser, sees tags as good as those that it will meet. Docs keep their order
    and all other annotation; the result does not depend on the number of threads, nor on where they
    run. Settings are changed as with `spacy train`.

    Returns the figure of its task, and its key. Folds are runs of Docs
    (`corpora.splits.fold_bounds`). The output is written in one step. Shows a progress bar on
    standard error, if that is a terminal. Raises ValueError if the output exists (unless `force`),
    there are fewer Docs than folds or no component of ours in the config, and for faulty corpora.
    """
    from spacy_structreg.cli.training import load_training
    from spacy_structreg.pipeline.gold_docs import save_docs
    from spacy_structreg.pipeline.task import Given, ScoreSettings, TaskPart, task_of

    if output.suffix != ".spacy":
        raise ValueError(f"{output}: name an output that ends in .spacy")
    check_file(output, config, corpus, force=force)
    training = load_training(config, overrides)
    task = task_of(training.part)
    if training.is_tokenizer or task is None:
        raise ValueError(
            f"{config}: there is no component to train, which would annotate given words; make "
            "another config with 'python -m spacy structreg init-config'"
        )
    training.apply_settings()
    examples = training.examples(corpus)
    with trained_by(scheduler):
        docs = jackknife_docs(training.part, examples, n_folds=n_folds, n_threads=n_threads)
        save_docs(output, docs, ["MORPH", "LEMMA"])
    pairs = [(example.reference, doc) for example, doc in zip(examples, docs, strict=True)]
    part = TaskPart(training.nlp, training.name)
    scores = task.score(pairs, part, ScoreSettings(Given(words=True)))
    key = scores.table.main[0]
    figure = scores.as_dict()[key] or 0.0
    typer.echo(f"{output}: {key} {100 * figure:.2f} by the gold annotation of the corpus")
    return key, figure


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
    from spacy_structreg.corpora.splits import fold_bounds
    from spacy_structreg.models.parallel import run_tasks
    from spacy_structreg.models.progress import progress_bar

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
    with closing(run_tasks(predict_fold, shared, bounds, n_threads)) as predicted:
        folds = list(progress_bar(predicted, **progress))
    writer = pipe.with_estimator(pipe.estimator)
    docs = [example.reference.copy() for example in examples]
    for doc, annotation in zip(docs, chain.from_iterable(folds), strict=True):
        writer.set_annotations([doc], [annotation])
    return docs


def predict_fold(
    shared: tuple[Any, list[list[Any]], list[Doc]], bound: tuple[int, int]
) -> list[Any]:
    """Train on the gold sentences out of bounds, and predict for the Docs within them."""
    pipe, gold, docs = shared
    begin, end = bound
    rest = list(chain.from_iterable(gold[:begin] + gold[end:]))
    trained = pipe.with_estimator(pipe.estimator.untrained().fit(rest))
    return list(trained.predict(docs[begin:end]))
