"""`structreg segment`: text in, segmented text out."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, cast

from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.corpus_arguments import PipelineArgument
from spacy_structreg.cli.outputs import check_file

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["arriving_lines", "segment"]

STDIN = "-"
LINE_BREAK = re.compile("[\n\r]")

# Bytes that are taken from a file at a time, and lines that are written at a time.
PORTION_BYTES = 1 << 18
PORTION_LINES = 1024


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
    """Segment texts into words.

    One line of output for each line of input, its words separated by spaces; blank lines stay.
    White space of the input is left out. With one thread, lines are answered as they arrive.

    Raises ValueError for faulty input or settings, with file and line, and for a pipeline that does
    not tag; OSError for files that cannot be read or written. Memory is bounded by the longest
    line, which has `corpora.files.LONGEST_LINE` bytes at most. The output file is written in one
    step. Shows a progress bar on standard error, if that is a terminal and the output does not go
    to one.
    """
    from spacy_structreg.cli.pipelines import load_pipeline
    from spacy_structreg.corpora.files import line_encoding, replace_text
    from spacy_structreg.models.progress import progress_bar
    from spacy_structreg.pipeline.task import tags_texts

    if LINE_BREAK.search(separator):
        raise ValueError("the separator has a line break in it; choose one without")
    files = files or [STDIN]
    encoding = line_encoding(encoding)
    check_file(output, pipeline, *files)
    nlp = load_pipeline(pipeline)
    if tags and not tags_texts(nlp):
        raise ValueError(
            f"the pipeline {pipeline} gives no tags; leave --tags out, or train one with a task "
            "that 'init-config --help' says to tag words"
        )
    blocks = segment_blocks(nlp, read_portions(files, encoding), n_threads, tags=tags)
    on_terminal = output is None and sys.stdout.isatty()
    with progress_bar(desc="segment", unit=" lines", disable=on_terminal or None) as bar:

        def write_to(write: Callable[[str], object], flush: Callable[[], object]) -> None:
            for block in blocks:
                write("".join(separator.join(words) + "\n" for words in block))
                flush()
                bar.update(len(block))

        if output is None:
            stdout = sys.stdout.buffer
            write_to(lambda text: stdout.write(text.encode()), stdout.flush)
        else:
            with replace_text(output) as stream:
                write_to(stream.write, lambda: None)


def segment_blocks(
    nlp: Language, portions: Iterator[list[str]], n_threads: int, *, tags: bool = False
) -> Iterator[list[list[str]]]:
    """Yield the words of each line, in blocks of lines that are ready together.

    tags: each with an underscore and its tag.
    """
    if n_threads == 1:
        for portion in portions:
            yield list(found_in(nlp, portion, 1, tags=tags))
        return
    # Threads are worth while for many portions at a time only.
    words = found_in(nlp, chain.from_iterable(portions), n_threads, tags=tags)
    while block := list(islice(words, PORTION_LINES)):
        yield block


def found_in(
    nlp: Language, lines: Iterable[str], n_threads: int, *, tags: bool
) -> Iterator[list[str]]:
    """Yield the words of each line as they are to be written."""
    from spacy_structreg.pipeline.evaluation import found_pairs, found_words

    if not tags:
        yield from found_words(nlp, lines, n_threads=n_threads)
    else:
        for pairs in found_pairs(nlp, lines, n_threads=n_threads):
            yield [f"{word}_{tag}" for word, tag in pairs]


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
    from spacy_structreg.corpora.files import (
        DAMAGED,
        LONGEST_LINE,
        damaged,
        decode_line,
        long_line,
    )

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
