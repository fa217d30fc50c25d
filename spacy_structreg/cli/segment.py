"""`structreg segment`: text in, segmented or annotated text out."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar, cast

from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import PipelineArgument, load_pipeline
from spacy_structreg.cli.outputs import check_file

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

T = TypeVar("T")

STDIN = "-"
LINE_BREAK = re.compile("[\n\r]")

# Bytes that are taken from a file at a time, and lines that are written at a time.
PORTION_BYTES = 1 << 18
PORTION_LINES = 1024


# What comes with each Doc: of all inputs together, from 1.
LINE = "line"


class OutputFormat(str, Enum):
    """Formats of what is written."""

    words = "words"
    conllu = "conllu"
    jsonl = "jsonl"
    csv = "csv"
    spacy = "spacy"
    label_studio = "label-studio"
    doccano = "doccano"


def segment(
    pipeline: PipelineArgument,
    files: Annotated[
        list[str] | None,
        Arg(metavar="FILE", help="Texts; none, or -, is standard input"),
    ] = None,
    *,
    output: Annotated[
        Path | None, Opt("--output", "-o", help="File to write instead of standard output")
    ] = None,
    format: Annotated[
        OutputFormat | None,
        Opt(
            "--format",
            "-f",
            help="words: one line of words for each line; with all that the pipeline finds conllu, "
            "jsonl (a line for each line), csv (a row a word) and spacy (Docs); label-studio and "
            "doccano have entities to be corrected there. By the ending of --output (.json is "
            "Label Studio's), if not said; else words",
        ),
    ] = None,
    separator: Annotated[str, Opt("--separator", "-s", help="What stands between two words")] = " ",
    tags: Annotated[bool, Opt("--tags", help="Write each word with its tag, as word_TAG")] = False,
    n_threads: Annotated[
        int, Opt("--threads", "-t", min=1, help="Threads that segment side by side")
    ] = 1,
    encoding: Annotated[
        str,
        Opt("--encoding", "-e", help="Encoding of the input; the output is in UTF-8"),
    ] = "utf-8",
) -> None:
    """Segment texts into words, or annotate them with all that a pipeline finds.

    One line of output for each line of input, its words separated by spaces; blank lines stay.
    White space of the input is left out. With one thread, lines are answered as they arrive.
    In other formats each line of input is a text with its number, and blank ones have no words.

    Raises ValueError for faulty input or settings, with file and line, for a pipeline that does not
    tag, and for what CoNLL-U cannot hold; OSError for files that cannot be read or written. Memory
    is bounded by the longest line, which has `corpora.files.LONGEST_LINE` bytes at most;
    ``--format spacy`` keeps all Docs in memory. The output file is written in one step. Shows a
    progress bar on standard error, if that is a terminal and the output does not go to one.
    """
    from spacy_structreg.corpora.files import line_encoding, replace_text
    from spacy_structreg.models.progress import progress_bar
    from spacy_structreg.pipeline.doc_lines import DocLines
    from spacy_structreg.pipeline.gold_docs import save_docs
    from spacy_structreg.pipeline.task import tags_texts

    if LINE_BREAK.search(separator):
        raise ValueError("the separator has a line break in it; choose one without")
    chosen = format or format_of(output)
    if chosen is not OutputFormat.words and (tags or separator != " "):
        raise ValueError(f"--tags and --separator are for words, and not for {chosen.value}")
    if chosen is OutputFormat.spacy and output is None:
        raise ValueError("Docs are no text; name a file for them with --output")
    files = files or [STDIN]
    encoding = line_encoding(encoding)
    check_file(output, pipeline, *files)
    nlp = load_pipeline(pipeline)
    if tags and not tags_texts(nlp):
        raise ValueError(
            f"the pipeline {pipeline} gives no tags; leave --tags out, or train one with a task "
            "that 'init-config --help' says to tag words"
        )
    portions = read_portions(files, encoding)
    on_terminal = output is None and sys.stdout.isatty()
    with progress_bar(desc="segment", unit=" lines", disable=on_terminal or None) as bar:
        header = footer = ""
        if chosen is OutputFormat.words:
            find = partial(word_lines, separator=separator, tags=tags)
            blocks = in_blocks(find, nlp, portions, n_threads)
        else:
            docs = in_blocks(partial(numbered_docs, numbers=count(1)), nlp, portions, n_threads)
            if chosen is OutputFormat.spacy:
                save_docs(cast("Path", output), shown(docs, bar), ["LEMMA", "MORPH"])
                return
            lines = DocLines.of(nlp, chosen.value, [LINE])
            header, footer = lines.header, lines.footer
            blocks = (
                [lines.of_doc(doc, {LINE: doc.user_data[LINE]}) for doc in block] for block in docs
            )

        def write_to(write: Callable[[str], object], flush: Callable[[], object]) -> None:
            write(header)
            for block in blocks:
                write("".join(block))
                flush()
                bar.update(len(block))
            write(footer)

        if output is None:
            stdout = sys.stdout.buffer
            write_to(lambda text: stdout.write(text.encode()), stdout.flush)
        else:
            with replace_text(output) as stream:
                write_to(stream.write, lambda: None)


ENDINGS = {
    **{each.value: each for each in OutputFormat},
    # A list of JSON is no other format.
    "json": OutputFormat.label_studio,
}


def format_of(output: Path | None) -> OutputFormat:
    """The format that the name of a file says; words if it says none."""
    suffixes = [] if output is None else [each[1:].lower() for each in output.suffixes[-2:]]
    named = [each for each in suffixes if each in ENDINGS]
    return ENDINGS[named[-1]] if named else OutputFormat.words


def in_blocks(
    find: Callable[[Language, Iterable[str], int], Iterator[T]],
    nlp: Language,
    portions: Iterator[list[str]],
    n_threads: int,
) -> Iterator[list[T]]:
    """Yield what a function finds in each line, in blocks of lines that are ready together."""
    if n_threads == 1:
        for portion in portions:
            yield list(find(nlp, portion, 1))
        return
    # Threads are worth while for many portions at a time only.
    found = find(nlp, chain.from_iterable(portions), n_threads)
    while block := list(islice(found, PORTION_LINES)):
        yield block


def word_lines(
    nlp: Language, lines: Iterable[str], n_threads: int, *, separator: str, tags: bool
) -> Iterator[str]:
    """Yield lines of the words of each line."""
    from spacy_structreg.pipeline.evaluation import found_pairs, found_words

    if not tags:
        words: Iterable[list[str]] = found_words(nlp, lines, n_threads=n_threads)
    else:
        pairs = found_pairs(nlp, lines, n_threads=n_threads)
        words = ([f"{word}_{tag}" for word, tag in of_line] for of_line in pairs)
    for each in words:
        yield separator.join(each) + "\n"


def shown(blocks: Iterable[list[Doc]], bar: Any) -> Iterator[Doc]:
    """Yield the Docs of blocks, and move the bar."""
    for block in blocks:
        yield from block
        bar.update(len(block))


def numbered_docs(
    nlp: Language, lines: Iterable[str], n_threads: int, numbers: Iterator[int]
) -> Iterator[Doc]:
    """Yield the Docs of lines, whose `user_data` has their numbers."""
    from spacy_structreg.pipeline.evaluation import texts_annotated

    for doc in texts_annotated(nlp, lines, n_threads, alone=False):
        doc.user_data[LINE] = next(numbers)
        yield doc


def read_portions(files: Iterable[str], encoding: str) -> Iterator[list[str]]:
    """Yield the lines of files, one after the other, in portions."""
    from spacy_structreg.corpora.files import open_bytes

    for file in files:
        if file == STDIN:
            stdin = cast("ByteStream", sys.stdin.buffer)
            yield from arriving_lines(stdin, "<stdin>", encoding)
        else:
            with open_bytes(file) as stream:
                yield from arriving_lines(cast("ByteStream", stream), file, encoding)


class ByteStream(Protocol):
    """A buffered binary stream, decompressing or not."""

    def read1(self, size: int, /) -> bytes:
        """At least one byte, none at the end; no more than one call of the system for it."""
        ...


def arriving_lines(stream: ByteStream, name: str, encoding: str = "utf-8") -> Iterator[list[str]]:
    r"""Yield the lines of a stream in portions: those that are there, without waiting for more.

    Lines end at \n and \r\n. Any character that the encoding knows is text, NUL included; a byte
    order mark at the start is dropped. name: of the stream, for errors. Raises CorpusError for
    lines of more than `corpora.files.LONGEST_LINE` bytes, bytes that are not of the encoding, and
    damaged compressed data.
    """
    from spacy_structreg.corpora.corpus_errors import CorpusError
    from spacy_structreg.corpora.files import DAMAGED, LONGEST_LINE, damaged, decode_line, long_line

    number = 0
    # Parts of a line whose end has not arrived yet, and their bytes.
    begun: list[bytes] = []
    size = 0
    while True:
        try:
            data = stream.read1(PORTION_BYTES)
        except DAMAGED as error:
            raise CorpusError(name, number + 1, damaged(error)) from error
        whole, line_feed, rest = data.rpartition(b"\n")
        if data and not line_feed:
            begun.append(data)
            size += len(data)
            if size > LONGEST_LINE:
                raise long_line(name, number + 1)
            continue
        begun.append(whole if data else b"")
        text = b"".join(begun)
        if data or text:
            lines = []
            for line in text.split(b"\n"):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise long_line(name, number)
                lines.append(decode_line(line, name, number, encoding, nul_is_text=True))
            yield lines
        if not data:
            return
        begun = [rest]
        size = len(rest)
