"""The processes that annotate, and the requests that wait for them."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgpack

from spacy_structreg.serve.errors import log
from spacy_structreg.serve.worker import LENGTH, packed

__all__ = ["BusyError", "FaultError", "Pool", "TimeOverError", "WorkerError"]

PORTION: Final = 2_000
"""Characters that a worker is sent at once, or a longer text."""

PATIENCE: Final = 4
"""A worker that takes so many times the seconds of a request is ended, and another one started."""


class BusyError(Exception):
    """As many requests wait as may."""


class TimeOverError(Exception):
    """A request has not been answered in time."""


class FaultError(ValueError):
    """A fault of a request, told to who has sent it."""


class WorkerError(Exception):
    """A worker has failed; the message holds nothing of a request."""


RESTART: Final = 1.0
"""Seconds until a worker that could not load the pipeline is started again."""


@dataclass(eq=False)
class Job:
    """A request that waits, or is in work.

    request: what workers are sent, but for the texts. deadline: by `time.monotonic`. next: the
    first text that no worker has. left: how many texts have no answer.
    """

    request: dict[str, Any]
    texts: list[str]
    deadline: float
    answers: list[bytes]
    done: asyncio.Future[None]
    next: int = 0
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = len(self.texts)

    def part(self, size: int) -> Part:
        """The next texts, of so many characters at most, or a longer one."""
        start = self.next
        while self.next < len(self.texts):
            size -= len(self.texts[self.next])
            if size < 0 and self.next > start:
                break
            self.next += 1
        return Part(self, start, self.texts[start : self.next])


class Part(NamedTuple):
    """Some of the texts of a request, from the one with the number `start` on."""

    job: Job
    start: int
    texts: list[str]


class Pool:
    """Processes with a pipeline each, and a queue of what they are to do.

    pipeline: a folder or package. n_workers: how many processes. seconds: for a request. waiting:
    how many requests may wait.
    Requests take turns: a long one is sent in portions, and goes back to the end of the queue after
    each of them; short ones that want the same are sent together.
    """

    def __init__(self, pipeline: str, n_workers: int, *, seconds: float, waiting: int) -> None:
        self.pipeline = pipeline
        self.described: dict[str, Any] | None = None
        self.waiting: deque[Job] = deque()
        self.is_stopping = False
        self.n_ended = 0
        self._n_workers = n_workers
        self._seconds = seconds
        self._most = waiting
        self._some = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []
        self._processes: set[asyncio.subprocess.Process] = set()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_ready(self) -> bool:
        """True if a worker has loaded the pipeline."""
        return self.described is not None

    async def start(self) -> None:
        """Start the workers, and wait until they have loaded the pipeline.

        Raises ValueError if they cannot.
        """
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self._n_workers)]
        await self._ready

    async def stop(self) -> None:
        """End the workers; nothing may be in work."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for process in list(self._processes):
            await self._end(process)

    async def run(self, request: dict[str, Any], texts: list[str]) -> list[bytes]:
        """The answers of workers to a request about texts, one a text.

        Raises BusyError if the queue is full, TimeOverError after the seconds that a request may
        take, FaultError for faults of the request, WorkerError if a worker fails.
        """
        if len(self.waiting) >= self._most:
            raise BusyError
        loop = asyncio.get_running_loop()
        deadline = time.monotonic() + self._seconds
        job = Job(request, texts, deadline, [b""] * len(texts), loop.create_future())
        if not texts:
            return []
        await self._put(job)
        try:
            await asyncio.wait_for(job.done, self._seconds)
        except asyncio.TimeoutError:
            raise TimeOverError from None
        return job.answers

    async def _put(self, job: Job) -> None:
        async with self._some:
            self.waiting.append(job)
            self._some.notify()

    async def _take(self) -> list[Part]:
        """The next portion: texts of one request, and of those behind it that want the same."""
        async with self._some:
            await self._some.wait_for(lambda: self.waiting)
            parts: list[Part] = []
            size = 0
            while self.waiting and size < PORTION:
                job = self.waiting[0]
                # What is together must be asked for alike, and fit.
                if parts and (
                    job.request != parts[0].job.request
                    or "component" in job.request
                    or size + len(job.texts[job.next]) > PORTION
                ):
                    break
                self.waiting.popleft()
                # Who has sent it may have gone, or waits no longer.
                if job.done.done():
                    continue
                parts.append(job.part(PORTION - size))
                size += sum(map(len, parts[-1].texts))
            for part in parts:
                if part.job.next < len(part.job.texts):
                    # Before it is answered, so that another worker may take the rest.
                    self.waiting.append(part.job)
                    self._some.notify()
        return parts

    async def _work(self) -> None:
        """Talk to a worker, which is started again when it ends."""
        process = await self._started()
        while True:
            parts = await self._take()
            if not parts:
                continue
            found = await self._ask(process, parts)
            if "answers" not in found and len(parts) > 1:
                # One of them is at fault.
                for part in parts:
                    if process.returncode is not None:
                        process = await self._started()
                    settle([part], await self._ask(process, [part]))
            else:
                settle(parts, found)
            if process.returncode is not None:
                process = await self._started()

    async def _ask(self, process: asyncio.subprocess.Process, parts: list[Part]) -> dict[str, Any]:
        """The answer of a worker, which is ended if it takes too long."""
        texts = [text for part in parts for text in part.texts]
        try:
            return await asyncio.wait_for(
                ask(process, {**parts[0].job.request, "texts": texts}), PATIENCE * self._seconds
            )
        except (asyncio.TimeoutError, asyncio.IncompleteReadError, OSError):
            await self._end(process)
            self.n_ended += 1
            return {"failed": "a worker has ended, or takes too long; it is started again"}

    async def _started(self) -> asyncio.subprocess.Process:
        """A worker that has loaded the pipeline."""
        while True:
            process, hello = await self._start_one()
            if "failed" not in hello:
                self.described = hello["pipeline"]
                if not self._ready.done():
                    self._ready.set_result(None)
                return process
            fault = f"the pipeline {self.pipeline} cannot be loaded: {hello['failed']}"
            await self._end(process)
            if not self._ready.done():
                self._ready.set_exception(ValueError(fault))
            elif self.is_ready:
                log(fault)
            await asyncio.sleep(RESTART)

    async def _start_one(self) -> tuple[asyncio.subprocess.Process, dict[str, Any]]:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "spacy_structreg.serve.worker",
            self.pipeline,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # Ctrl-C is for the process that serves.
            start_new_session=True,
        )
        self._processes.add(process)
        try:
            return process, await receive(process)
        except asyncio.IncompleteReadError:
            return process, {"failed": "the worker has ended"}

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        if process.returncode is None:
            process.kill()
        await process.wait()
        self._processes.discard(process)


