"""Options of the commands that read corpora of any format."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.corpora.any_format import all_formats
from spacy_structreg.corpora.corpus_options import (
    AUTO,
    Compounds,
    CorpusOptions,
    HeadRuleSet,
    SchemeName,
    parse_columns,
    parse_days,
)

__all__ = [
    "FORMAT_METAVAR",
    "ColumnsOption",
    "CommentsOption",
    "CompoundsOption",
    "DaysOption",
    "EncodingOption",
    "FormatOption",
    "HeadRulesOption",
    "PartOption",
    "PipelineArgument",
    "SchemeOption",
    "corpus_options",
    "format_name",
]

PipelineArgument: TypeAlias = Annotated[
    str, Arg(metavar="PIPELINE", help="Folder or package of a trained pipeline")
]
"""The argument ``PIPELINE``."""


def format_name(text: str) -> str:
    """A name that `--format` takes. Raises typer.BadParameter for others."""
    if text not in FORMAT_NAMES:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, FORMAT_NAMES))}")
    return text


# The usual ones first.
FORMATS: Final = [*all_formats().values()][::-1]
FORMAT_NAMES: Final = (AUTO, *(each.name for each in FORMATS))
FORMAT_METAVAR: Final = f"<{'|'.join(FORMAT_NAMES)}>"
FormatOption: TypeAlias = Annotated[
    str,
    Opt(
        "--format",
        "-f",
        parser=format_name,
        metavar=FORMAT_METAVAR,
        help="; ".join(f"{each.name}: {each.summary}" for each in FORMATS)
        + f"; {AUTO}: by the extension (.spacy, .conllu, .mrg, .jsonl), else by --columns or the "
        "content",
    ),
]
"""The option ``--format``."""
EncodingOption: TypeAlias = Annotated[
    str, Opt("--encoding", "-e", help="Encoding of the corpora (gb18030, cp950, big5hkscs, ...)")
]
"""The option ``--encoding``."""
CompoundsOption: TypeAlias = Annotated[
    Compounds,
    Opt("--compounds", help="PFR: take bracketed compounds as parts, or merged into a word"),
]
"""The option ``--compounds``."""
DaysOption: TypeAlias = Annotated[
    str | None,
    Opt("--days", help="PFR: only paragraphs of these days of the month, such as 1-24 or 1-7,15"),
]
"""The option ``--days``."""
PartOption: TypeAlias = Annotated[
    str | None,
    Opt("--part", help="Corpus and part of a SIGHAN 2005 release: pku/training, msr/test, ..."),
]
"""The option ``--part``."""
HeadRulesOption: TypeAlias = Annotated[
    HeadRuleSet | None,
    Opt(
        "--head-rules",
        help="Brackets: take the trees too, with heads by these rules, and the trees of words that "
        "the heads make: ctb (Chinese Treebank) or ptb (Penn Treebank)",
    ),
]
"""The option ``--head-rules``."""
ColumnsOption: TypeAlias = Annotated[
    str | None,
    Opt(
        "--columns",
        help="What stands in the columns of a file, such as word,tag,label: word; tag and pos, the "
        "tags of the corpus and universal ones; label, of entities or chunks; _, which is skipped. "
        "Of classified texts: text,category",
    ),
]
"""The option ``--columns``."""
SchemeOption: TypeAlias = Annotated[
    SchemeName,
    Opt(
        "--scheme",
        help="Columns: how labels stand for spans: bio, iob1, bioes (also BMES and BILOU) or io; "
        "auto: look at all of them",
    ),
]
"""The option ``--scheme``."""
CommentsOption: TypeAlias = Annotated[
    str | None,
    Opt(
        "--comments",
        help="Columns: how lines begin that are skipped between sentences, such as ###MEDLINE:",
    ),
]
"""The option ``--comments``."""


def corpus_options(
    *, days: str | None = None, columns: str | None = None, **others: Any
) -> CorpusOptions:
    """The options of a corpus that a command line names.

    others: as of `CorpusOptions`. Raises ValueError for faulty days or columns.
    """
    from spacy_structreg.pipeline.task import all_tasks

    further = [name for task in all_tasks() for name in task.columns]
    return CorpusOptions(days=parse_days(days), columns=parse_columns(columns, further), **others)
