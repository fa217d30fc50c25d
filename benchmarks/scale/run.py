"""The command line, and a run from the text to the report."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle
from pathlib import Path

from benchmarks.common.machine import (
    command,
    load_average,
    log_line,
    machine_facts,
    positive,
)
from benchmarks.common.report import publish
from benchmarks.scale.costs import PipelineCosts, engine_costs, phases_of, timed_runs
from benchmarks.scale.projection import Cluster, projected
from benchmarks.scale.report import ScaleReport
from benchmarks.serving.run import pipelines, read_text

__all__ = ["documents_of", "main"]

# Of the first look at the rate of a pipeline.
FIRST_LOOK = 20_000
LEAST_CHARACTERS = 20_000


@command
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    options = _parser().parse_args(arguments)
    folders = pipelines(options.pipelines)
    cluster = Cluster(
        documents=options.documents,
        document_characters=options.document_characters,
        machines=options.machines,
        cores=options.cores,
        storage=options.storage * 1e9,
    )
    machine = machine_facts()
    sentences = ["".join(words) for words in read_text(options.text, options.limit, False)]
    rounds, seconds = options.rounds, options.seconds
    found = []
    with tempfile.TemporaryDirectory(prefix="scale-") as scratch:
        path = Path(scratch, "text.jsonl")
        for name, folder in folders.items():
            write_documents(path, sentences, FIRST_LOOK, options.document_characters)
            look = phases_of(folder, [str(path)])
            rate = look.characters / (look.reading + look.decoding + look.writing)
            wanted = max(LEAST_CHARACTERS, int(rate * seconds))
            n_sentences = write_documents(path, sentences, wanted, options.document_characters)
            phases = phases_of(folder, [str(path)])
            costs = PipelineCosts(name, phases, n_sentences, path.stat().st_size)
            timed_runs(costs, folder, [str(path)], options.workers, rounds)
            log_line(f"{name}: measured on {phases.characters:,} characters")
            found.append(costs)
        write_documents(path, sentences, options.counted, options.document_characters)
        engine = engine_costs([str(path)], options.workers, rounds, options.tasks)
    machine["load average"] += f" before, {load_average()} after"
    report = ScaleReport(
        name=f"scale-{options.name}",
        machine=machine,
        corpus={
            "name": options.name,
            "sentences": len(sentences),
            "characters": sum(map(len, sentences)),
            "note": options.note,
        },
        method={
            "rounds": rounds,
            "documents": f"JSON lines of about {options.document_characters:,} characters, of the "
            "sentences over and over",
            "text of a pipeline": f"about {seconds:g} seconds of one worker",
            "n-grams": f"of {options.counted:,} characters",
            "units": "16 for each of the workers; pipelines are loaded before the clock starts",
            "threads": "one a worker",
        },
        pipelines=found,
        engine=engine,
        cluster=cluster,
        projections=[projected(each, engine, cluster) for each in found],
    )
    publish(report, options.output)


def documents_of(sentences: Iterable[str], n_characters: int, size: int) -> Iterator[list[str]]:
    """Yield the sentences of documents of about `size` characters, `n_characters` in all."""
    document: list[str] = []
    length = total = 0
    for sentence in sentences:
        document.append(sentence)
        length += len(sentence)
        total += len(sentence)
        if length >= size or total >= n_characters:
            yield document
            document, length = [], 0
        if total >= n_characters:
            return


def write_documents(path: Path, sentences: Sequence[str], n_characters: int, size: int) -> int:
    """Write documents as JSON lines, of the sentences over and over; returns their number."""
    n_sentences = 0
    with path.open("w", encoding="utf-8") as stream:
        for document in documents_of(cycle(sentences), n_characters, size):
            n_sentences += len(document)
            stream.write(json.dumps({"text": "".join(document)}, ensure_ascii=False) + "\n")
    return n_sentences


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks/scale", description=__doc__)
    parser.add_argument(
        "--pipelines", nargs="+", required=True, metavar="NAME=FOLDER", help="trained pipelines"
    )
    parser.add_argument("--text", nargs="+", type=Path, default=[], help="segmented text; CNC's")
    parser.add_argument("--name", default="cnc", help="of the text, for the report")
    parser.add_argument("--note", default="", help="what else the report says of the text")
    parser.add_argument("--limit", type=positive, help="so many sentences of the text only")
    parser.add_argument("--workers", nargs="+", type=positive, default=[1, 2])
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--seconds", type=float, default=30.0, help="of work of one worker")
    parser.add_argument(
        "--counted", type=positive, default=20_000_000, help="characters for count-ngrams"
    )
    parser.add_argument("--tasks", type=positive, default=2000, help="that do nothing")
    parser.add_argument("--documents", type=float, default=Cluster.documents)
    parser.add_argument("--document-characters", type=positive, default=Cluster.document_characters)
    parser.add_argument("--machines", type=positive, default=Cluster.machines)
    parser.add_argument("--cores", type=positive, default=Cluster.cores, help="of a machine")
    parser.add_argument(
        "--storage", type=float, default=Cluster.storage / 1e9, help="GB a second of all machines"
    )
    parser.add_argument("--output", type=Path, help="folder for the report")
    return parser
