"""Annotates files of any size on a Dask cluster, and goes on where it was interrupted."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, get_args

from fsspec.core import url_to_fs
from joblib import Parallel, cpu_count, delayed

from spacy_structreg.about import __version__
from spacy_structreg.cluster.annotated_units import (
    MANIFEST,
    MARKS,
    QUARANTINES,
    Job,
    ShardFormat,
    UnitReport,
    check_run,
    checksum_of,
    try_unit,
)
from spacy_structreg.cluster.engines import connect, interrupts_ignored
from spacy_structreg.cluster.output_folder import OutputFolder
from spacy_structreg.cluster.pipeline_copies import PipelineCopy
from spacy_structreg.cluster.records import Unit, plan_units
from spacy_structreg.cluster.shard_results import cluster_errors
from spacy_structreg.models.progress import progress_bar
from spacy_structreg.pipeline.doc_lines import TextFormat

if TYPE_CHECKING:
    from distributed import Client, Future

MANIFEST_FORMAT = 1
# That of the shards itself, and those inside it.
FOLDERS = ("", MARKS, QUARANTINES)

# Docs are in memory until their shard is written.
UNIT_BYTES: dict[ShardFormat, int] = {
    "parquet": 32 << 20,
    "spacy": 4 << 20,
    **dict.fromkeys(get_args(TextFormat), 32 << 20),
}
# A share of bad records is looked at from so many records on, and at the end.
ENOUGH_RECORDS = 10_000
# Units that wait for each worker, and for a cluster that has none yet.
AHEAD = 2
FIRST_AHEAD = 8
# How often a unit is tried again after an error, such as of a file system far away.
RETRIES = 2


@dataclass(frozen=True)
class AnnotateSummary:
    """The counts of a run.

    units: of the whole work; resumed: those of them that were done before; repeated: those whose
    shards were missing or damaged, and were made again. records, characters, bad_records,
    shard_bytes: of all units. seconds: of this run.
    """

    units: int
    resumed: int
    repeated: int
    records: int
    characters: int
    bad_records: int
    shard_bytes: int
    seconds: float


def annotate(
    pipeline: str | os.PathLike[str],
    inputs: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    format: ShardFormat = "parquet",
    scheduler: str | None = None,
    n_workers: int | None = None,
    n_threads: int = 1,
    text_column: str = "text",
    keep: Sequence[str] = (),
    keep_text: bool = True,
    max_bad: int | float = 1000,
    unit_bytes: int | None = None,
    verify: bool = False,
    log: Callable[[str], object] = lambda message: None,
) -> AnnotateSummary:
    """Annotate files by a pipeline, on processes of this machine or on a cluster.

    pipeline: a folder, or the name of an installed package, of which the folder with the files is
        taken. It is shipped, unless it lies on the machines of all workers with the same files.
    inputs, text_column, keep: as of `records.plan_units` and `records.read_records`.
    output: path or URL of a folder, the same from all machines. For every unit of work it has
        ``part-….parquet``, or one of another format; ``_bad/….jsonl`` if there were bad records;
        and, when the unit is done, ``_units/….json`` with counts and a checksum. Beside them lies
        ``_manifest.json``, which says what is annotated, and by which pipeline.
    format: Parquet with the columns of `annotated_tables.Annotator.annotate_batch`, after file,
        record, text and those that are kept; Docs, with these in ``doc.user_data``; or lines, as of
        `doc_lines.DocLines`. Only Parquet, and inputs that are, need pyarrow.
    scheduler, n_workers: as of `engines.connect`; without Dask, joblib starts processes of
        this machine. n_threads: of each worker.
    keep_text: whether texts are written.
    max_bad: most bad records of the whole run: a number, or a share (a float from 0 to 1), which is
        looked at from 10,000 records on, and at the end.
    unit_bytes: the size of a unit, about, as of `records.plan_units`; None for 32 MiB, and 4 MiB
        for Docs, which are in memory until they are written.
    verify: read all shards that are there, and compare their checksums, and not their sizes alone.
    log: is called with what is worth knowing on the way, a line at a time.

    The same call goes on with what is not done yet, and writes nothing twice. Raises ValueError if
    the output folder is that of another run, also of one that began meanwhile, if there are too
    many bad records, and for faulty settings and inputs; OSError for files that cannot be read or
    written, if another process of this machine is annotating to the folder, and if the scheduler is
    lost.
    """
    began = time.monotonic()
    check_settings(format, n_threads, max_bad, keep_text=keep_text)
    names = [os.fspath(each) for each in inputs]
    settings: dict[str, Any] = {
        "format": format,
        "text_column": text_column,
        "keep": list(keep),
        "keep_text": keep_text,
        "unit_bytes": unit_bytes or UNIT_BYTES[format],
    }
    units = plan_units(names, unit_bytes=settings["unit_bytes"])
    copy = PipelineCopy.of(pipeline)
    folder = OutputFolder(os.fspath(output))
    manifest = {
        "format": MANIFEST_FORMAT,
        "spacy_structreg": __version__,
        "pipeline": copy.checksum,
        "settings": settings,
        "inputs": stamps(units),
        "units": len(units),
    }
    with folder.locked():
        begin_or_resume(folder, manifest)
        job = Job(
            pipeline=copy,
            output=folder.address,
            version=__version__,
            run=checksum_of(manifest),
            format=format,
            text_column=text_column,
            keep=tuple(keep),
            keep_text=keep_text,
            n_threads=n_threads,
            most_bad=max_bad if isinstance(max_bad, int) else None,
            n_digits=max(5, len(str(len(units)))),
        )
        marked = read_marks(folder, job, units, verify=verify)
        done = {number: report for number, report in marked.items() if report is not None}
        repeated = sorted(set(marked) - set(done))
        for number in repeated:
            log(f"{folder.path(job.shard(number))} is missing or damaged, and is made again")
        tally = Tally(max_bad, folder)
        for report in done.values():
            tally.add(report)
        waiting = [unit for unit in units if unit.number not in done]
        if waiting:
            with ExitStack() as stack:
                if scheduler is None and find_spec("distributed") is None:
                    n_workers = n_workers or max(1, cpu_count() // n_threads)
                    reports = units_of_processes(job, waiting, n_workers)
                else:
                    client = stack.enter_context(
                        connect(scheduler, n_workers=n_workers, n_threads=n_threads)
                    )
                    reports = units_of_cluster(client, job, waiting, log)
                stack.enter_context(telling(folder, len(units), log))
                add_with_progress(tally, reports, len(units), len(done))
        tally.check()
        check_run(folder, job.run)
    return AnnotateSummary(
        units=len(units),
        resumed=len(done),
        repeated=len(repeated),
        records=tally.records,
        characters=tally.characters,
        bad_records=tally.bad_records,
        shard_bytes=tally.shard_bytes,
        seconds=time.monotonic() - began,
    )


def check_settings(
    format: ShardFormat, n_threads: int, max_bad: int | float, *, keep_text: bool
) -> None:
    """Raise ValueError for settings that make no sense."""
    if format not in UNIT_BYTES:
        raise ValueError(f"there is no format {format!r}; choose one of {', '.join(UNIT_BYTES)}")
    if format != "parquet" and not keep_text:
        raise ValueError(f"{format} has the texts; keep them, or choose the format parquet")
    if n_threads < 1:
        raise ValueError(f"n_threads is {n_threads!r}; give a whole number from 1")
    if max_bad < 0 or (isinstance(max_bad, float) and max_bad > 1):
        raise ValueError(
            f"max_bad is {max_bad!r}; give a whole number from 0, or a share from 0.0 to 1.0"
        )


# Manifest and marks ------------------------------------------------------------------------------


def stamps(units: Iterable[Unit]) -> list[list[Any]]:
    """The name, size and time of change, or tag, of each file."""
    found: list[list[Any]] = []
    for file in sorted({part.file for unit in units for part in unit.parts}):
        if "://" not in file:
            # There may be many thousands of them.
            stat = os.stat(file)  # noqa: PTH116
            found.append([file, stat.st_size, stat.st_mtime_ns])
            continue
        filesystem, path = url_to_fs(file)
        info = filesystem.info(path)
        stamp = next((info[key] for key in STAMPS if info.get(key) is not None), None)
        is_plain = isinstance(stamp, (str, int, float))
        found.append([file, info["size"], stamp if is_plain else str(stamp)])
    return found


# What file systems call it, those of buckets first.
STAMPS = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "updated", "created")


def begin_or_resume(folder: OutputFolder, manifest: dict[str, Any]) -> None:
    """Write the manifest, or compare it with the one that is there; remove what was left over.

    Raises ValueError if that is another one, and units are done already, or if there are files
    without a manifest.
    """
    try:
        there = json.loads(folder.read(MANIFEST))
    except FileNotFoundError:
        if folder.has_entries():
            raise ValueError(
                f"{folder.address} is not empty, and not of such a run; name another folder"
            ) from None
        there = None
    except ValueError as error:
        raise ValueError(
            f"{folder.path(MANIFEST)} is damaged ({error}); choose another output folder"
        ) from error
    for name in FOLDERS:
        folder.remove_temporaries(name)
    # As JSON has it.
    manifest = json.loads(json.dumps(manifest))
    if there == manifest:
        return
    if there is not None and folder.sizes(MARKS):
        key = next(key for key in manifest if there.get(key) != manifest[key])
        raise ValueError(
            f"{folder.address} was begun {difference(key, there.get(key), manifest[key])}; choose "
            "another output folder"
        )
    # Nothing is done yet: what has been written is not of this run.
    for name in FOLDERS:
        for file in folder.sizes(name):
            if name or file.startswith("part-"):
                folder.remove(f"{name}/{file}")
        folder.make(name)
    folder.write(MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1).encode() + b"\n")


def difference(key: str, before: Any, now: Any) -> str:
    """The difference from when a run began, for an error."""
    if key == "pipeline":
        return f"by another pipeline (checksum {str(before)[:12]}…, now {now[:12]}…)"
    if key == "settings" and isinstance(before, dict):
        changed = [name for name in now if now[name] != before.get(name)]
        return "with other settings: " + ", ".join(
            f"{name} was {before.get(name)!r}" for name in changed
        )
    if key == "inputs" and isinstance(before, list):
        known = {each[0]: each for each in before}
        changed = [each[0] for each in now if known.get(each[0]) != each]
        gone = sorted(set(known) - {each[0] for each in now})
        return f"with other inputs, or they have changed since, such as {[*changed, *gone][0]}"
    if key == "spacy_structreg":
        return f"by version {before} of spacy_structreg"
    return f"with {before} as its {key}, now {now}"


def read_marks(
    folder: OutputFolder, job: Job, units: Sequence[Unit], *, verify: bool
) -> dict[int, UnitReport | None]:
    """The reports of units that are marked as done, by number; None if their files are not so.

    verify: read the shards, and not their sizes alone.
    """
    marks = folder.sizes(MARKS)
    names = {unit.number: job.mark(unit.number) for unit in units}
    there = {number: name for number, name in names.items() if PurePosixPath(name).name in marks}
    sizes, quarantines = folder.sizes(), folder.sizes(QUARANTINES)
    found: dict[int, UnitReport | None] = {}
    for number, data in zip(there, folder.read_all(list(there.values())), strict=True):
        try:
            report = UnitReport.from_json(data)
        except ValueError:
            found[number] = None
            continue
        is_whole = (
            (report.run, report.unit) == (job.run, number)
            and sizes.get(job.shard(number)) == report.shard_bytes
            and (
                not report.bad_records or PurePosixPath(job.quarantine(number)).name in quarantines
            )
            and (not verify or folder.checksum(job.shard(number)) == report.sha256)
        )
        found[number] = report if is_whole else None
    return found


# Units -------------------------------------------------------------------------------------------


class Tally:
    """The sums over all units that are done; it ends a run of too many bad records."""

    def __init__(self, max_bad: int | float, folder: OutputFolder) -> None:
        self._max_bad = max_bad
        self._folder = folder
        self.records = self.characters = self.bad_records = self.shard_bytes = 0

    def add(self, report: UnitReport) -> None:
        """Add a unit. Raises ValueError if there are too many bad records by now."""
        self.records += report.records
        self.characters += report.characters
        self.bad_records += report.bad_records
        self.shard_bytes += report.shard_bytes
        if isinstance(self._max_bad, int) or self.records + self.bad_records >= ENOUGH_RECORDS:
            self.check()

    def check(self) -> None:
        """Raise ValueError if there are too many bad records."""
        total = self.records + self.bad_records
        is_share = isinstance(self._max_bad, float)
        if self.bad_records > (self._max_bad * total if is_share else self._max_bad):
            allowed = f"{self._max_bad:g} of them" if is_share else self._max_bad
            raise ValueError(
                f"{self.bad_records} of {total} records are bad, and {allowed} may be; see why in "
                f"{self._folder.path(QUARANTINES)}, and allow more for the run to go on, or mend "
                "the inputs and choose another output folder"
            )


@contextmanager
def telling(folder: OutputFolder, n_units: int, log: Callable[[str], object]) -> Iterator[None]:
    """Say what is kept when a block is interrupted, and how to go on."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        log(
            f"\nInterrupted: {len(folder.sizes(MARKS))} of {n_units} units are done, and kept in "
            f"{folder.address}; the same command goes on"
        )
        raise


