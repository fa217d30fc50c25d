"""A unit of work on a worker: records in, a shard of annotated records out, whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Any, Literal, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_structreg.about import __version__
from spacy_structreg.cluster.annotated_tables import Annotator, docs_of
from spacy_structreg.cluster.output_folder import HashedStream, OutputFolder
from spacy_structreg.cluster.pipeline_copies import PipelineCopy, find_copy
from spacy_structreg.cluster.records import BadRecord, Unit, kept_column, read_records
from spacy_structreg.corpora.files import NO_ROOM
from spacy_structreg.pipeline.doc_lines import DocLines, TextFormat

__all__ = [
    "MANIFEST",
    "MARKS",
    "QUARANTINES",
    "Job",
    "ShardFormat",
    "UnitReport",
    "annotate_unit",
    "check_run",
    "checksum_of",
    "try_unit",
]

ShardFormat = Literal["parquet", "spacy", TextFormat]
"""Formats of the files that are written."""

MANIFEST = "_manifest.json"
"""The file that says what is annotated, and by which pipeline."""

MARKS = "_units"
"""The folder of the files that say which units are done."""

QUARANTINES = "_bad"
"""The folder of the files with bad records. Readers of Parquet pass over such names."""

# A row group of Parquet has about so many bytes before it is compressed: that bounds the memory.
ROW_GROUP_BYTES = 32 << 20
# What a quarantine keeps in memory.
IN_MEMORY = 1 << 20


@dataclass(frozen=True)
class Job:
    """The settings of the work on every unit.

    output: path or URL of a folder. most_bad: a unit with more bad records than this is given up;
    None for any number. n_digits: of the numbers of units in the names of files. version: of this
    package. run: the checksum of the manifest. The others are those of `annotate_run.annotate`.
    """

    pipeline: PipelineCopy
    version: str
    run: str
    output: str
    format: ShardFormat
    text_column: str
    keep: tuple[str, ...]
    keep_text: bool
    n_threads: int
    most_bad: int | None
    n_digits: int

    def mark(self, number: int) -> str:
        """The name of the file that says that a unit is done."""
        return f"{MARKS}/{number:0{self.n_digits}}.json"

    def shard(self, number: int) -> str:
        """The name of the file with what a unit gives."""
        return f"part-{number:0{self.n_digits}}.{self.format}"

    def quarantine(self, number: int) -> str:
        """The name of the file with the bad records of a unit."""
        return f"{QUARANTINES}/{number:0{self.n_digits}}.jsonl"


@dataclass(frozen=True)
class UnitReport:
    """The counts of a unit that is done.

    records, characters: that were annotated. shard_bytes, sha256: of the shard; no checksum if the
    unit was given up, and has no shard. bad_records: in its quarantine file. run: as of `Job`.
    """

    run: str
    unit: int
    records: int
    characters: int
    shard_bytes: int
    bad_records: int
    sha256: str | None

    def to_json(self) -> bytes:
        """The content of the file that says that the unit is done."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes) -> UnitReport:
        """That of a file. Raises ValueError if it is damaged."""
        try:
            return cls(**json.loads(data))
        except TypeError as error:
            raise ValueError(f"not the report of a unit: {error}") from error


