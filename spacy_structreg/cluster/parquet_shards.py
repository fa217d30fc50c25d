"""Shards of Parquet: a unit of records as tables of Arrow, annotated and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from spacy_structreg.cluster.annotated_tables import Annotator
from spacy_structreg.cluster.pipeline_copies import find_copy
from spacy_structreg.cluster.records import BadRecord, Unit, kept_column, read_records

if TYPE_CHECKING:
    from spacy_structreg.cluster.annotated_units import Counted, Job, Quarantine
    from spacy_structreg.cluster.output_folder import HashedStream

# A row group has about so many bytes before it is compressed: that bounds the memory.
ROW_GROUP_BYTES = 32 << 20


def write_parquet(
    stream: HashedStream, job: Job, unit: Unit, bad: Quarantine, counted: Counted
) -> None:
    """Annotate a unit, and write it as Parquet. Raises ValueError if kept columns change types."""
    annotator = Annotator(find_copy(job.pipeline), n_threads=job.n_threads)
    tables = annotated_tables(job, unit, annotator, bad, counted)
    writer = None
    try:
        for group in row_groups(tables, empty_table(job, annotator)):
            if writer is None:
                writer = pq.ParquetWriter(stream, group.schema, compression="zstd")
            writer.write_table(group, row_group_size=len(group) or None)
    finally:
        if writer is not None:
            writer.close()


def annotated_tables(
    job: Job, unit: Unit, annotator: Annotator, bad: Quarantine, counted: Counted
) -> Iterator[pa.Table]:
    """Yield the annotated records of a unit; bad ones go to the quarantine."""
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
        counted.add(len(table), pc.sum(pc.utf8_length(table["text"])).as_py() or 0)
        yield table


def changed_types(first: pa.Schema, second: pa.Schema) -> str:
    """An error for batches whose columns differ."""
    before, now = next((a, b) for a, b in zip(first, second, strict=True) if a != b)
    return (
        f"the kept column {before.name!r} is {before.type} in one file and {now.type} in another; "
        f"say which it is to be, as in {before.name}:{before.type}"
    )


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