def add_with_progress(
    tally: Tally, reports: Iterator[UnitReport], n_units: int, n_done: int
) -> None:
    """Add units as they are done, with a bar on standard error if that is a terminal."""
    before = tally.records
    with progress_bar(reports, "annotate", n_units, initial=n_done, unit=" units") as bar:
        for report in bar:
            tally.add(report)
            seconds = bar.format_dict["elapsed"] or 1
            bar.set_postfix_str(
                f"{tally.records:,} records, {(tally.records - before) / seconds:,.0f}/s, "
                f"{tally.bad_records:,} bad",
                refresh=False,
            )


def units_of_processes(job: Job, units: Iterable[Unit], n_workers: int) -> Iterator[UnitReport]:
    """Yield the reports of units as processes of this machine have done them, in any order.

    Raises what a unit raises, and ValueError if one ends its process.
    """
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    parallel = Parallel(n_workers, batch_size=1, return_as="generator_unordered")
    # As processes that are started go on to do.
    with interrupts_ignored():
        reports = parallel(delayed(try_unit)(job, unit) for unit in units)
    try:
        for report in reports:
            if isinstance(report, Exception):
                raise report
            yield report
    except TerminatedWorkerError as error:
        raise ValueError(
            "a unit has ended the process that worked on it; start fewer workers, or choose a "
            "smaller size of units and another output folder"
        ) from error


