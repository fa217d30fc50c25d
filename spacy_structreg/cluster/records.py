"""Inputs of any size as units of work, and units as records: texts with their places.

Parquet, JSON lines, CSV and text, in files of this machine or of whatever fsspec reaches. What
cannot be read is reported with its place and left out; the rest is read on.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, NamedTuple, TypeAlias, cast

import fsspec
import numpy as np
from fsspec.core import has_magic, url_to_fs
from fsspec.implementations.local import LocalFileSystem

from spacy_structreg.cluster.extra_packages import ExtraPackage, need_packages
from spacy_structreg.corpora.files import BYTE_ORDER_MARK, DAMAGED, LONGEST_LINE, damaged

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
else:
    pa, pc, pq = map(ExtraPackage, ("pyarrow", "pyarrow.compute", "pyarrow.parquet"))

Format: TypeAlias = Literal["parquet", "jsonl", "csv", "text"]

FORMATS: Final[dict[str, Format]] = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".txt": "text",
}
COMPRESSED: Final = (".gz", ".xz", ".zst")

UNIT_BYTES: Final = 32 << 20
# Of Parquet, so many rows are read at a time at most, and fewer if their texts have more bytes.
BATCH_BYTES: Final = 4 << 20
# A row may be much longer than the mean.
BATCH_ROWS: Final = 1024
BUFFER: Final = 1 << 20
# What is lost before damage in compressed data.
BLOCK: Final = 1 << 16
LONGEST_SHOWN: Final = 1000
# Opening a file in a bucket is waiting.
OPENING_THREADS: Final = 16


@dataclass(frozen=True)
class Part:
    """A file, or a stretch of it.

    file: path or URL. begin, end: row groups of Parquet; byte offsets of text and JSON lines, where
    a record belongs to the part in which its first byte lies. An end of None is that of the file.
    CSV and compressed files are not parted.
    """

    file: str
    format: Format
    begin: int = 0
    end: int | None = None


@dataclass(frozen=True)
class Unit:
    """Parts of files that are worked on as a whole. number: from 0, in the order of the inputs."""

    number: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class BadRecord:
    """A record that cannot be used, or the rest of a part that cannot be read.

    file, record: its place, as of a `Record`. reason: in a few words. content:
    its first 1,000 characters, with U+FFFD for bytes that are not UTF-8; "" if there is none.
    """

    file: str
    record: int
    reason: str
    content: str = ""


class Record(NamedTuple):
    """A text, its place, and what is kept besides.

    file: as the unit names it. record: the number of the row in a Parquet or CSV file, from 0, else
    the byte at which the line begins, uncompressed. kept: by their names, the values of columns and
    fields: scalars of Arrow if they have a type, else strings, or None.
    """

    file: str
    record: int
    text: str
    kept: dict[str, Any]

    def place_and_kept(self) -> dict[str, Any]:
        """File, record, and what is kept as values of Python."""
        plain = {
            name: value if value is None or isinstance(value, str) else value.as_py()
            for name, value in self.kept.items()
        }
        return {"file": self.file, "record": self.record, **plain}


OnBad: TypeAlias = Callable[[BadRecord], None]


def refuse(bad: BadRecord) -> None:
    """Raise ValueError for a bad record, where none may be left out."""
    raise ValueError(f"{bad.file}, record {bad.record}: {bad.reason}; mend the file")


# Units -------------------------------------------------------------------------------------------


def plan_units(inputs: Sequence[str], *, unit_bytes: int = UNIT_BYTES) -> list[Unit]:
    """Units of about `unit_bytes` bytes, as they lie in the files, in the order of file names.

    inputs: paths, glob patterns and URLs of files (``s3://…``). Their names end in .parquet,
        .jsonl, .ndjson, .json, .csv or .txt; all but the first may have .gz, .xz or .zst behind it.
        A file that is named twice counts once.
    unit_bytes: large files of text and JSON lines are cut, small ones are put together; row groups
        of Parquet, CSV and compressed files stay whole.
    The same files give the same units. Raises ValueError for names of no known format, folders, and
    patterns that no file goes with; OSError for files that cannot be read.
    """
    if unit_bytes < 1:
        raise ValueError(f"unit_bytes is {unit_bytes!r}; give a whole number from 1")
    files = find_files(inputs)
    units: list[Unit] = []
    parts: list[Part] = []
    total = 0
    for part, size in sized_parts(files, unit_bytes):
        if parts and total + size > unit_bytes:
            units.append(Unit(len(units), tuple(parts)))
            parts, total = [], 0
        parts.append(part)
        total += size
    if parts:
        units.append(Unit(len(units), tuple(parts)))
    return units


def find_files(inputs: Iterable[str]) -> dict[str, int]:
    """The files that paths, patterns and URLs stand for, sorted, with their sizes in bytes."""
    found: dict[str, int] = {}
    for each in inputs:
        filesystem, path = url_to_fs(str(each))
        # A file may be called like a pattern.
        if not has_magic(path) or filesystem.exists(path):
            infos = {path: filesystem.info(path)}
        else:
            infos = filesystem.glob(path, detail=True)
            infos = {path: info for path, info in infos.items() if info["type"] == "file"}
            if not infos:
                raise ValueError(f"no file goes with the pattern {each}; correct it")
        for path, info in infos.items():
            if info["type"] == "directory":
                raise ValueError(f"{each} is a folder; name its files, as in {each}/*.parquet")
            # Those of this machine go by their paths.
            is_local = isinstance(filesystem, LocalFileSystem)
            name = path if is_local else filesystem.unstrip_protocol(path)
            format_of(name)
            # Some servers do not say it.
            found[name] = info["size"] or 0
    return dict(sorted(found.items()))


def format_of(file: str) -> Format:
    """The format of a file by the end of its name. Raises ValueError for no known one."""
    suffixes = Path(file.lower()).suffixes[-2:]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSED
    suffix = "".join(suffixes[:-1] if compressed else suffixes)[-9:]
    suffix = suffix[suffix.rfind(".") :] if suffix else ""
    found = FORMATS.get(suffix)
    if found is None or (compressed and found == "parquet"):
        raise ValueError(
            f"{file}: the name does not say what format this is; let it end in "
            f"{', '.join(FORMATS)}, with {', '.join(COMPRESSED)} behind it where it is text that "
            "is compressed"
        )
    return found


def sized_parts(files: dict[str, int], unit_bytes: int) -> Iterator[tuple[Part, int]]:
    """The parts of files, with their sizes in bytes."""
    large = [
        file for file, size in files.items() if size > unit_bytes and format_of(file) == "parquet"
    ]
    with ThreadPoolExecutor(OPENING_THREADS) as pool:
        row_groups = dict(zip(large, pool.map(sizes_of_row_groups, large), strict=True))
    for file, size in files.items():
        kind = format_of(file)
        if of_groups := row_groups.get(file):
            for number, of_group in enumerate(of_groups):
                yield Part(file, kind, number, number + 1), of_group
        elif (
            size <= unit_bytes
            or kind in ("parquet", "csv")
            or Path(file).suffix.lower() in COMPRESSED
        ):
            yield Part(file, kind), size
        else:
            # Of equal lengths, so that no unit is but a few bytes.
            n_parts = -(-size // unit_bytes)
            cuts = [size * number // n_parts for number in range(n_parts + 1)]
            for begin, end in pairwise(cuts):
                yield Part(file, kind, begin, None if end == size else end), end - begin


def sizes_of_row_groups(file: str) -> list[int]:
    """The bytes of each row group of a Parquet file; none if it is damaged.

    Damage is reported when it is read.
    """
    with open_file(file) as stream:
        try:
            metadata = pq.read_metadata(stream)
        except Exception as error:
            if is_damage(error):
                return []
            raise
        return [
            sum(
                metadata.row_group(group).column(column).total_compressed_size
                for column in range(metadata.num_columns)
            )
            for group in range(metadata.num_row_groups)
        ]


# Records -----------------------------------------------------------------------------------------


def read_records(
    unit: Unit,
    *,
    text_column: str = "text",
    keep: Sequence[str] = (),
    on_bad: OnBad,
) -> Iterator[Record]:
    """Yield the records of a unit.

    text_column: the column of Parquet or CSV, or the field of JSON lines, that has the text; of a
        text file, each line is one.
    keep: further columns or fields that are read, each a name or ``name:type`` with a type of
        Arrow, such as ``id:int64``. Without a type, columns of Parquet keep theirs, and fields are
        strings: numbers, lists and the like as JSON text. Fields that are missing are null.
    on_bad: is called for what is left out: lines that are no UTF-8, no JSON or longer than
        `corpora.files.LONGEST_LINE`, rows of CSV without all columns, records without text, values
        that are not of their type, and the rest of a part that is damaged. Blank lines are none.

    Needs Arrow for Parquet, for ``.zst``, and for kept columns with a type alone.
    Raises ValueError for types that Arrow does not know, for kept columns called file, record or
    text, if there is no such column in a Parquet or CSV file, and for kept fields of text files;
    OSError for files that cannot be read.
    """
    kept = [kept_column(each) for each in keep]
    for part in unit.parts:
        read = parquet_records if part.format == "parquet" else text_records
        yield from read(part, text_column, kept, on_bad)


KeptColumn: TypeAlias = "tuple[str, pa.DataType | None]"

PLACE: Final = ("file", "record", "text")


def kept_column(text: str) -> KeptColumn:
    """The name and the type of a column to keep, as users write them."""
    name, colon, type_name = text.rpartition(":")
    kind = None
    if colon:
        need_packages("pyarrow")
        try:
            kind = pa.type_for_alias(type_name)
        except ValueError as error:
            raise ValueError(
                f"{type_name!r} of the kept column {text!r} is no type of Arrow; write one such as "
                "int64, float64, bool, string or date32"
            ) from error
    else:
        name = text
    if name in PLACE:
        raise ValueError(
            f"the column {name!r} cannot be kept, as a column of the output is called so; rename it"
        )
    return name, kind


def is_damage(error: Exception) -> bool:
    """True if an error of Arrow is about the content of a file, not about reaching it."""
    # Of names of columns, too, which are read with the rest.
    if isinstance(error, (UnicodeDecodeError, *DAMAGED)):
        return True
    if "pyarrow" in sys.modules and isinstance(error, pa.ArrowException):
        return not isinstance(error, (MemoryError, pa.ArrowCancelled))
    # Arrow raises OSError itself, without a number, for pages that it cannot decode.
    return type(error) is OSError and error.errno is None


def open_file(file: str) -> BinaryIO:
    """Open a file of this machine, or a URL, for reading bytes as they are."""
    if "://" in file:
        return cast("BinaryIO", fsspec.open(file, "rb").open())
    return Path(file).open("rb")


# Lines -------------------------------------------------------------------------------------------


def text_records(
    part: Part, text_column: str, kept: Sequence[KeptColumn], on_bad: OnBad
) -> Iterator[Record]:
    """Yield the records of a part of a file that is no Parquet."""
    if part.format == "text" and kept:
        raise ValueError(
            f"{part.file}: a text file has no fields, so that {kept[0][0]!r} cannot be kept"
        )
    if part.format == "csv":
        yield from csv_records(part, text_column, kept, on_bad)
        return
    for begin, data in lines_of(part, on_bad):
        try:
            line = decoded(data)
            text, values = line, dict[str, Any]()
            if part.format == "jsonl":
                text, values = fields_of(line, text_column, kept)
        except ValueError as error:
            on_bad(BadRecord(part.file, begin, str(error), shown(data)))
            continue
        yield Record(part.file, begin, text, values)


def csv_records(
    part: Part, text_column: str, kept: Sequence[KeptColumn], on_bad: OnBad
) -> Iterator[Record]:
    """Yield the records of a CSV file, whose first row names the columns, as `text_records`."""
    number = 0
    with open_lines(part.file) as stream:
        rows = csv_rows(stream)
        try:
            header = next(rows, None)
            if header is None:
                return
            if isinstance(header, ValueError):
                raise ValueError(f"{part.file}: the first row is {header}") from header
            check_columns(part.file, header, [text_column, *(name for name, _ in kept)])
            text_place = header.index(text_column)
            places = [header.index(name) for name, _ in kept]
            for number, row in enumerate(rows):
                try:
                    if isinstance(row, ValueError):
                        raise row
                    if len(row) != len(header):
                        raise ValueError(f"{len(row)} columns in place of {len(header)}")
                    values = {
                        name: None
                        if kind and not row[place]
                        else field_value(row[place], name, kind)
                        for place, (name, kind) in zip(places, kept, strict=True)
                    }
                except ValueError as error:
                    on_bad(BadRecord(part.file, number, str(error)))
                    continue
                yield Record(part.file, number, row[text_place], values)
        except Exception as error:
            if not is_damage(error):
                raise
            on_bad(BadRecord(part.file, number, damaged(error)))


def csv_rows(stream: BinaryIO) -> Iterator[list[str] | ValueError]:
    """Yield the rows of CSV that are not blank, or why one cannot be read."""
    is_first = True

    def line_of(data: bytes) -> str:
        nonlocal is_first
        if is_first:
            data = data.removeprefix(BYTE_ORDER_MARK.encode())
            is_first = False
        if len(data) - data.endswith(b"\n") > LONGEST_LINE:
            while data and not data.endswith(b"\n"):
                data = stream.readline(BUFFER)
            raise ValueError(f"the line is longer than {LONGEST_LINE} bytes")
        return decoded(data)

    # One byte more for the line feed, and another one to see that there is more.
    lines = iter(partial(stream.readline, LONGEST_LINE + 2), b"")
    rows = csv.reader(map(line_of, lines), strict=True)
    while True:
        # That of the process is for others.
        before = csv.field_size_limit(LONGEST_LINE)
        row: list[str] | ValueError
        try:
            row = next(rows)
        except StopIteration:
            return
        except (csv.Error, ValueError) as error:
            row = ValueError(f"no CSV: {error}")
        finally:
            csv.field_size_limit(before)
        if row:
            yield row


def lines_of(part: Part, on_bad: OnBad) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that begin in a part, without line ends, and the bytes at which they begin.

    Blank lines are left out, and so is the byte order mark of a file.
    """
    begin, end = part.begin, part.end
    with open_lines(part.file) as stream:
        try:
            if begin:
                # The line that begins before this part, if any, belongs to the one before.
                begin = next_line(stream, begin - 1, end)
            while end is None or begin < end:
                # One byte more for the line feed, and another one to see that there is more.
                data = stream.readline(LONGEST_LINE + 2)
                if not data:
                    return
                after = begin + len(data)
                if len(data) - data.endswith(b"\n") > LONGEST_LINE:
                    reason = f"the line is longer than {LONGEST_LINE} bytes"
                    on_bad(BadRecord(part.file, begin, reason, shown(data)))
                    if not data.endswith(b"\n"):
                        after = next_line(stream, after, end, seek=False)
                else:
                    if begin == 0:
                        data = data.removeprefix(BYTE_ORDER_MARK.encode())
                    data = data.removesuffix(b"\n").removesuffix(b"\r")
                    if data and not data.isspace():
                        yield begin, data
                begin = after
        except Exception as error:
            if not is_damage(error):
                raise
            on_bad(BadRecord(part.file, begin, damaged(error)))


def next_line(stream: BinaryIO, at: int, end: int | None, *, seek: bool = True) -> int:
    """The byte at which the first line after `at` begins, and the stream there.

    It is not looked for beyond `end`, so that what has no line ends is read once.
    """
    if seek:
        stream.seek(at)
    while end is None or at < end:
        data = stream.readline(BUFFER if end is None else min(BUFFER, end - at))
        at += len(data)
        if not data or data.endswith(b"\n"):
            break
    return at


@contextmanager
def open_lines(file: str) -> Iterator[BinaryIO]:
    """Open a file for reading lines; names ending in .gz, .xz and .zst are decompressed."""
    with ExitStack() as stack:
        stream: Any = stack.enter_context(open_file(file))
        suffix = Path(file).suffix.lower()
        if suffix == ".gz":
            stream = gzip.GzipFile(fileobj=stream, mode="rb")
        elif suffix == ".xz":
            stream = lzma.open(stream, "rb")  # noqa: SIM115 - the stack closes it
        else:
            if suffix == ".zst":
                # Unlike others, this one sees that the end is missing.
                stream = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd")
            stream = io.BufferedReader(stream, BLOCK)
        yield stack.enter_context(stream)


def decoded(data: bytes) -> str:
    """The text of a line of bytes. Raises ValueError if it is no UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte 0x{data[error.start]:02x} at byte offset {error.start} of the line is not UTF-8"
        ) from error


def shown(data: bytes) -> str:
    """The beginning of a line of bytes, for people to see."""
    return data[: 4 * LONGEST_SHOWN].decode(errors="replace")[:LONGEST_SHOWN]


def fields_of(
    line: str, text_column: str, kept: Sequence[KeptColumn]
) -> tuple[str, dict[str, Any]]:
    """The text of a JSON line, and the values of its kept fields.

    Raises ValueError for what is no JSON, has no text, or has values that are not of their type.
    """
    try:
        record = json.loads(line)
    except RecursionError:
        raise ValueError("no JSON: too many brackets inside each other") from None
    except ValueError as error:
        raise ValueError(f"no JSON: {error}") from None
    if not isinstance(record, dict):
        raise ValueError("no object of JSON")
    if text_column not in record:
        raise ValueError(f"no field {text_column!r}")
    text = record[text_column]
    if not isinstance(text, str):
        raise ValueError(f"the field {text_column!r} is no string")
    values = {name: field_value(record.get(name), name, kind) for name, kind in kept}
    if "\\u" in line:
        # Python reads halves of surrogate pairs, and nothing can hold them.
        for each in (text, *values.values()):
            if isinstance(each, str):
                check_surrogates(each)
    return text, values


def field_value(value: Any, name: str, kind: pa.DataType | None) -> Any:
    """The value of a field, of a type of Arrow; JSON text for what is no string if it has none."""
    if kind is None:
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value, ensure_ascii=False)
    try:
        return pa.scalar(value).cast(kind)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"the field {name!r} is no {kind}: {value!r:.80}") from error


def check_surrogates(text: str) -> None:
    """Raise ValueError for a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"lone surrogate U+{ord(text[error.start]):04X} at offset {error.start} of a string"
        ) from error


