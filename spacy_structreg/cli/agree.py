"""`structreg agree`: the sentences that pipelines annotate alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from spacy.cli._util import Arg

from spacy_structreg.cli.outputs import check_file
from spacy_structreg.cli.user_errors import user_errors

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

__all__ = ["agree", "agree_command"]


def agree_command(
    inputs: Annotated[
        list[Path],
        Arg(
            metavar="INPUT",
            help="The same texts as two or more pipelines annotate them: files of Docs (.spacy), "
            "or folders that 'annotate --format spacy' wrote",
        ),
    ],
    output: Annotated[Path, Arg(metavar="OUTPUT", help="File to write, .spacy")],
) -> None:
    """Keep the sentences that all pipelines annotate alike.

    Words, tags, heads and labels, and entities must be the same. Each sentence becomes a Doc. In
    self-training and tri-training, pipelines learn from such sentences besides the gold ones.
    """
    with user_errors():
        n_kept, n_all = agree(inputs, output)
        typer.echo(f"{output}: {n_kept:,} of {n_all:,} sentences")


def agree(inputs: Sequence[Path], output: Path) -> tuple[int, int]:
    """Write the sentences of the first input that all others have, too.

    Returns how many there are, and how many sentences the first input has. The output is written in
    one step. Raises ValueError for fewer than two inputs, for inputs of different texts, if no
    sentence is left, and as `read_docbin`; OSError for files that cannot be read or written.
    """
    from spacy.vocab import Vocab

    from spacy_structreg.pipeline.agreement import agreed_sentences, sentences_of
    from spacy_structreg.pipeline.gold_docs import save_docs

    if len(inputs) < 2:
        raise ValueError("one input agrees with itself; name those of two pipelines or more")
    check_file(output, *inputs)
    vocab = Vocab()
    versions = [_docs_of(path, vocab) for path in inputs]
    numbers = {str(path): len(docs) for path, docs in zip(inputs, versions, strict=True)}
    if len({*numbers.values()}) > 1:
        listed = ", ".join(f"{name}: {n:,}" for name, n in numbers.items())
        raise ValueError(f"the inputs have different numbers of texts ({listed})")
    n_kept = 0

    def counted() -> Iterator[Doc]:
        nonlocal n_kept
        for doc in agreed_sentences(zip(*versions, strict=True)):
            n_kept += 1
            yield doc
        if not n_kept:
            raise ValueError("there is no sentence that all inputs annotate alike")

    save_docs(output, counted())
    return n_kept, sum(len(list(sentences_of(doc))) for doc in versions[0])


def _docs_of(path: Path, vocab: Vocab) -> list[Doc]:
    """The Docs of a file, or of the files of a folder in the order of their names."""
    from spacy_structreg.pipeline.gold_docs import read_docbin

    files = sorted(path.glob("[!.]*.spacy")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"{path}: no .spacy file is in this folder")
    return [doc for file in files for doc in read_docbin(file, vocab)]
