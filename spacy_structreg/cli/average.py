"""`structreg average`: one pipeline out of several that were trained apart."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import load_pipeline
from spacy_structreg.cli.outputs import ForceOption, check_folder, number_of, replace_folder


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
    from spacy_structreg.pipeline.pipeline_average import average_pipelines

    check_folder(output, *pipelines, force=force)
    averaged = average_pipelines([load_pipeline(name) for name in pipelines], mean.value)
    replace_folder(output, averaged.to_disk, force=force)
    typer.echo(f"Saved the average of {number_of(len(pipelines), 'pipeline')} to {output}")
