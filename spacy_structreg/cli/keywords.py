"""`structreg keywords`: keywords of texts, or words that texts have more of than others."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from spacy.cli._util import Arg, Opt

from spacy_structreg.cli.options import PipelineArgument, load_pipeline
from spacy_structreg.cli.outputs import check_file

if TYPE_CHECKING:
    from spacy.language import Language

    from spacy_structreg.models.keywords import KeywordCounts
    from spacy_structreg.pipeline.keywords import KeywordSettings

Record: TypeAlias = dict[str, Any]
Numbered: TypeAlias = Iterable[tuple[int, str]]


class TableFormat(str, Enum):
    """Formats of the output."""

    jsonl = "jsonl"
    csv = "csv"


class KeywordMethod(str, Enum):
    """Methods to score keywords."""

    tfidf = "tfidf"
    textrank = "textrank"


def keywords(
    pipeline: PipelineArgument,
    files: Annotated[
        list[Path],
        Arg(
            metavar="FILE",
            help="Texts, a paragraph a line; or JSON lines (.jsonl, .ndjson, .json), CSV, Parquet; "
            "all but that may end in .gz or .xz",
        ),
    ],
    *,
    output: Annotated[
        Path | None, Opt("--output", "-o", help="File to write instead of standard output")
    ] = None,
    format: Annotated[
        TableFormat, Opt("--format", "-f", help="jsonl: an object a text; csv: a row a keyword")
    ] = TableFormat.jsonl,
    lines: Annotated[
        bool, Opt("--lines", help="Each line, or record, is a text, in place of each file")
    ] = False,
    method: Annotated[
        KeywordMethod | None,
        Opt(
            "--method",
            "-m",
            help="tfidf: frequent here and rare elsewhere; textrank: well connected with others. "
            "If not said, that of the pipeline's pipe of keywords, or tfidf",
        ),
    ] = None,
    n: Annotated[
        int | None,
        Opt(
            "--n",
            "-n",
            min=1,
            help="How many keywords each text has at most. If not said, as many as the pipeline's "
            "pipe of keywords finds, or 10; with --against, 10",
        ),
    ] = None,
    no_phrases: Annotated[bool, Opt("--no-phrases", help="Single words only")] = False,
    against: Annotated[
        list[Path] | None,
        Opt(
            "--against",
            metavar="FILE",
            help="Write words that the texts, all together, have more of than those given here, "
            "by their log-likelihood ratio; may be given several times",
        ),
    ] = None,
    text_column: Annotated[
        str, Opt("--text-column", help="Column or field with the text; text files have none")
    ] = "text",
    n_threads: Annotated[
        int, Opt("--threads", "-t", min=1, help="Threads that find words side by side")
    ] = 1,
    encoding: Annotated[
        str, Opt("--encoding", "-e", help="Encoding of text files; all others are in UTF-8")
    ] = "utf-8",
) -> None:
    """Find the keywords of texts, or the words that they have more of than other texts.

    Settings are those of the pipeline's first structreg_keywords, if it has one, but for what
    options say. Phrases are found where the pipeline finds constituents or heads. Files are read
    line by line, or record by record: memory grows with the number of different words. With
    --lines, the number of a record is that among those of its file, from 1.

    Raises ValueError for faulty input, for options that ``--against`` has no use for, and for texts
    to compare without words; OSError for files that cannot be read or written. The output file is
    written in one step. Shows a progress bar on standard error, if that is a terminal and the
    output does not go to one.
    """
    from spacy_structreg.corpora.files import line_encoding, replace_text
    from spacy_structreg.models.progress import progress_bar
    from spacy_structreg.pipeline.keywords import KeywordSettings, StructregKeywords

    if against and (lines or method or no_phrases):
        raise ValueError(
            "--lines, --method and --no-phrases are for keywords, and not for --against, which "
            "compares the words of all texts; leave them out"
        )
    encoding = line_encoding(encoding)
    check_file(output, pipeline, *files, *(against or ()))
    nlp = load_pipeline(pipeline)
    pipes = {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, StructregKeywords)}
    settings = next((pipe.settings for pipe in pipes.values()), KeywordSettings())
    for name in pipes:
        nlp.disable_pipe(name)
    on_terminal = output is None and sys.stdout.isatty()
    with progress_bar(desc="keywords", unit=" texts", disable=on_terminal or None) as bar:

        def read(path: Path) -> Iterator[tuple[int, str]]:
            for number, text in _texts(path, encoding, text_column):
                yield number, text
                bar.update()

        if against:
            header = ["word", "log_likelihood", "n", "n_against"]
            records = _compared(nlp, map(read, files), map(read, against), n or 10, n_threads)
        else:
            header = ["file", *(["line"] if lines else []), "text", "score"]
            typed: dict[str, Any] = {} if method is None else {"method": method.value}
            typed |= {} if n is None else {"n_keywords": n}
            typed |= {"phrases": False} if no_phrases else {}
            settings = replace(settings, **typed)
            records = _found(
                nlp, ((path, read(path)) for path in files), settings, n_threads, lines
            )
        texts = _as_json(records) if format is TableFormat.jsonl else _as_csv(records, header)
        if output is None:
            stdout = sys.stdout.buffer
            for text in texts:
                stdout.write(text.encode())
                stdout.flush()
        else:
            with replace_text(output) as stream:
                stream.writelines(texts)


def _texts(path: Path, encoding: str, text_column: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file, or the texts of its records, and their numbers; not blank ones."""
    from spacy_structreg.cluster.records import Part, Unit, format_of, read_records, refuse
    from spacy_structreg.corpora.files import read_lines

    try:
        format = format_of(str(path))
    except ValueError:
        format = "text"
    if format == "text":
        texts = iter(read_lines(path, encoding=encoding))
    else:
        unit = Unit(0, (Part(str(path), format),))
        records = read_records(unit, text_column=text_column, on_bad=refuse)
        texts = enumerate((each.text for each in records), 1)
    return ((number, text) for number, text in texts if text.strip())


