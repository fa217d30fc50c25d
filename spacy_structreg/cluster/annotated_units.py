"""A unit of work on a worker: records in, a shard of annotated records out, whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import chain
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Any, Literal, TypeAlias, cast

from spacy.language import Language
from spacy.tokens import Doc

from spacy_structreg.about import __version__
from spacy_structreg.cluster.loaded_pipelines import (
    BATCH_CHARACTERS,
    BATCH_SIZE,
    LoadedPipeline,
    load,
)
from spacy_structreg.cluster.output_folder import HashedStream, OutputFolder
from spacy_structreg.cluster.pipeline_copies import PipelineCopy, find_copy
from spacy_structreg.cluster.records import BadRecord, Record, Unit, kept_column, read_records
from spacy_structreg.corpora.files import NO_ROOM
from spacy_structreg.pipeline.doc_lines import SUFFIXES, DocLines, TextFormat
from spacy_structreg.pipeline.gold_docs import bytes_of_docs

ShardFormat = Literal["parquet", "spacy", TextFormat]
"""Formats of the files that are written."""

MANIFEST = "_manifest.json"
"""The file that says what is annotated, and by which pipeline."""

MARKS = "_units"
"""The folder of the files that say which units are done."""

QUARANTINES = "_bad"
"""The folder of the files with bad records. Readers of Parquet pass over such names."""

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
        suffix = SUFFIXES.get(self.format, self.format)
        return f"part-{number:0{self.n_digits}}.{suffix}"

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
    be read or written, ValueError as `check_run`, `read_records` and `write_parquet`.
    """
    if job.version != __version__:
        raise ValueError(
            f"spacy_structreg {job.version} has sent what a worker with {__version__} is to do; "
            "install the same version everywhere"
        )
    output = OutputFolder(job.output)
    counted = Counted()
    loaded = load(str(find_copy(job.pipeline)))
    with Quarantine(job.most_bad) as bad:
        batches = annotated_batches(job, unit, loaded, bad, counted)

        def leave_out(record: Record, reason: str) -> None:
            bad.add(bad_record(record, reason))
            counted.add(-1, -len(record.text))

        try:
            with output.replaced(job.shard(unit.number)) as stream:
                shard = HashedStream(stream)
                with loaded.lock:
                    if job.format == "parquet":
                        from spacy_structreg.cluster.parquet_shards import write_parquet

                        write_parquet(
                            shard, loaded.nlp, batches, keep=job.keep, keep_text=job.keep_text
                        )
                    else:
                        write_docs(shard, job, loaded.nlp, batches, leave_out)
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


class Counted:
    """Texts of a stream, with the number of records and characters that have gone by."""

    def __init__(self) -> None:
        self.records = self.characters = 0

    def add(self, records: int, characters: int) -> None:
        """Count further ones."""
        self.records += records
        self.characters += characters


# Shards ------------------------------------------------------------------------------------------


AnnotatedBatch: TypeAlias = list[tuple[Record, Doc]]


def annotated_batches(
    job: Job, unit: Unit, loaded: LoadedPipeline, bad: Quarantine, counted: Counted
) -> Iterator[AnnotatedBatch]:
    """Yield the records of a unit with their Docs, which are to be used before the next batch.

    Bad records go to the quarantine; a batch of nothing else is passed over.
    """
    records = read_records(unit, text_column=job.text_column, keep=job.keep, on_bad=bad.add)
    for batch in batches_of(records):
        docs, reasons = loaded.annotate([each.text for each in batch], job.n_threads)
        for number, reason in reasons.items():
            bad.add(bad_record(batch[number], reason))
        pairs = zip(batch, docs, strict=True)
        good = [(record, doc) for record, doc in pairs if doc is not None]
        counted.add(len(good), sum(len(record.text) for record, _ in good))
        if good:
            yield good


def bad_record(record: Record, reason: str) -> BadRecord:
    """A record that cannot be used."""
    return BadRecord(record.file, record.record, reason, record.text[:1000])


def batches_of(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Yield records in batches that are annotated at a time."""
    batch: list[Record] = []
    size = 0
    for record in records:
        if batch and (len(batch) == BATCH_SIZE or size + len(record.text) > BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += len(record.text)
    if batch:
        yield batch


def write_docs(
    stream: HashedStream,
    job: Job,
    nlp: Language,
    batches: Iterable[AnnotatedBatch],
    leave_out: Callable[[Record, str], None],
) -> None:
    """Write Docs or lines, with where records come from and kept columns.

    leave_out: is called with a record that the format cannot hold, and the reason.
    """
    pairs = chain.from_iterable(batches)
    if job.format == "spacy":
        stream.write(bytes_of_docs(with_records(pairs), ["LEMMA", "MORPH"]))
        return
    names = ["file", "record", *(kept_column(each)[0] for each in job.keep)]
    lines = DocLines.of(nlp, cast("TextFormat", job.format), names)
    stream.write(lines.header.encode())
    for record, doc in pairs:
        try:
            stream.write(lines.of_doc(doc, record.place_and_kept()).encode())
        except ValueError as error:
            leave_out(record, str(error))
    stream.write(lines.footer.encode())


def with_records(pairs: Iterable[tuple[Record, Doc]]) -> Iterator[Doc]:
    """Yield Docs whose `user_data` has where they come from, and kept columns."""
    for record, doc in pairs:
        doc.user_data.update(record.place_and_kept())
        yield doc


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