# Parquet -----------------------------------------------------------------------------------------


def parquet_records(
    part: Part, text_column: str, kept: Sequence[KeptColumn], on_bad: OnBad
) -> Iterator[Record]:
    """Yield the records of row groups of a Parquet file."""
    row = 0
    with open_file(part.file) as stream:
        try:
            metadata = pq.read_metadata(stream)
            rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            row = sum(rows[: part.begin])
            if sum(rows) != metadata.num_rows:
                raise pa.ArrowInvalid("its row groups have not as many rows as it says")
            columns = [text_column, *(name for name, _ in kept)]
            check_columns(part.file, metadata.schema.to_arrow_schema().names, columns)
            leaves = {metadata.schema.column(i).path for i in range(metadata.num_columns)}
            file = pq.ParquetFile(
                stream,
                metadata=metadata,
                buffer_size=BUFFER,
                page_checksum_verification=True,
                # A text that is there often is in memory once, and then in a batch of few rows.
                read_dictionary=[text_column] if text_column in leaves else None,
            )
            for group in range(len(rows))[part.begin : part.end]:
                n_rows = rows_of_batch(file.metadata.row_group(group))
                for batch in file.iter_batches(n_rows, [group], columns=columns):
                    for small in small_batches(batch, text_column):
                        yield from good_rows(
                            part.file, row, small, text_column, kept, on_bad=on_bad
                        )
                        row += len(small)
                if row != sum(rows[: group + 1]):
                    raise pa.ArrowInvalid("rows are missing")
        except Exception as error:
            if not is_damage(error):
                raise
            reason = f"the Parquet is damaged ({error}); get the file again"
            on_bad(BadRecord(part.file, row, reason))