def checksum_of(manifest: dict[str, Any]) -> str:
    """A checksum of a manifest, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()[:32]


def check_run(output: OutputFolder, run: str) -> None:
    """Raise ValueError if the output folder is not that of a run any more. run: as of `Job`."""
    try:
        there = checksum_of(json.loads(output.read(MANIFEST)))
    except (FileNotFoundError, ValueError):
        there = ""
    if there != run:
        raise ValueError(
            f"{output.address} was taken by another run meanwhile; choose another output folder"
        )


def try_unit(job: Job, unit: Unit) -> UnitReport | Exception:
    """As `annotate_unit`; returns errors that another try would not mend, and raises others.

    What tasks raise is logged by workers at length, and they are tried again.
    """
    try:
        return annotate_unit(job, unit)
    except (ValueError, PermissionError) as error:
        return error
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        return error


def annotate_unit(job: Job, unit: Unit) -> UnitReport:
    """Annotate a unit, and write its quarantine, then its shard, then the mark that it is done.

    Each appears whole, and has the same content whoever writes it. Raises OSError if files cannot
    be read or written, ValueError as `check_run`, `read_records` and `Annotator.annotate_batch`.
    """
    if job.version != __version__:
        raise ValueError(
            f"spacy_structreg {job.version} has sent what a worker with {__version__} is to do; "
            "install the same version everywhere"
        )
    output = OutputFolder(job.output)
    annotator = Annotator(find_copy(job.pipeline), n_threads=job.n_threads)
    with Quarantine(job.most_bad) as bad:
        try:
            with output.replaced(job.shard(unit.number)) as stream:
                shard = HashedStream(stream)
                counted = Counted(annotated(job, unit, annotator, bad))
                empty = empty_table(job, annotator)
                if job.format == "parquet":
                    write_parquet(shard, counted, empty)
                elif job.format == "spacy":
                    write_docs(shard, counted)
                else:
                    write_lines(shard, counted, empty.schema, job.format, bad)
                check_run(output, job.run)
                # Before the shard: what is counted as done has lost no record.
                bad.save(output, job.quarantine(unit.number))
        except TooManyBadError:
            bad.save(output, job.quarantine(unit.number))
            return UnitReport(job.run, unit.number, 0, 0, 0, bad.count, None)
        report = UnitReport(
            job.run,
            unit.number,
            counted.records,
            counted.characters,
            shard.size,
            bad.count,
            shard.checksum,
        )
    check_run(output, job.run)
    output.write(job.mark(unit.number), report.to_json())
    return report


def annotated(job: Job, unit: Unit, annotator: Annotator, bad: Quarantine) -> Iterator[pa.Table]:
    """Yield the annotated records of a unit; bad ones go to the quarantine.

    Raises ValueError if kept columns change their types.
    """
    schema: pa.Schema | None = None
    records = read_records(unit, text_column=job.text_column, keep=job.keep, on_bad=bad.add)
    for given in records:
        if schema is None:
            schema = given.schema
        elif schema != given.schema:
            raise ValueError(changed_types(schema, given.schema))
        faults: dict[int, str] = {}
        table = annotator.annotate_batch(given, faults.__setitem__)
        for row, reason in faults.items():
            values = {name: given.column(name)[row].as_py() for name in ("file", "record", "text")}
            bad.add(BadRecord(values["file"], values["record"], reason, values["text"][:1000]))
        if faults:
            table = table.filter(pa.array([row not in faults for row in range(len(given))]))
        yield table


def changed_types(first: pa.Schema, second: pa.Schema) -> str:
    """An error for batches whose columns differ."""
    before, now = next((a, b) for a, b in zip(first, second, strict=True) if a != b)
    return (
        f"the kept column {before.name!r} is {before.type} in one file and {now.type} in another; "
        f"say which it is to be, as in {before.name}:{before.type}"
    )


class Counted:
    """Tables of a stream, with the number of records and characters that have gone by."""

    def __init__(self, tables: Iterator[pa.Table]) -> None:
        self._tables = tables
        self.records = 0
        self.characters = 0

    def __iter__(self) -> Iterator[pa.Table]:
        for table in self._tables:
            self.records += len(table)
            self.characters += pc.sum(pc.utf8_length(table["text"])).as_py() or 0
            yield table

    def leave_out(self, text: str) -> None:
        """Count a record no more."""
        self.records -= 1
        self.characters -= len(text)


# Shards ------------------------------------------------------------------------------------------


def write_parquet(stream: HashedStream, tables: Iterable[pa.Table], empty: pa.Table) -> None:
    """Write tables as Parquet. empty: has the columns, and no rows, where there is no table."""
    writer = None
    try:
        for group in row_groups(tables, empty):
            if writer is None:
                writer = pq.ParquetWriter(stream, group.schema, compression="zstd")
            writer.write_table(group, row_group_size=len(group) or None)
    finally:
        if writer is not None:
            writer.close()


def row_groups(tables: Iterable[pa.Table], empty: pa.Table) -> Iterator[pa.Table]:
    """Yield tables put together to row groups, one at least, of the columns that are written."""
    waiting: list[pa.Table] = []
    size = 0
    is_empty = True
    for table in tables:
        is_empty = False
        waiting.append(table.select(empty.schema.names))
        size += waiting[-1].nbytes
        if size >= ROW_GROUP_BYTES:
            yield pa.concat_tables(waiting)
            waiting, size = [], 0
    if waiting or is_empty:
        yield pa.concat_tables(waiting or [empty])


def empty_table(job: Job, annotator: Annotator) -> pa.Table:
    """A table without rows of the columns that are written."""
    kept = [(name, kind or pa.string()) for name, kind in map(kept_column, job.keep)]
    records = [("file", pa.string()), ("record", pa.int64()), ("text", pa.large_string()), *kept]
    table = annotator.schema_of(pa.schema(records)).empty_table()
    return table if job.keep_text else table.drop_columns(["text"])


def write_docs(stream: HashedStream, tables: Iterable[pa.Table]) -> None:
    """Write tables as Docs; where they come from, and kept columns, are in their `user_data`."""
    docs = DocBin(store_user_data=True)
    for table in tables:
        for doc, record in docs_with_records(table):
            doc.user_data.update(record)
            docs.add(doc)
    stream.write(docs.to_bytes())


def write_lines(
    stream: HashedStream, tables: Counted, schema: pa.Schema, format: TextFormat, bad: Quarantine
) -> None:
    """Write tables as lines, with where records come from, and kept columns.

    schema: of the tables. What the format cannot hold goes to the quarantine.
    """
    written = {name.replace("sentence_starts", "sentences") for name in schema.names}
    lines = DocLines(format, names_of_records(schema), written)
    stream.write(lines.header.encode())
    for table in tables:
        for doc, record in docs_with_records(table):
            try:
                stream.write(lines.of_doc(doc, record).encode())
            except ValueError as error:
                bad.add(BadRecord(record["file"], record["record"], str(error), doc.text[:1000]))
                tables.leave_out(doc.text)


def docs_with_records(table: pa.Table) -> Iterator[tuple[Doc, dict[str, Any]]]:
    """Yield the Docs of a table, each with what it has besides."""
    # Of its own: that of a pipeline would grow with every unit.
    docs = docs_of(table, Vocab())
    return zip(docs, table.select(names_of_records(table.schema)).to_pylist(), strict=True)


def names_of_records(schema: pa.Schema) -> list[str]:
    """The columns that say where records come from, and those that are kept."""
    names = schema.names[: schema.get_field_index("word_starts")]
    return [name for name in names if name != "text"]


# Quarantine --------------------------------------------------------------------------------------


class TooManyBadError(Exception):
    """A unit has more bad records than are allowed."""


class Quarantine:
    """Bad records of a unit, as JSON lines in a temporary file if there are many.

    most: how many may come; None for any number.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        # No `with`: it is left by that of the quarantine.
        self._stream = cast("IO[bytes]", SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115
        self.count = 0

    def __enter__(self) -> Quarantine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stream.close()

    def add(self, record: BadRecord) -> None:
        """Add a record. Raises TooManyBadError if it is one too many."""
        line = json.dumps(asdict(record), ensure_ascii=False)
        self._stream.write(line.encode("utf-8", "replace") + b"\n")
        self.count += 1
        if self._most is not None and self.count > self._most:
            raise TooManyBadError

    def save(self, output: OutputFolder, name: str) -> None:
        """Write the file; none, and none of an earlier try, without bad records."""
        if not self.count:
            output.remove(name)
            return
        self._stream.seek(0)
        with output.replaced(name) as stream:
            while block := self._stream.read(IN_MEMORY):
                stream.write(block)
