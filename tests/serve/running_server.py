"""The service as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import httpx
import pytest

SECONDS = 120


@dataclass
class Running:
    """A service. output: what it has written so far, to both streams."""

    process: subprocess.Popen[bytes]
    output: bytearray
    address: str
    reader: Thread

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def client(self) -> httpx.Client:
        """A client that waits long: machines are shared."""
        # There is no TLS, and reading the certificates of the system takes 30 ms.
        return httpx.Client(base_url=self.address, timeout=SECONDS, trust_env=False, verify=False)

    def end(self) -> int:
        """End it, and return its exit code; `output` is whole then."""
        self.process.terminate()
        code = self.process.wait(SECONDS)
        self.reader.join()
        return code


@contextmanager
def running(
    pipeline: Path | str, *options: str, environment: Mapping[str, str] | None = None
) -> Iterator[Running]:
    """Serve a pipeline at a free port, for a ``with`` block.

    environment: variables besides those of this process.
    """
    command = [sys.executable, "-W", "error", "-m", "spacy", "structreg", "serve", str(pipeline)]
    # A shell lets what it runs in the background ignore this signal, and the service would, too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        # Machines are shared: ten seconds, as by default, are soon over.
        [*command, "--port", "0", "--seconds", str(SECONDS // 2), *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **(environment or {})},
    )
    signal.signal(signal.SIGINT, before)
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
        yield Running(process, output, found[1].decode(), reader)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join()
        stream.close()


def waited_for(what: Callable[[], bool]) -> None:
    """Wait until something is true."""
    for _ in range(SECONDS * 20):
        if what():
            return
        time.sleep(0.05)
    pytest.fail("it does not come about")


def figure(server: Running, name: str) -> float:
    """A figure of /metrics."""
    with server.client() as client:
        lines = client.get("/metrics").text.splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(f"structreg_{name} ")))