def check_columns(file: str, names: Sequence[str], columns: Iterable[str]) -> None:
    """Raise ValueError if a file lacks a column. names: that it has."""
    for name in columns:
        if name not in names:
            raise ValueError(f"{file} has no column {name!r}; it has {', '.join(names)}")


def rows_of_batch(group: pq.RowGroupMetaData) -> int:
    """The number of rows of a row group that are read at once, by their mean size."""
    if not group.num_rows:
        return BATCH_ROWS
    rows = BATCH_BYTES * group.num_rows // max(1, group.total_byte_size)
    return int(max(1, min(BATCH_ROWS, rows)))


def small_batches(batch: pa.RecordBatch, text_column: str) -> Iterator[pa.RecordBatch]:
    """Cut a batch so that the texts of each have some megabytes, if not one text has more."""
    texts = batch.column(text_column)
    if not pa.types.is_dictionary(texts.type):
        yield batch
        return
    sizes = pc.binary_length(texts.dictionary).take(texts.indices)
    ends = np.cumsum(pc.fill_null(sizes, 0).to_numpy(zero_copy_only=False))
    start = 0
    while start < len(batch):
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + BATCH_BYTES, side="right")))
        yield batch.slice(start, end - start)
        start = end


def good_rows(
    file: str,
    first: int,
    batch: pa.RecordBatch,
    text_column: str,
    kept: Sequence[KeptColumn],
    *,
    on_bad: OnBad,
) -> Iterator[Record]:
    """Yield the rows of a batch that have a text and values of their types.

    first: the number of the first row in the file.
    """
    texts, faults = cast_rows(batch, text_column, pa.large_string(), file)
    faults = {
        **dict.fromkeys(
            pc.indices_nonzero(texts.is_null()).to_pylist(), f"the column {text_column!r} is null"
        ),
        **faults,
    }
    columns = {}
    for name, kind in kept:
        columns[name], of_column = cast_rows(batch, name, kind, file)
        faults = of_column | faults
    for row, text in enumerate(texts.to_pylist()):
        if row not in faults:
            kept_values = {name: column[row] for name, column in columns.items()}
            yield Record(file, first + row, text, kept_values)
            continue
        content = batch.column(text_column)[row]
        data = b"" if not content.is_valid else content.cast(pa.large_binary()).as_py()
        on_bad(BadRecord(file, first + row, faults[row], shown(data)))


def cast_rows(
    batch: pa.RecordBatch, name: str, kind: pa.DataType | None, file: str
) -> tuple[pa.Array, dict[int, str]]:
    """A column, of a type of Arrow, and the faults of the values that are not of it, by rows.

    These are null then. Raises ValueError if the column as a whole is of a type that cannot be.
    """
    column = batch.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if kind is None:
        kind = column.type

    def cast_values(values: pa.Array) -> pa.Array:
        # Parquet is read without a look at what is in its strings.
        values.validate(full=True)
        return values.cast(kind)

    try:
        return cast_values(column), {}
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise ValueError(
            f"{file}: the column {name!r} is {column.type}, of which no {kind} can be made"
        ) from error
    except pa.ArrowInvalid:
        pass
    values: list[pa.Array] = []
    faults: dict[int, str] = {}
    for row in range(len(column)):
        try:
            values.append(cast_values(column.slice(row, 1)))
        except pa.ArrowInvalid as error:
            faults[row] = f"the column {name!r} is no {kind} ({error})"
            values.append(pa.nulls(1, kind))
    return pa.concat_arrays(values), faults
