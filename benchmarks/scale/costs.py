"""The costs of annotation on workers, measured: rates, phases, starting, shipping, tasks."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_structreg.cluster.annotate_run import annotate
from spacy_structreg.cluster.annotated_tables import Annotator
from spacy_structreg.cluster.engines import connect
from spacy_structreg.cluster.ngram_shards import count_ngrams_of_units
from spacy_structreg.cluster.pipeline_copies import PipelineCopy
from spacy_structreg.cluster.records import plan_units, read_records, refuse
from spacy_structreg.cluster.shipped_pipelines import ShippedPipeline, packed
from spacy_structreg.tasks.segmentation.characters import CharacterAtoms

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["EngineCosts", "Phases", "PipelineCosts", "engine_costs", "phases_of", "timed_runs"]

STARTED = """
import sys, time
begin = time.perf_counter()
import spacy_structreg.cluster.annotated_units as units
imported = time.perf_counter()
units.Annotator(sys.argv[1]).annotate_batch(units.pa.table({"text": ["\u4f60\u597d"]}))
print(imported - begin, time.perf_counter() - imported)
"""


@dataclass
class Phases:
    """Seconds of one process for one text: reading JSON lines, decoding, writing Parquet.

    bytes_out, bytes_without_text: of that Parquet.
    """

    records: int
    characters: int
    reading: float
    decoding: float
    writing: float
    bytes_out: int
    bytes_without_text: int


@dataclass
class PipelineCosts:
    """The costs of a pipeline.

    rates: characters a second of the clock, by the number of workers, of each round; cpu_rates:
    the same for a second of the processor, all workers together. bytes_in: of the inputs.
    model_bytes, packed_bytes:
    of the folder, and of what is shipped. packing, shipping: seconds, the latter to one worker and
    with unpacking. importing, loading: seconds of a new process, until its first text is annotated.
    """

    name: str
    phases: Phases
    sentences: int
    bytes_in: int
    rates: dict[int, list[float]] = field(default_factory=dict)
    cpu_rates: dict[int, list[float]] = field(default_factory=dict)
    model_bytes: int = 0
    packed_bytes: int = 0
    packing: float = 0.0
    shipping: float = 0.0
    importing: float = 0.0
    loading: float = 0.0


@dataclass
class EngineCosts:
    """The costs of workers of this machine.

    starting: seconds until all workers are there, by their number. tasks: a second, that do
    nothing. counting: characters a second of count-ngrams, by the number of workers.
    """

    starting: dict[int, float]
    tasks: float
    counting: dict[int, list[float]]


def folder_bytes(folder: Path) -> int:
    """The bytes of all files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def phases_of(pipeline: Path, inputs: Sequence[str]) -> Phases:
    """Time each step of the work on some files in this process."""
    import pyarrow as pa

    annotator = Annotator(pipeline)
    begin = time.perf_counter()
    texts = [
        record.text for unit in plan_units(inputs) for record in read_records(unit, on_bad=refuse)
    ]
    read = time.perf_counter()
    given = pa.table({"text": pa.array(texts, pa.large_string())})
    # The pipeline is loaded by the first text.
    annotator.annotate_batch(given.slice(0, 1))
    loaded = time.perf_counter()
    table = annotator.annotate_batch(given)
    decoded = time.perf_counter()
    begun = time.perf_counter()
    bytes_out = parquet_bytes(table)
    written = time.perf_counter()
    return Phases(
        records=len(texts),
        characters=sum(map(len, texts)),
        reading=read - begin,
        decoding=decoded - loaded,
        writing=written - begun,
        bytes_out=bytes_out,
        bytes_without_text=parquet_bytes(table.drop_columns(["text"])),
    )


def parquet_bytes(table: Any) -> int:
    """Write a table as the command does; the bytes of the file."""
    import pyarrow.parquet as pq

    with tempfile.TemporaryFile() as stream:
        pq.write_table(table, stream, compression="zstd")
        return stream.tell()


def start_of(pipeline: Path) -> tuple[float, float]:
    """Seconds of a new process: importing, and loading until a first text is annotated."""
    done = subprocess.run(
        [sys.executable, "-c", STARTED, str(pipeline)], check=True, capture_output=True, text=True
    )
    importing, loading = map(float, done.stdout.split())
    return importing, loading


