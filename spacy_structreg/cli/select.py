"""`structreg select`: some of the sentences of treebanks, by their `sent_id`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.counts import number_of
from spacy_structreg.cli.outputs import ForceOption, check_file
from spacy_structreg.cli.user_errors import user_errors

if TYPE_CHECKING:
    from spacy_structreg.corpora.formats.conllu import TreebankSentence

__all__ = ["select", "select_command"]


def select_command(
    inputs: Annotated[list[Path], Arg(metavar="INPUT", help="Treebanks, CoNLL-U")],
    output: Annotated[Path, Arg(metavar="OUTPUT", help="File to write, CoNLL-U")],
    *,
    sent_id: Annotated[
        str | None,
        Opt(
            "--sent-id",
            help="Only sentences whose sent_id begins like this, such as weblog-; several are "
            "parted by commas",
        ),
    ] = None,
    exclude: Annotated[
        list[Path] | None,
        Opt(
            "--exclude",
            "-x",
            help="Treebank whose sentences are left out, by their sent_id; may be repeated",
        ),
    ] = None,
    missing_ok: Annotated[
        bool, Opt("--missing-ok", help="Do nothing if an input is not there")
    ] = False,
    force: ForceOption = False,
) -> None:
    """Select sentences of treebanks by their sent_id.

    Universal Dependencies names texts and often genres there. Sentences keep their order and all
    that is annotated. That a beginning fits no sentence is an error, as is a sentence to leave out
    that the inputs do not have.
    """
    with user_errors():
        if missing_ok and not all(path.exists() for path in inputs):
            return
        beginnings = None if sent_id is None else sent_id.split(",")
        count = select(inputs, output, beginnings=beginnings, exclude=exclude or (), force=force)
        typer.echo(f"{output}: {number_of(count, 'sentence')}")


def select(
    inputs: Sequence[Path],
    output: Path,
    *,
    beginnings: Sequence[str] | None = None,
    exclude: Sequence[Path] = (),
    force: bool = False,
) -> int:
    """Write some of the sentences of CoNLL-U files to another one; returns how many.

    beginnings: of the `sent_id` of those that are kept; None for all. exclude: files of sentences
    that are not.

    The output is written in one step. Raises ValueError if the output exists (unless `force`), a
    beginning fits no sentence, if no sentence is left, and as `rest_of_treebank` and `read_conllu`;
    OSError for files that cannot be read or written.
    """
    from spacy_structreg.corpora.formats.conllu import read_conllu, write_conllu
    from spacy_structreg.corpora.splits import rest_of_treebank

    if beginnings is not None and not all(beginnings):
        raise ValueError("--sent-id is empty, or has an empty part; leave out spare commas")
    check_file(output, *inputs, *exclude, force=force)
    sentences: Iterator[TreebankSentence] = chain.from_iterable(map(read_conllu, inputs))
    if exclude:
        sentences = rest_of_treebank(sentences, chain.from_iterable(map(read_conllu, exclude)))
    missing = set(beginnings or ())

    def kept() -> Iterator[TreebankSentence]:
        n_kept = 0
        for sentence in sentences:
            identity = sentence.sent_id or ""
            fitting = [each for each in beginnings or ("",) if identity.startswith(each)]
            missing.difference_update(fitting)
            if fitting:
                n_kept += 1
                yield sentence
        if missing:
            raise ValueError(
                f"no sentence of {', '.join(map(str, inputs))} has a sent_id that begins with "
                f"{min(missing)!r}"
            )
        if not n_kept:
            raise ValueError(f"{', '.join(map(str, inputs))}: no sentence is left")

    return write_conllu(output, kept())
