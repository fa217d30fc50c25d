"""`structreg annotate`: files of any size in, annotated shards out, on one machine or a cluster."""

from __future__ import annotations

import re
from enum import Enum
from typing import Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import PipelineArgument, SchedulerOption, WorkersOption
from spacy_structreg.cli.outputs import number_of


class OutputFormat(str, Enum):
    """Formats of the shards."""

    parquet = "parquet"
    jsonl = "jsonl"
    csv = "csv"
    conllu = "conllu"
    spacy = "spacy"
    label_studio = "label-studio"
    doccano = "doccano"


def annotate(
    pipeline: PipelineArgument,
    inputs: Annotated[
        list[str],
        Arg(
            metavar="INPUT",
            help="Files, patterns such as 'crawl/*.jsonl.gz', or URLs such as s3://…, of Parquet, "
            "JSON lines (.jsonl, .ndjson, .json), CSV (.csv) or text (.txt, a record a line); all "
            "but Parquet may end in .gz, .xz or .zst",
        ),
    ],
    output: Annotated[
        str, Arg(metavar="OUTPUT", help="Folder or URL for the shards; the same goes on")
    ],
    *,
    format: Annotated[
        OutputFormat,
        Opt(
            "--format",
            "-f",
            help="parquet: typed columns, a row a record; jsonl: an object a record; csv: a row a "
            "word; conllu; spacy: Docs; label-studio and doccano: entities to be corrected there",
        ),
    ] = OutputFormat.parquet,
    scheduler: SchedulerOption = None,
    n_workers: WorkersOption = None,
    n_threads: Annotated[
        int, Opt("--threads", "-t", min=1, help="Threads of each worker that predict side by side")
    ] = 1,
    text_column: Annotated[
        str, Opt("--text-column", help="Column or field with the text; text files have none")
    ] = "text",
    keep: Annotated[
        list[str] | None,
        Opt(
            "--keep",
            metavar="NAME[:TYPE]",
            help="A further column or field to write, with a type of Arrow such as id:int64; may "
            "be given several times",
        ),
    ] = None,
    no_text: Annotated[
        bool,
        Opt("--no-text", help="Leave the texts out: file and record say where they stand"),
    ] = False,
    max_bad: Annotated[
        str,
        Opt(
            "--max-bad",
            metavar="NUMBER|SHARE",
            help="The run ends with more bad records than this number, such as 1000, or this share "
            "of all, such as 1%",
        ),
    ] = "1000",
    unit_size: Annotated[
        int | None,
        Opt(
            "--unit-size",
            min=1,
            metavar="KIB",
            help="About so many kibibytes of input are annotated, written and, after an "
            "interruption, repeated as a whole; 32768, and 4096 for Docs, if not said",
        ),
    ] = None,
    verify: Annotated[
        bool, Opt("--verify", help="Read what is there already, and make anew what is damaged")
    ] = False,
) -> None:
    """Annotate files of any size by a pipeline, on all cores or on a Dask cluster.

    Every unit of work becomes one file of the output folder, whole or not at all. The same command
    goes on where an interruption has left it, and writes nothing twice; another pipeline, input or
    setting needs another folder. An interruption, such as by Ctrl-C, says what was kept. Records
    that cannot be read are put into its folder _bad, with place and reason. Clusters, and Parquet
    to be read or written, need the extra 'cluster'.
    """
    from spacy_structreg.cluster.annotate_run import annotate as annotate_files
    from spacy_structreg.cluster.extra_packages import need_packages

    if format is OutputFormat.parquet:
        need_packages("pyarrow", otherwise=", or choose another --format, such as jsonl")
    done = annotate_files(
        pipeline,
        inputs,
        output,
        format=format.value,
        scheduler=scheduler,
        n_workers=n_workers,
        n_threads=n_threads,
        text_column=text_column,
        keep=keep or (),
        keep_text=not no_text,
        max_bad=parse_max_bad(max_bad),
        unit_bytes=None if unit_size is None else unit_size << 10,
        verify=verify,
        log=lambda message: typer.echo(message, err=True),
    )
    again = f", {done.resumed} of them before" if done.resumed else ""
    bad = f"; {number_of(done.bad_records, 'bad record')} in {output}/_bad"
    typer.echo(
        f"Annotated {number_of(done.records, 'record')} of "
        f"{number_of(done.characters, 'character')} in {number_of(done.units, 'unit')}{again}, "
        f"in {done.seconds:,.1f} s; {number_of(done.shard_bytes, 'byte')} in {output}"
        f"{bad if done.bad_records else ''}"
    )


def parse_max_bad(text: str) -> int | float:
    """The number, or the share from 0 to 1, of bad records that a command line names.

    Raises ValueError for what is neither.
    """
    if text.isascii() and text.isdigit():
        return int(text)
    if re.fullmatch(r"[0-9]+(\.[0-9]*)?%", text) and float(text[:-1]) <= 100:
        return float(text[:-1]) / 100
    raise ValueError(f"--max-bad {text!r} is neither a number, such as 1000, nor a share, as 1%")
