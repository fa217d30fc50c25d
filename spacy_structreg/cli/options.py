"""Arguments and options that commands share, and what these stand for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.commands import Depends
from spacy_structreg.corpora.corpus_options import (
    AUTO,
    Compounds,
    CorpusOptions,
    HeadRuleSet,
    SchemeName,
    Spaces,
    parse_columns,
    parse_days,
)

if TYPE_CHECKING:
    from spacy.language import Language

PipelineArgument: TypeAlias = Annotated[
    str, Arg(metavar="PIPELINE", help="Folder or package of a trained pipeline")
]
"""The argument ``PIPELINE``."""


def load_pipeline(name: str) -> Language:
    """Load a pipeline from a folder or an installed package.

    Raises ValueError or OSError if there is none of that name, or it cannot be loaded.
    """
    import spacy

    try:
        return spacy.load(name)
    except ImportError as error:
        raise ValueError(f"the pipeline {name} cannot be loaded: {error}") from error


ANY_CORPUS: Final = CorpusOptions(spaces=Spaces.none)
"""Options of a corpus where none are named."""


def format_name(text: str) -> str:
    """A name of a format, or `AUTO`. Raises typer.BadParameter for others."""
    from spacy_structreg.corpora.any_format import all_formats

    if text != AUTO and text not in all_formats():
        raise typer.BadParameter(
            f"{text!r} is no format; they are {AUTO}, {', '.join(all_formats())}"
        )
    return text


def format_option(*names: str, help: str) -> Any:
    """An option that takes the name of a format; `task_lists.WithFormats` lists them."""
    return Opt(*names, parser=format_name, metavar="FORMAT", help=help)


def corpus_options(
    *,
    format: Annotated[
        str,
        format_option(
            "--format",
            "-f",
            help="Format of the corpus, as below; auto: by the extension (.spacy, .conllu, .mrg, "
            ".json, .jsonl, .ann), else by --columns or the content",
        ),
    ] = AUTO,
    encoding: Annotated[
        str,
        Opt("--encoding", "-e", help="Encoding of the corpora (gb18030, cp950, big5hkscs, ...)"),
    ] = "utf-8",
    compounds: Annotated[
        Compounds,
        Opt("--compounds", help="PFR: take bracketed compounds as parts, or merged into a word"),
    ] = Compounds.parts,
    days: Annotated[
        str | None,
        Opt(
            "--days", help="PFR: only paragraphs of these days of the month, such as 1-24 or 1-7,15"
        ),
    ] = None,
    part: Annotated[
        str | None,
        Opt("--part", help="Corpus and part of a SIGHAN 2005 release: pku/training, msr/test, ..."),
    ] = None,
    head_rules: Annotated[
        HeadRuleSet | None,
        Opt(
            "--head-rules",
            help="Brackets: take the trees too, with heads by these rules, and the trees of words "
            "that the heads make: ctb (Chinese Treebank) or ptb (Penn Treebank)",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        Opt(
            "--columns",
            help="What stands in the columns of a file, such as word,tag,label: word; tag and pos, "
            "the tags of the corpus and universal ones; label, of entities or chunks; _, which is "
            "skipped. Of classified texts: text,category",
        ),
    ] = None,
    scheme: Annotated[
        SchemeName,
        Opt(
            "--scheme",
            help="Columns: how labels stand for spans: bio, iob1, bioes (also BMES and BILOU) or "
            "io; auto: look at all of them",
        ),
    ] = SchemeName.auto,
    comments: Annotated[
        str | None,
        Opt(
            "--comments",
            help="Columns: how lines begin that are skipped between sentences, such as ###MEDLINE:",
        ),
    ] = None,
) -> CorpusOptions:
    """The options of a corpus that a command line names; texts have no spaces between words.

    Raises ValueError for faulty days or columns.
    """
    from spacy_structreg.pipeline.task import all_tasks

    further = [name for task in all_tasks() for name in task.columns]
    return CorpusOptions(
        format=format,
        encoding=encoding,
        compounds=compounds,
        days=parse_days(days),
        part=part,
        spaces=Spaces.none,
        head_rules=head_rules,
        columns=parse_columns(columns, further),
        scheme=scheme,
        comments=comments,
    )


CorpusArgument: TypeAlias = Annotated[CorpusOptions, Depends(corpus_options)]
"""The options of a corpus that a command reads."""
SchedulerOption: TypeAlias = Annotated[
    str | None,
    Opt(
        "--scheduler",
        metavar="ADDRESS",
        help="Work on the Dask cluster of the scheduler at this address, such as "
        "tcp://10.0.0.1:8786, in place of this machine",
    ),
]
"""The option ``--scheduler``."""
WorkersOption: TypeAlias = Annotated[
    int | None,
    Opt("--workers", "-n", min=1, help="Processes of this machine; as many as cores if not said"),
]
"""The option ``--workers``."""


@contextmanager
def trained_by(scheduler: str | None) -> Iterator[None]:
    """Let the trainings of the block run on a Dask cluster; None leaves them where they are.

    scheduler: its address. Raises ValueError without the packages of the extra `cluster`, and
    OSError if nothing answers at the address.
    """
    if scheduler is None:
        yield
        return
    from joblib import parallel_config

    from spacy_structreg.cluster.engines import connect

    with connect(scheduler=scheduler) as client, parallel_config("dask", client=client):
        yield


UNKNOWN_OPTIONS: Final = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of the context of a command that takes overrides."""


def parse_overrides(context: typer.Context) -> dict[str, Any]:
    """The settings of a config that a command line names, as `spacy train` reads them.

    Ends the command, with how to use it, for an option that names no setting.
    """
    from spacy.cli._util import parse_config_overrides

    before = ""
    for argument in context.args:
        if argument.startswith("--") and "." in argument:
            before = argument
        elif argument.startswith("--") or (
            argument.startswith("-") and (not before or "=" in before)
        ):
            context.fail(f"No such option: {argument.partition('=')[0]}")
        elif not before or "=" in before:
            context.fail(f"Got unexpected extra argument ({argument})")
        else:
            # Its value.
            before = ""
    return parse_config_overrides(list(context.args))


OverridesArgument: TypeAlias = Annotated[dict[str, Any] | None, Depends(parse_overrides)]
"""Settings of a config that a command line names, by their dotted names."""
