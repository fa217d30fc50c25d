"""The processes that annotate, and the requests that wait for them."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgpack

from spacy_structreg.serve.errors import FaultError, log
from spacy_structreg.serve.worker import LENGTH, packed

__all__ = ["AnswerSizeError", "BusyError", "Pool", "TimeOverError", "WorkerError"]

PORTION: Final = 2_000
"""Characters that a worker is sent at once, or a longer text."""

PATIENCE: Final = 4
"""A worker that takes so many times the seconds of a request is ended, and another one started."""

RESTART: Final = 1.0
"""Seconds until a worker that could not load the pipeline is started again."""

END: Final = 10.0
"""Seconds for what a worker that is ended has started to let go of its output."""


class BusyError(Exception):
    """As many requests wait as may."""


class TimeOverError(Exception):
    """A request has not been answered in time."""


class AnswerSizeError(Exception):
    """An answer has more bytes than it may."""


class WorkerError(Exception):
    """A worker has failed, or ended."""


class LoadError(Exception):
    """A worker could not load the pipeline."""


@dataclass(eq=False)
class Job:
    """A request that waits, or is in work.

    request: what workers are sent, but for the texts. room: bytes that the rest of the answer may
    have. next: the first text that no worker has. left: how many texts have no answer.
    """

    request: dict[str, Any]
    texts: list[str]
    room: int
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
    """Some of the texts of a request, from the one with the number `start` on.

    is_alone: whether it is sent to a worker by itself, after the answer to several parts failed.
    """

    job: Job
    start: int
    texts: list[str]
    is_alone: bool = False


class Pool:
    """Processes with a pipeline each, and a queue of what they are to do.

    pipeline: a folder or package. n_workers: how many processes. seconds: for a request. waiting:
    how many requests may wait. answer: bytes of an answer at most.
    Requests take turns: a long one is sent in portions, and goes back to the end of the queue after
    each of them; short ones that want the same are sent together.
    """

    def __init__(
        self, pipeline: str, n_workers: int, *, seconds: float, waiting: int, answer: int
    ) -> None:
        self.pipeline = pipeline
        self.described: dict[str, Any] | None = None
        self.waiting: deque[Job] = deque()
        self.loaded = asyncio.Event()
        self.is_stopping = False
        self.n_ended = 0
        self._n_workers = n_workers
        self._seconds = seconds
        self._most = waiting
        self._most_bytes = answer
        self._some = asyncio.Condition()
        self._again: deque[Part] = deque()
        self._workers: set[asyncio.subprocess.Process] = set()

    @property
    def n_living(self) -> int:
        """The number of workers that have loaded the pipeline, and live."""
        return sum(process.returncode is None for process in self._workers)

    async def work(self) -> None:
        """Let workers answer requests until this is cancelled, which ends them.

        `loaded` is set when the first of them has loaded the pipeline. Raises ValueError if it
        cannot.
        """
        tasks = [asyncio.create_task(self._work()) for _ in range(self._n_workers)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                await task
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def run(self, request: dict[str, Any], texts: list[str]) -> list[bytes]:
        """The answers of workers to a request about texts, one a text.

        Raises BusyError if the queue is full, TimeOverError after the seconds that a request may
        take, FaultError for faults of the request, AnswerSizeError if the answer is too long,
        WorkerError if a worker fails.
        """
        if len(self.waiting) >= self._most:
            raise BusyError
        if not texts:
            return []
        done = asyncio.get_running_loop().create_future()
        job = Job(request, texts, self._most_bytes, [b""] * len(texts), done)
        await self._put(job)
        try:
            await asyncio.wait_for(job.done, self._seconds)
        except asyncio.TimeoutError:
            raise TimeOverError from None
        finally:
            # Who has sent it may have gone, or waits no longer.
            with suppress(ValueError):
                self.waiting.remove(job)
        return job.answers

    async def _put(self, job: Job) -> None:
        async with self._some:
            self.waiting.append(job)
            self._some.notify_all()

    async def _take(self, process: asyncio.subprocess.Process) -> list[Part]:
        """The next portion for a worker; nothing if it has ended."""
        async with self._some:
            while True:
                await self._some.wait_for(
                    lambda: self._again or self.waiting or process.returncode is not None
                )
                if process.returncode is not None:
                    return []
                if parts := self._next():
                    return parts

    def _next(self) -> list[Part]:
        """Texts of one request, and of those behind it that want the same."""
        while self._again:
            part = self._again.popleft()
            # Nobody waits for it when the time of a request is over.
            if not part.job.done.done():
                return [part]
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
            if job.done.done():
                continue
            parts.append(job.part(PORTION - size))
            size += sum(map(len, parts[-1].texts))
        for part in parts:
            if part.job.next < len(part.job.texts):
                # Before it is answered, so that another worker may take the rest.
                self.waiting.append(part.job)
                self._some.notify_all()
        return parts

    async def _work(self) -> None:
        """Talk to a worker, which is started again when it ends."""
        while True:
            try:
                async with self._started() as process:
                    while parts := await self._take(process):
                        await self._answer(process, parts)
                self.n_ended += 1
            except LoadError as error:
                fault = f"the pipeline {self.pipeline} cannot be loaded: {error}"
                if not self.loaded.is_set():
                    raise ValueError(fault) from None
                log(fault)
                await asyncio.sleep(RESTART)

    async def _answer(self, process: asyncio.subprocess.Process, parts: list[Part]) -> None:
        """Settle parts by what a worker answers, or let each be asked for once more."""
        found = await self._ask(process, parts)
        has_failed = "ended" in found or ("answers" not in found and len(parts) > 1)
        if has_failed and not parts[0].is_alone:
            # One of them is at fault; or none, if the worker had ended before it was asked.
            async with self._some:
                self._again.extend(part._replace(is_alone=True) for part in parts)
                self._some.notify_all()
        else:
            settle(parts, found)

    async def _ask(self, process: asyncio.subprocess.Process, parts: list[Part]) -> dict[str, Any]:
        """The answer of a worker, which is ended if it takes too long."""
        texts = [text for part in parts for text in part.texts]
        try:
            return await asyncio.wait_for(
                ask(process, {**parts[0].job.request, "texts": texts}), PATIENCE * self._seconds
            )
        except asyncio.TimeoutError:
            fault = "a worker took too long, and was ended; another one is started"
        except (asyncio.IncompleteReadError, OSError):
            fault = "a worker has ended; another one is started"
        await end(process)
        log(fault)
        return {"ended": fault}

    @asynccontextmanager
    async def _started(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """A worker that has loaded the pipeline; it is ended at the end of the ``with`` block.

        Raises LoadError if it cannot.
        """
        try:
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
        except OSError as error:
            raise LoadError(str(error)) from error
        watcher = asyncio.create_task(self._watch(process))
        try:
            try:
                hello = await receive(process)
            except asyncio.IncompleteReadError:
                raise LoadError("the worker has ended") from None
            if "failed" in hello:
                raise LoadError(hello["failed"])
            self.described = hello["pipeline"]
            self._workers.add(process)
            self.loaded.set()
            yield process
        finally:
            self._workers.discard(process)
            watcher.cancel()
            await end(process)

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        """Tell who waits for work on behalf of a worker when it has ended."""
        await process.wait()
        async with self._some:
            self._some.notify_all()


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


async def end(process: asyncio.subprocess.Process) -> None:
    """End a worker, if it has not ended."""
    if process.returncode is None:
        process.kill()
    # What it has written must be read first: else its end is not seen. What it has started may
    # hold its output open.
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(process.communicate(), END)


def settle(parts: list[Part], found: dict[str, Any]) -> None:
    """Give the requests what a worker has found of parts of their texts."""
    if "failed" in found:
        log(f"the pipeline failed: {found['failed']}")
    at = 0
    for job, start, texts, _ in parts:
        before, at = at, at + len(texts)
        if job.done.done():
            continue
        if "answers" in found:
            answers = found["answers"][before:at]
            job.answers[start : start + len(texts)] = answers
            job.left -= len(texts)
            job.room -= sum(map(len, answers))
            if job.room < 0:
                job.done.set_exception(AnswerSizeError())
            elif not job.left:
                job.done.set_result(None)
        elif "fault" in found:
            job.done.set_exception(FaultError(found["fault"]))
        else:
            job.done.set_exception(WorkerError())
