"""The service as a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import httpx

SECONDS = 120


@dataclass
class Running:
    """A service. output: what it has written so far, to both streams."""

    process: subprocess.Popen[bytes]
    output: bytearray
    address: str

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def client(self) -> httpx.Client:
        """A client that waits long: machines are shared."""
        return httpx.Client(base_url=self.address, timeout=SECONDS, trust_env=False)

    def end(self) -> int:
        """End it, and return its exit code."""
        self.process.terminate()
        return self.process.wait(SECONDS)


@contextmanager
def running(pipeline: Path | str, *options: str) -> Iterator[Running]:
    """Serve a pipeline at a free port, for a ``with`` block."""
    command = [sys.executable, "-W", "error", "-m", "spacy", "structreg", "serve", str(pipeline)]
    process = subprocess.Popen(
        [*command, "--port", "0", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    output = bytearray()
    found = None
    for line in process.stdout:
        output += line
        if found := re.search(rb" at (http://\S+)", line):
            break
    assert found, output.decode()
    # A full pipe would hold the server up.
    stream = process.stdout
    reader = Thread(target=lambda: [output.extend(line) for line in stream], daemon=True)
    reader.start()
    try:
        yield Running(process, output, found[1].decode())
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join()
        stream.close()
