"""Take some of the sentences of treebanks, by their `sent_id`.

`python ../scripts/select_sentences.py INPUT ... OUTPUT` in the folder of a project.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from spacy_structreg.cli.commands import run
from spacy_structreg.cli.outputs import ForceOption, check_file, number_of
from spacy_structreg.corpora.formats.conllu import TreebankSentence, read_conllu, write_conllu


def select(
    inputs: Annotated[list[Path], typer.Argument(metavar="INPUT", help="Treebanks, CoNLL-U")],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="File to write, CoNLL-U")],
    *,
    sent_id: Annotated[
        str | None,
        typer.Option(
            "--sent-id",
            help="Only sentences whose sent_id begins like this, such as weblog-; several are "
            "parted by commas",
        ),
    ] = None,
    exclude: Annotated[
        list[Path] | None,
        typer.Option(
            "--exclude",
            "-x",
            help="Treebank whose sentences are left out, by their sent_id; may be repeated",
        ),
    ] = None,
    missing_ok: Annotated[
        bool, typer.Option("--missing-ok", help="Do nothing if an input is not there")
    ] = False,
    force: ForceOption = False,
) -> int:
    """Select sentences of treebanks by their sent_id.

    Universal Dependencies names texts and often genres there. Sentences keep their order and all
    that is annotated. That a beginning fits no sentence is an error, as is a sentence to leave out
    that the inputs do not have.

    Returns how many. The output is written in one step. Raises ValueError if the output exists
    (unless `force`), a beginning fits no sentence, if no sentence is left, and as
    `rest_of_treebank` and `read_conllu`; OSError for files that cannot be read or written.
    """
    if missing_ok and not all(path.exists() for path in inputs):
        return 0
    beginnings = None if sent_id is None else sent_id.split(",")
    excluded = exclude or []
    if beginnings is not None and not all(beginnings):
        raise ValueError("--sent-id is empty, or has an empty part; leave out spare commas")
    check_file(output, *inputs, *excluded, force=force)
    sentences: Iterator[TreebankSentence] = chain.from_iterable(map(read_conllu, inputs))
    if excluded:
        sentences = rest_of_treebank(sentences, chain.from_iterable(map(read_conllu, excluded)))
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

    count = write_conllu(output, kept())
    typer.echo(f"{output}: {number_of(count, 'sentence')}")
    return count


def rest_of_treebank(
    treebank: Iterable[TreebankSentence], held_out: Iterable[TreebankSentence]
) -> Iterator[TreebankSentence]:
    """The sentences of a whole treebank that are not held out, by their `sent_id`.

    The official training set of UD English EWT is the rest of its genre files beside the
    development and the test set. Raises ValueError for sentences without `sent_id` or with one that
    occurs twice, and, at the end, if a sentence that is held out is not in the treebank.
    """
    left: set[str] = set()
    for sentence in held_out:
        _add_id(sentence, left)
    seen: set[str] = set()
    for sentence in treebank:
        identity = _add_id(sentence, seen)
        if identity in left:
            left.remove(identity)
        else:
            yield sentence
    if left:
        raise ValueError(
            f"{len(left)} sentences that are held out are not in the treebank, such as "
            f"{min(left)!r}; take files of the same release"
        )


def _add_id(sentence: TreebankSentence, known: set[str]) -> str:
    identity = sentence.sent_id
    if identity is None:
        raise ValueError(f"a sentence has no sent_id: {sentence.raw_text()[:40]!r}")
    if identity in known:
        raise ValueError(f"the sent_id {identity!r} occurs twice")
    known.add(identity)
    return identity


if __name__ == "__main__":
    run(select)
