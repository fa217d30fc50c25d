"""Arguments and options of commands that read pipelines and corpora of any format."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

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

PipelineArgument: TypeAlias = Annotated[
    str, Arg(metavar="PIPELINE", help="Folder or package of a trained pipeline")
]
"""The argument ``PIPELINE``."""
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
