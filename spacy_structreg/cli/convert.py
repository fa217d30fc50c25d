"""`structreg convert`: corpora to spaCy's binary format, or to segmented text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from spacy_structreg.cli.corpus_files import CorpusFormat, Sentence, read_sentences
from spacy_structreg.cli.errors import user_errors

__all__ = ["Counts", "InputFormat", "convert", "convert_command"]

TEXT_SUFFIXES = (".txt", ".txt.gz", ".txt.xz")


class InputFormat(str, Enum):
    """The formats that are converted from."""

    auto = "auto"
    segmented = "segmented"
    brackets = "brackets"


class Counts(NamedTuple):
    """What a corpus holds."""

    sentences: int
    words: int


def convert_command(
    inputs: Annotated[list[Path], typer.Argument(metavar="INPUT", help="Corpus files")],
    output: Annotated[
        Path,
        typer.Argument(metavar="OUTPUT", help="File to write: .spacy, or .txt for segmented text"),
    ],
    *,
    format: Annotated[
        InputFormat,
        typer.Option(
            "--format",
            "-f",
            help="segmented: one sentence a line, words separated by white space; "
            "brackets: trees of the Chinese Treebank; auto: look at each file",
        ),
    ] = InputFormat.auto,
    encoding: Annotated[
        str, typer.Option("--encoding", "-e", help="Encoding of the input (gb18030, ...)")
    ] = "utf-8",
) -> None:
    """Convert corpora to a .spacy file for training.

    Each sentence becomes one Doc, its words with no spaces between them, its tags too where the
    corpus has them. Several input files become one output file, in their order.
    """
    with user_errors():
        counts = convert(inputs, output, CorpusFormat(format.value), encoding=encoding)
        typer.echo(f"{output}: {counts.sentences:,} sentences, {counts.words:,} words")


def convert(
    inputs: Iterable[Path],
    output: Path,
    format: CorpusFormat = CorpusFormat.auto,
    *,
    encoding: str = "utf-8",
) -> Counts:
    """Write the sentences of corpora to a `.spacy` file of Docs, or to segmented text (`.txt`).

    The output is written in one step, and not at all if anything fails; its folder is made if
    need be. Shows a progress bar on standard error, if that is a terminal. Raises ValueError for
    another kind of output and as `read_sentences`, OSError for files that cannot be read or
    written.
    """
    from tqdm import tqdm

    from spacy_structreg.corpora.segmented import write_segmented

    as_text = output.name.lower().endswith(TEXT_SUFFIXES)
    if not as_text and output.suffix != ".spacy":
        raise ValueError(f"{output}: name an output that ends in .spacy, or in .txt for text")
    output.parent.mkdir(parents=True, exist_ok=True)
    sentences = words = 0

    def counted() -> Iterator[Sentence]:
        nonlocal sentences, words
        for path in inputs:
            for sentence in read_sentences(path, format, encoding=encoding):
                sentences += 1
                words += len(sentence.words)
                yield sentence

    with tqdm(counted(), desc="convert", unit=" sentences", disable=None) as bar:
        if as_text:
            write_segmented(output, (sentence.words for sentence in bar))
        else:
            write_docs(output, bar)
    return Counts(sentences, words)


def write_docs(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write sentences as Docs, in one step: no spaces between words, each Doc one sentence."""
    from spacy.tokens import Doc, DocBin
    from spacy.vocab import Vocab

    from spacy_structreg.corpora.files import replace_bytes

    vocab = Vocab()
    docs = DocBin(attrs=["ORTH", "TAG", "SENT_START"])
    for words, tags in sentences:
        n = len(words)
        docs.add(
            Doc(
                vocab,
                words=words,
                spaces=[False] * n,
                tags=tags,
                sent_starts=[index == 0 for index in range(n)],
            )
        )
    with replace_bytes(path) as stream:
        stream.write(docs.to_bytes())