def shipped(client: Client, pipeline: Path) -> tuple[int, float, float]:
    """Bytes that are shipped, seconds of packing, and of sending to all workers and unpacking."""
    whole = PipelineCopy.of(pipeline)
    # Nobody has it by this name, nor unpacked.
    copy = PipelineCopy(str(pipeline.with_name("none")), whole.checksum)
    shutil.rmtree(copy.unpacked, ignore_errors=True)
    begin = time.perf_counter()
    archive = packed(pipeline)
    packed_at = time.perf_counter()
    client.register_plugin(ShippedPipeline(copy, archive), name="shipped")
    end = time.perf_counter()
    client.unregister_worker_plugin("shipped")
    shutil.rmtree(copy.unpacked, ignore_errors=True)
    return len(archive), packed_at - begin, end - packed_at


def timed_runs(
    costs: PipelineCosts,
    pipeline: Path,
    inputs: Sequence[str],
    workers: Sequence[int],
    rounds: int,
) -> None:
    """Annotate files on so many workers, in turns, and note what is measured.

    Each worker has the pipeline loaded and its first text annotated before the clock starts, which
    ends when the command would.
    """
    size = sum(Path(each).stat().st_size for each in inputs)
    # Enough units that the last one to end does not count for much.
    unit_bytes = max(1, size // (16 * max(workers)))
    for number in range(rounds):
        for n_workers in workers if number % 2 == 0 else workers[::-1]:
            with (
                connect(n_workers=n_workers) as client,
                tempfile.TemporaryDirectory() as folder,
            ):
                client.wait_for_workers(n_workers)
                client.run(annotated_once, str(pipeline))
                before = sum(client.run(time.process_time).values())
                done = annotate(
                    pipeline,
                    inputs,
                    Path(folder, "annotated"),
                    scheduler=client.scheduler_info()["address"],
                    unit_bytes=unit_bytes,
                )
                cpu = sum(client.run(time.process_time).values()) - before
                costs.rates.setdefault(n_workers, []).append(done.characters / done.seconds)
                costs.cpu_rates.setdefault(n_workers, []).append(done.characters / cpu)
                if number == rounds - 1 and n_workers == min(workers):
                    costs.packed_bytes, costs.packing, costs.shipping = shipped(client, pipeline)
    costs.model_bytes = folder_bytes(pipeline)
    costs.importing, costs.loading = start_of(pipeline)


def annotated_once(pipeline: str) -> None:
    """Load the pipeline of this process."""
    import pyarrow as pa

    Annotator(pipeline).annotate_batch(pa.table({"text": ["你好"]}))


def nothing(number: int) -> int:
    """A task that does nothing."""
    return number


def engine_costs(
    inputs: Sequence[str], workers: Sequence[int], rounds: int, n_tasks: int
) -> EngineCosts:
    """The costs of workers of this machine. inputs: files of which n-grams are counted."""
    size = sum(Path(each).stat().st_size for each in inputs)
    units = plan_units(inputs, unit_bytes=max(1, size // (4 * max(workers))))
    costs = EngineCosts({}, 0.0, {n_workers: [] for n_workers in workers})
    atoms = CharacterAtoms(None, True)
    for _ in range(rounds):
        for n_workers in workers:
            begin = time.perf_counter()
            with (
                connect(n_workers=n_workers) as client,
                tempfile.TemporaryDirectory() as folder,
            ):
                client.wait_for_workers(n_workers)
                costs.starting[n_workers] = time.perf_counter() - begin
                client.gather(client.map(nothing, range(10), pure=False))
                begin = time.perf_counter()
                client.gather(client.map(nothing, range(n_tasks), pure=False))
                costs.tasks = max(costs.tasks, n_tasks / (time.perf_counter() - begin))
                begin = time.perf_counter()
                totals, _ = count_ngrams_of_units(client, units, Path(folder), atoms=atoms)
                seconds = time.perf_counter() - begin
                costs.counting[n_workers].append(int(totals.characters.sum()) / seconds)
    return costs
