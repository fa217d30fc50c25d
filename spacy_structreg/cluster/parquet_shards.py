"""Shards of Parquet: annotated records as tables of Arrow, written in row groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.cluster.annotated_tables import DocColumns
from spacy_structreg.cluster.output_folder import HashedStream
from spacy_structreg.cluster.records import Record, kept_column

# A row group has about so many bytes before it is compressed: that bounds the memory.
ROW_GROUP_BYTES = 32 << 20


def write_parquet(
    stream: HashedStream,
    nlp: Language,
    batches: Iterable[Sequence[tuple[Record, Doc]]],
    *,
    keep: Sequence[str],
    keep_text: bool,
) -> None:
    """Write records and what a pipeline has found in them as Parquet.

    keep: as of `records.read_records`. Raises ValueError if kept columns change their types, or are
    called as columns of the annotation.
    """
    columns = DocColumns.of(nlp)
    kept = dict(map(kept_column, keep))
    columns.check_new(kept)

    def table_of(batch: Sequence[tuple[Record, Doc]]) -> pa.Table:
        records = [record for record, _ in batch]
        arrays = {
            "file": pa.array([each.file for each in records], pa.string()),
            "record": pa.array([each.record for each in records], pa.int64()),
        }
        if keep_text:
            arrays["text"] = pa.array([each.text for each in records], pa.large_string())
        for name, kind in kept.items():
            arrays[name] = array_of([each.kept[name] for each in records], name, kind)
        found = columns.of_docs([doc for _, doc in batch])
        return pa.table(arrays | dict(zip(found.schema.names, found.columns, strict=True)))

    writer = None
    try:
        for group in row_groups(map(table_of, batches), table_of([])):
            if writer is None:
                writer = pq.ParquetWriter(stream, group.schema, compression="zstd")
            elif group.schema != writer.schema:
                raise changed_types(writer.schema, group.schema)
            writer.write_table(group, row_group_size=len(group) or None)
    finally:
        if writer is not None:
            writer.close()


def array_of(values: Sequence[Any], name: str, kind: pa.DataType | None) -> pa.Array:
    """The values of a kept column, scalars of Arrow or strings."""
    kinds = {
        each.type if isinstance(each, pa.Scalar) else pa.string()
        for each in values
        if each is not None
    }
    first, *others = sorted(kinds, key=str) or [kind or pa.string()]
    if others:
        raise changed_types(pa.schema([(name, first)]), pa.schema([(name, others[0])]))
    if pa.types.is_nested(first):
        # `pa.array` takes no null among scalars of lists and maps.
        scalars = (pa.scalar(each, first) if each is None else each for each in values)
        return pa.concat_arrays([pa.repeat(each, 1) for each in scalars])
    return pa.array(values, first)


def changed_types(first: pa.Schema, second: pa.Schema) -> ValueError:
    """An error for columns that differ."""
    before, now = next((a, b) for a, b in zip(first, second, strict=True) if a != b)
    return ValueError(
        f"the kept column {before.name!r} is {before.type} in one file and {now.type} in another; "
        f"say which it is to be, as in {before.name}:{before.type}"
    )


def row_groups(tables: Iterable[pa.Table], empty: pa.Table) -> Iterator[pa.Table]:
    """Yield tables put together to row groups, one at least."""
    waiting: list[pa.Table] = []
    size = 0
    is_empty = True
    for table in tables:
        if waiting and table.schema != waiting[0].schema:
            raise changed_types(waiting[0].schema, table.schema)
        is_empty = False
        waiting.append(table)
        size += table.nbytes
        if size >= ROW_GROUP_BYTES:
            yield pa.concat_tables(waiting)
            waiting, size = [], 0
    if waiting or is_empty:
        yield pa.concat_tables(waiting or [empty])
