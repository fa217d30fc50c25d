"""`structreg agree`: the sentences that pipelines annotate alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from spacy.cli._util import Arg

from spacy_structreg.cli.outputs import ForceOption, check_file, number_of

if TYPE_CHECKING:
    from spacy.tokens import Doc


class Counts(NamedTuple):
    """Sentences that were kept, all of the first input, and its texts that others do not have."""

    kept: int
    sentences: int
    missing: int


def agree(
    inputs: Annotated[
        list[Path],
        Arg(
            metavar="INPUT",
            help="The same texts as two or more pipelines annotate them: files of Docs (.spacy), "
            "or folders that 'annotate --format spacy' wrote",
        ),
    ],
    output: Annotated[Path, Arg(metavar="OUTPUT", help="File to write, .spacy")],
    *,
    force: ForceOption = False,
) -> Counts:
    """Keep the sentences that all pipelines annotate alike.

    Words, tags, heads and labels, entities and spans must be the same. Each sentence becomes a Doc,
    without the categories of its text. In self-training and tri-training, pipelines learn from such
    sentences besides the gold ones.

    Returns the numbers of sentences and texts. Files are read one by one, and the output is written
    in one step. Shows a progress bar on standard error, if that is a terminal. Raises ValueError
    for fewer than two inputs, for inputs of different texts, if the output exists (unless `force`),
    if no sentence is left, and as `read_docbin`; OSError for files that cannot be read or written.
    """
    from spacy.vocab import Vocab

    from spacy_structreg.models.progress import progress_bar
    from spacy_structreg.pipeline.agreement import agreed_sentences, texts_of_all
    from spacy_structreg.pipeline.gold_docs import read_docbin, save_docs

    files = [_files_of(path) for path in inputs]
    if len({*map(tuple, files)}) < max(2, len(files)):
        raise ValueError("an input agrees with itself; name those of two pipelines or more")
    if output.parent.resolve() in {path.resolve() for path in inputs}:
        raise ValueError(f"{output} would be a file of an input; name another folder")
    check_file(output, *chain.from_iterable(files), force=force)
    vocab = Vocab()
    counts: Counter[str] = Counter()

    def docs_of(files: Iterable[Path]) -> Iterator[Doc]:
        return chain.from_iterable(read_docbin(file, vocab) for file in files)

    def kept() -> Iterator[Doc]:
        with progress_bar(docs_of(files[0]), desc="agree", unit=" texts") as bar:
            first = counted(bar, counts)
            for docs in texts_of_all([first, *map(docs_of, files[1:])]):
                found, n_all = agreed_sentences(docs)
                counts.update(common=1, sentences=n_all, kept=len(found))
                yield from found
        if not counts["kept"]:
            raise ValueError("there is no sentence that all inputs annotate alike")

    save_docs(output, kept())
    missing = counts["texts"] - counts["common"]
    typer.echo(f"{output}: {counts['kept']:,} of {number_of(counts['sentences'], 'sentence')}")
    if missing:
        typer.echo(f"left out, as not in all inputs: {number_of(missing, 'text')}", err=True)
    return Counts(counts["kept"], counts["sentences"], missing)


def counted(docs: Iterable[Doc], counts: Counter[str]) -> Iterator[Doc]:
    """Yield Docs, and count them as "texts"."""
    for doc in docs:
        counts["texts"] += 1
        yield doc


def _files_of(path: Path) -> list[Path]:
    """A file, or the files of a folder in the order of their names."""
    files = sorted(path.glob("[!.]*.spacy")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"{path}: no .spacy file is in this folder")
    return files
