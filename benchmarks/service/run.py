"""Load of short requests at a given rate, whether or not they are answered in time.

Each request has one sentence, and is due at a moment that was drawn before, as those of many
independent users are; its time is counted from then. So a service that falls behind shows it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from spacy_structreg.corpora.formats.brackets import trees_with_words

ROOT = Path(__file__).resolve().parents[2]
HEADER = "| requests a second | answered a second | errors | p50, ms | p99, ms | longest, ms |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline", help="folder or package of the pipeline")
    parser.add_argument("--rates", type=float, nargs="+", default=[50, 100, 200])
    parser.add_argument("--seconds", type=float, default=10, help="of each rate")
    parser.add_argument("--repeat", type=int, default=3, help="times that rates are run in turn")
    parser.add_argument("--workers", type=int, default=2, help="of the service")
    parser.add_argument("--treebank", type=Path, default=ROOT / "treebank" / "test")
    chosen = parser.parse_args(arguments)
    bodies = [json.dumps({"texts": [text]}).encode() for text in sentences(chosen.treebank)]
    print(f"{chosen.workers} workers, {len(bodies):,} sentences\n\n{HEADER}")
    print("|" + "---:|" * HEADER.count(" | ") + "---:|")
    with service(chosen.pipeline, chosen.workers) as port:
        asyncio.run(load(port, bodies, 20, 2.0))
        for number in range(chosen.repeat):
            for rate in chosen.rates:
                seconds, errors, took = asyncio.run(
                    load(port, bodies, rate, chosen.seconds, number)
                )
                took.sort()
                row = (took[len(took) // 2], took[int(0.99 * len(took))], took[-1])
                times = " | ".join(f"{1000 * each:.1f}" for each in row)
                print(f"| {rate:g} | {len(took) / seconds:.1f} | {errors} | {times} |", flush=True)
    return 0


def sentences(folder: Path) -> list[str]:
    """The texts of the sentences of a treebank."""
    return [
        "".join(word for word, _ in tree.tagged_words())
        for path in sorted(folder.glob("*.bracket"))
        for tree in trees_with_words(path)
    ]


@contextmanager
def service(pipeline: str, workers: int) -> Iterator[int]:
    """The port of a service, which runs as a process of its own."""
    command = [sys.executable, "-m", "spacy", "structreg", "serve", pipeline, "--port", "0"]
    with subprocess.Popen([*command, "--workers", str(workers)], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            found = re.search(rb":(\d+) ", process.stdout.readline())
            assert found is not None
            yield int(found[1])
        finally:
            process.terminate()


async def load(
    port: int, bodies: Sequence[bytes], rate: float, seconds: float, seed: int = 0
) -> tuple[float, int, list[float]]:
    """Send requests at a rate; returns the seconds until the last answer, errors, and times."""
    drawn = random.Random(seed)
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    took: list[float] = []
    errors = 0

    async def send(body: bytes, due: float) -> None:
        nonlocal errors
        connection = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", port)
        reader, writer = connection
        writer.write(
            b"POST /v1/annotate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            + f"content-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None
        await reader.readexactly(int(length[1]))
        took.append(time.perf_counter() - due)
        errors += not head.startswith(b"HTTP/1.1 200")
        idle.append(connection)

    begin = time.perf_counter()
    due = begin
    waiting = []
    while (due := due + drawn.expovariate(rate)) < begin + seconds:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        waiting.append(asyncio.create_task(send(drawn.choice(bodies), due)))
    await asyncio.gather(*waiting)
    lasted = time.perf_counter() - begin
    for _, writer in idle:
        writer.close()
    return lasted, errors, took
