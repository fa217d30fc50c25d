"""`structreg average`: one pipeline out of several that were trained apart."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import load_pipeline
from spacy_structreg.cli.outputs import ForceOption, check_folder, number_of, replace_folder

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_structreg.learn.learning_settings import Mean


class MeanName(str, Enum):
    """Kinds of means of weights."""

    nonzero = "nonzero"
    plain = "plain"


def average(
    pipelines: Annotated[
        list[str], Arg(metavar="PIPELINE...", help="Folders or packages of pipelines")
    ],
    output: Annotated[Path, Arg(metavar="OUTPUT", help="Folder to write")],
    *,
    mean: Annotated[
        MeanName,
        Opt(
            "--mean",
            "-m",
            help="nonzero: divide each weight by the number of models that have it (Zhang et al. "
            "2014, equation 8); plain: by the number of models (equation 7)",
        ),
    ] = MeanName.nonzero,
    force: ForceOption = False,
) -> None:
    """Average the models of pipelines that were trained alike, with different seeds.

    It pays most for models that differ: train them with update = "perceptron". Models of
    spacy_structreg are averaged; everything else is copied from the first pipeline.

    Raises ValueError if the output exists (unless `force`, and it is a pipeline or empty), or the
    pipelines cannot be averaged.
    """
    check_folder(output, *pipelines, force=force)
    averaged = average_pipelines([load_pipeline(name) for name in pipelines], mean.value)
    replace_folder(output, averaged.to_disk, force=force)
    typer.echo(f"Saved the average of {number_of(len(pipelines), 'pipeline')} to {output}")


def average_pipelines(pipelines: Sequence[Language], mean: Mean = "nonzero") -> Language:
    """Put the average of each model of ours into the first pipeline, and return it.

    These are the models of tokenizers and of components. mean: see
    `learn.model_average.average_rows`.
    Raises ValueError if there is no pipeline, none has a model of ours, or the models of the same
    place differ in what they see; the message names the place and the difference. Nothing is
    changed then.
    """
    from spacy_structreg.pipeline.task import TOKENIZER, parts_of

    if not pipelines:
        raise ValueError("there is no pipeline to average")
    first, *others = pipelines
    places = dict(parts_of(first))
    if not places:
        raise ValueError("the first pipeline has no model of spacy_structreg to average")
    holders = [places]
    for number, nlp in enumerate(others, 2):
        found = dict(parts_of(nlp))
        for place in sorted(places.keys() ^ found.keys()):
            if place == TOKENIZER:
                raise ValueError(f"pipeline {number} has another tokenizer than the first")
            raise ValueError(
                f"the first pipeline or pipeline {number} has a pipe {place!r} of "
                "spacy_structreg, but the other one has not"
            )
        holders.append(found)
    averages = {}
    for place in places:
        models = [found[place].estimator for found in holders]
        for number, model in enumerate(models, 1):
            if not model.is_trained:
                raise ValueError(f"the {place} of pipeline {number} has not been trained")
        try:
            averages[place] = type(models[0]).average(models, mean)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from error
    for place, model in averages.items():
        places[place].estimator = model
    return first