def _found(
    nlp: Language,
    files: Iterable[tuple[Path, Numbered]],
    settings: KeywordSettings,
    n_threads: int,
    by_line: bool,
) -> Iterator[Record]:
    """Yield a record with the keywords of each file, or of each line."""
    from spacy_structreg.models.keywords import KeywordCounts
    from spacy_structreg.pipeline.evaluation import texts_annotated
    from spacy_structreg.pipeline.keywords import count_doc

    for path, numbered in files:
        waiting: deque[int] = deque()

        def texts(numbered: Numbered = numbered, waiting: deque[int] = waiting) -> Iterator[str]:
            for number, line in numbered:
                waiting.append(number)
                yield line

        counts = KeywordCounts(settings.method)
        for doc in texts_annotated(nlp, texts(), n_threads, alone=False):
            count_doc(doc, counts, settings)
            number = waiting.popleft()
            if by_line:
                yield {"file": str(path), "line": number, **_record(counts, settings)}
                counts = KeywordCounts(settings.method)
        if not by_line:
            yield {"file": str(path), **_record(counts, settings)}


def _record(counts: KeywordCounts, settings: KeywordSettings) -> Record:
    best = counts.best(settings.n_keywords)
    return {"keywords": [{"text": text, "score": round(score, 6)} for text, score in best]}


def _compared(
    nlp: Language,
    files: Iterable[Numbered],
    others: Iterable[Numbered],
    n: int,
    n_threads: int,
) -> Iterator[Record]:
    """Yield the n words that files have more of than others, surest first."""
    from spacy_structreg.models.keywords import compare_counts
    from spacy_structreg.pipeline.evaluation import found_words

    def count(files: Iterable[Numbered]) -> Counter[str]:
        lines = (line for numbered in files for _, line in numbered)
        found = found_words(nlp, lines, n_threads=n_threads)
        return Counter(word for words in found for word in words)

    compared = compare_counts(count(files), count(others))
    words = (each for each in compared if any(map(str.isalpha, each.word)))
    for word, ratio, n_here, n_other in islice(words, n):
        yield {"word": word, "log_likelihood": round(ratio, 2), "n": n_here, "n_against": n_other}


def _as_json(records: Iterable[Record]) -> Iterator[str]:
    for record in records:
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _as_csv(records: Iterable[Record], header: list[str]) -> Iterator[str]:
    """Yield the header, and a row for each keyword of a record, or for the record."""
    yield _row(header)
    for record in records:
        for each in record.pop("keywords", [{}]):
            yield _row({**record, **each}.values())


def _row(cells: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