def units_of_cluster(
    client: Client, job: Job, units: Sequence[Unit], log: Callable[[str], object]
) -> Iterator[UnitReport]:
    """Yield the reports of units as a cluster has done them, as `finished_units`."""
    from spacy_structreg.cluster.shipped_pipelines import ship_pipeline

    # Its pages are drawn by bokeh, which may be missing where the scheduler runs here.
    if find_spec("bokeh") is not None:
        log(f"Dashboard: {client.dashboard_link}")
    if shipped := ship_pipeline(client, job.pipeline):
        log(f"Shipped the pipeline: {shipped:,} bytes to each worker")
    yield from finished_units(client, job, units)


def finished_units(client: Client, job: Job, units: Sequence[Unit]) -> Iterator[UnitReport]:
    """Yield the reports of units as they are done, in any order; a few wait for each worker.

    Raises what a unit raises, ValueError if one ends the workers that work on it, and OSError if
    the scheduler is lost.
    """
    from distributed import as_completed

    waiting = iter(units)
    running: dict[Future, Unit] = {}
    done = as_completed(loop=client.loop)

    def submit(most: int) -> None:
        for unit in islice(waiting, max(0, most)):
            future = client.submit(try_unit, job, unit, pure=False, retries=RETRIES)
            running[future] = unit
            done.add(future)

    submit(FIRST_AHEAD)
    for future in done:
        unit = running.pop(future)
        files = unit.parts[0].file + (" and others" if len(unit.parts) > 1 else "")
        died = ValueError(
            f"unit {unit.number} ({files}) has ended every worker that worked on it; give workers "
            "more memory, or choose a smaller size of units and another output folder"
        )
        with cluster_errors(died, "the same command, which goes on where it was interrupted"):
            report = future.result()
            if isinstance(report, Exception):
                raise report
            # Workers come and go.
            most = max(FIRST_AHEAD, AHEAD * sum(client.nthreads().values()))
            submit(most - len(running))
        yield report