async def ask(process: asyncio.subprocess.Process, message: dict[str, Any]) -> dict[str, Any]:
    """Send a request to a worker, and wait for its answer."""
    assert process.stdin is not None
    process.stdin.write(packed(message))
    await process.stdin.drain()
    return await receive(process)


async def receive(process: asyncio.subprocess.Process) -> dict[str, Any]:
    """The next message of a worker. Raises IncompleteReadError if it ends."""
    assert process.stdout is not None
    length = int.from_bytes(await process.stdout.readexactly(LENGTH), "big")
    message: dict[str, Any] = msgpack.unpackb(await process.stdout.readexactly(length))
    return message


def settle(parts: list[Part], found: dict[str, Any]) -> None:
    """Give the requests what a worker has found of parts of their texts."""
    if "failed" in found:
        log(f"the pipeline failed: {found['failed']}")
    at = 0
    for job, start, texts in parts:
        before, at = at, at + len(texts)
        if job.done.done():
            continue
        if "fault" in found:
            job.done.set_exception(FaultError(found["fault"]))
        elif "failed" in found:
            job.done.set_exception(WorkerError(found["failed"]))
        else:
            job.answers[start : start + len(texts)] = found["answers"][before:at]
            job.left -= len(texts)
            if not job.left:
                job.done.set_result(None)
