"""`structreg adapt`: a pipeline that knows the raw text of a new domain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import PipelineArgument, load_pipeline
from spacy_structreg.cli.outputs import ForceOption, check_folder, number_of, replace_folder


def adapt(
    pipeline: PipelineArgument,
    files: Annotated[
        list[str],
        Arg(
            metavar="RAW...",
            help="Raw texts, of which .gz and .xz are decompressed, or counts by 'count-ngrams'",
        ),
    ],
    output: Annotated[Path, Arg(metavar="OUTPUT", help="Folder to write")],
    *,
    alone: Annotated[
        bool,
        Opt("--alone", help="Forget the text that was counted before; for millions of characters"),
    ] = False,
    n_threads: Annotated[
        int, Opt("--threads", "-t", min=1, help="Threads that count side by side")
    ] = 1,
    encoding: Annotated[str, Opt("--encoding", "-e", help="Encoding of the texts")] = "utf-8",
    force: ForceOption = False,
) -> int:
    """Count the statistics of a pipeline anew, on raw text of a new domain.

    For pipelines whose models were trained with statistics of raw text. Weights stay as they are,
    and nothing is learned from labels. Texts may be of any size; memory is bounded.

    Returns the number of characters. The folder appears whole or not at all. Shows a progress bar
    on standard error, if that is a terminal. Raises ValueError if the output exists (unless
    `force`, and it is a pipeline or empty), no model of the pipeline has statistics, the texts are
    empty, and for faulty files; OSError for those that cannot be read.
    """
    from spacy_structreg.corpora.files import line_encoding, read_blocks
    from spacy_structreg.learn.model_file import is_model_file
    from spacy_structreg.models.progress import progress_bar
    from spacy_structreg.pipeline.task import parts_of

    check_folder(output, pipeline, *files, force=force)
    line_encoding(encoding)
    nlp = load_pipeline(pipeline)
    parts = [part for _, part in parts_of(nlp) if getattr(part.estimator, "can_adapt", False)]
    if not parts:
        raise ValueError(
            f"no model of the pipeline {pipeline} has statistics of raw text; train one with "
            'statistics = "accessor_variety" in the block of its model'
        )
    counts = [file for file in files if is_model_file(file)]
    texts = [file for file in files if file not in counts]
    n_characters = 0
    # Files are read anew for each part.
    with progress_bar(desc="adapt", unit=" characters", unit_scale=True) as bar:

        def blocks() -> Iterator[str]:
            nonlocal n_characters
            n_characters = 0
            for file in texts:
                for block in read_blocks(file, encoding=encoding):
                    n_characters += len(block)
                    bar.update(len(block))
                    yield block

        for part in parts:
            part.estimator = part.estimator.adapt(
                blocks(), counts=counts, together=not alone, n_threads=n_threads
            )
    if not n_characters and not counts:
        raise ValueError("there is no text in the files; name others")
    replace_folder(output, nlp.to_disk, force=force)
    typer.echo(
        f"Counted {number_of(n_characters, 'character')}, and saved the pipeline to {output}"
    )
    return n_characters
