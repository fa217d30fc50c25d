"""`structreg uncertain`: pick the decisions of a pipeline that are worth asking about."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import PipelineArgument, load_pipeline
from spacy_structreg.cli.outputs import ForceOption, check_file, number_of

MOST = 1_000
# Of a text that is short.
DEFAULT_SHARE = 0.1


def uncertain(
    pipeline: PipelineArgument,
    text: Annotated[Path, Arg(metavar="TEXT", help="Raw text")],
    output: Annotated[Path, Arg(metavar="OUTPUT", help="File to write, such as questions.partial")],
    *,
    n: Annotated[
        int | None,
        Opt(
            "--n",
            "-n",
            min=1,
            help=f"Ask for so many decisions; by default {MOST:,}, of a short text a tenth",
        ),
    ] = None,
    share: Annotated[
        float | None,
        Opt("--share", help="Ask for this share of all decisions instead, such as 0.05"),
    ] = None,
    n_threads: Annotated[
        int, Opt("--threads", "-t", min=1, help="Threads that segment side by side")
    ] = 1,
    encoding: Annotated[
        str, Opt("--encoding", "-e", help="Encoding of the text; the output is in UTF-8")
    ] = "utf-8",
    force: ForceOption = False,
) -> tuple[int, int]:
    """Pick the decisions that a pipeline is least sure of, to be answered by hand.

    Decisions are whether a word ends between two characters; of those between the same two
    characters to either side, one is asked for. OUTPUT has the sentences, one a line, with a ? at
    each question: replace it by | if a word ends there, by - if none does. Unanswered questions,
    and spaces, mean that nothing is known. 'convert' makes a corpus to train on of the answers.

    Returns the numbers of questions and of their sentences. Memory grows with their number, and the
    text is read twice for a share. The output is written in one step. Raises ValueError if the
    output exists (unless `force`), for faulty settings and input, if nothing is in doubt, and for a
    pipeline whose tokenizer has no model of ours; OSError for files that cannot be read or written.
    """
    from spacy_structreg.corpora.files import read_lines
    from spacy_structreg.corpora.formats.partial import write_partial
    from spacy_structreg.models.raw_text import RawTextPredictor
    from spacy_structreg.models.uncertain_words import flat, least_certain

    if share is not None and (n is not None or not 0 < share <= 1):
        raise ValueError("give --n, or --share above 0 and at most 1")
    check_file(output, pipeline, text, force=force)
    model = getattr(load_pipeline(pipeline).tokenizer, "estimator", None)
    if not isinstance(model, RawTextPredictor):
        raise ValueError(
            f"the tokenizer of the pipeline {pipeline} has no model that could be unsure; train "
            "one with 'init-config' and 'fit'"
        )

    def lines() -> Iterator[str]:
        for _, line in read_lines(text, encoding=encoding):
            yield line

    if n is None:
        lengths = (len("".join(line.split())) for line in lines())
        # A long text is not counted to its end for the number that is asked for by default.
        enough = math.inf if share is not None else MOST / DEFAULT_SHARE
        n_characters = 0
        for length in lengths:
            n_characters += length
            if n_characters >= enough:
                break
        n = max(1, round((share or DEFAULT_SHARE) * min(n_characters, enough)))
    found = least_certain(flat(model.predict_margins(lines(), n_threads=n_threads)), n)
    if not found:
        raise ValueError(f"{text}: there is no decision in the text that is in doubt")
    write_partial(output, found)
    n_asked = sum(len(places) for _, places in found)
    typer.echo(f"{output}: {number_of(n_asked, 'question')} in {number_of(len(found), 'sentence')}")
    return n_asked, len(found)
