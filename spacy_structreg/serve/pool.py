"""The processes that annotate, and the requests that wait for them."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import msgpack

from spacy_structreg.serve.errors import RequestError, log
from spacy_structreg.serve.settings import Limits
from spacy_structreg.serve.worker import LENGTH, packed

PORTION: Final = 2_000
"""Characters that a worker is sent at once, or a longer text."""

PATIENCE: Final = 4
"""A worker that takes so many times the seconds of a request is ended, and another one started."""

RESTART: Final = 1.0
"""Seconds until a worker that could not load the pipeline is started again."""

END: Final = 10.0
"""Seconds for what a worker that is ended has started to let go of its output."""


class LoadError(Exception):
    """A worker could not load the pipeline."""


@dataclass(eq=False)
class Worker:
    """A process that has loaded the pipeline.

    watch: is done when the process has ended, or is to be. asking: what it is asked for.
    """

    process: asyncio.subprocess.Process
    watch: asyncio.Task[int]
    asking: asyncio.Task[None] | None = None


@dataclass(eq=False)
class Portion:
    """Some of the texts of a request, which wait for a worker or are with one.

    request: what workers are sent, but for the texts. found: what a worker answers; nothing if it
    has ended twice. is_alone: whether it is sent by itself, after the answer to several failed.
    """

    request: dict[str, Any]
    texts: list[str]
    found: asyncio.Future[dict[str, Any]]
    is_alone: bool = False


class Pool:
    """Processes with a pipeline each, which requests use in turn.

    pipeline: a folder or package. n_workers: how many processes. limits: of which `seconds`,
    `waiting` and `answer` count here.
    A long request has a portion of its texts annotated, and then waits behind the others again;
    short ones that want the same are sent together.
    """

    def __init__(self, pipeline: str, n_workers: int, limits: Limits) -> None:
        self.pipeline = pipeline
        self.described: dict[str, Any] | None = None
        self.loaded = asyncio.Event()
        self.is_stopping = False
        self.n_ended = 0
        self._n_workers = n_workers
        self._limits = limits
        self._workers: set[Worker] = set()
        self._free: deque[Worker] = deque()
        self._waiting: deque[Portion] = deque()

    @property
    def n_living(self) -> int:
        """The number of workers that have loaded the pipeline, and live."""
        return sum(worker.process.returncode is None for worker in self._workers)

    @property
    def n_waiting(self) -> int:
        """The number of requests of which some texts wait for a worker."""
        return len({id(portion.request) for portion in self._waiting})

    # Requests

    async def run(self, request: dict[str, Any], texts: list[str]) -> list[bytes]:
        """The answers of workers to a request about texts, one a text.

        Raises RequestError for faults of the request, if too many wait, the time is over, the
        answer is too long, or a worker fails.
        """
        if self.n_waiting >= self._limits.waiting:
            raise RequestError(
                429, "busy", "too many requests wait; try again after a second", wait=1
            )
        answers = [b""] * len(texts)
        portions = list(portions_of(texts))
        todo = iter(portions)
        tasks = [
            asyncio.ensure_future(self._answer(request, todo, answers))
            # One for each worker, and one that waits in the queue.
            for _ in portions[: self._n_workers + 1]
        ]
        try:
            await asyncio.wait_for(asyncio.gather(*tasks), self._limits.seconds)
        except asyncio.TimeoutError:
            raise RequestError(
                503,
                "time_over",
                f"the request was not answered within {self._limits.seconds:g} seconds; send "
                "fewer or shorter texts, or try again",
                wait=1,
            ) from None
        finally:
            # Who has sent it may have gone, or waits no longer.
            for task in tasks:
                task.cancel()
        return answers

    async def _answer(
        self,
        request: dict[str, Any],
        portions: Iterator[tuple[int, list[str]]],
        answers: list[bytes],
    ) -> None:
        """Have portions of the texts of a request answered, one after the other."""
        for start, texts in portions:
            portion = Portion(request, texts, asyncio.get_running_loop().create_future())
            self._waiting.append(portion)
            self._send()
            try:
                found = await portion.found
            finally:
                with suppress(ValueError):
                    self._waiting.remove(portion)
            if "fault" in found:
                raise RequestError(400, "bad_request", found["fault"])
            if "answers" not in found:
                raise RequestError(
                    500,
                    "failed",
                    "the pipeline fails on this request; the log of the server says where",
                )
            answers[start : start + len(texts)] = found["answers"]
            if sum(map(len, answers)) > self._limits.answer:
                raise RequestError(
                    413,
                    "answer_too_large",
                    f"the answer would have more than {self._limits.answer:,} bytes; send fewer "
                    "texts at once, ask for less of them, or start the server with --max-answer",
                )

    def _send(self) -> None:
        """Let free workers answer portions that wait."""
        while self._free and self._waiting:
            worker = self._free.popleft()
            if not worker.watch.done():
                worker.asking = asyncio.ensure_future(self._ask(worker, self._next()))

    def _next(self) -> list[Portion]:
        """The next portion, and those behind it that are sent together with it."""
        first = self._waiting.popleft()
        portions = [first]
        size = sum(map(len, first.texts))
        while self._waiting and not (first.is_alone or "component" in first.request):
            other = self._waiting[0]
            size += sum(map(len, other.texts))
            if other.is_alone or other.request != first.request or size > PORTION:
                break
            portions.append(self._waiting.popleft())
        return portions

    async def _ask(self, worker: Worker, portions: list[Portion]) -> None:
        """Have portions answered by a worker, which is ended if it takes too long."""
        texts = [text for portion in portions for text in portion.texts]
        message = {**portions[0].request, "texts": texts}
        try:
            found = await asyncio.wait_for(
                ask(worker.process, message), PATIENCE * self._limits.seconds
            )
        except (asyncio.TimeoutError, asyncio.IncompleteReadError, OSError) as error:
            is_late = isinstance(error, asyncio.TimeoutError)
            fault = "took too long, and was ended" if is_late else "has ended"
            log(f"a worker {fault}; another one is started")
            worker.watch.cancel()
            found = {}
        else:
            self._free.append(worker)
        # For those that are done, nobody waits any more.
        waited_for = [portion for portion in portions if not portion.found.done()]
        if not portions[0].is_alone and (not found or ("answers" not in found and portions[1:])):
            # One of them is at fault; or none, if the worker had ended before it was asked.
            for portion in waited_for:
                portion.is_alone = True
            self._waiting.extendleft(reversed(waited_for))
        else:
            if "failed" in found:
                log(f"the pipeline failed: {found['failed']}")
            answers = iter(found.get("answers", ()))
            for portion in portions:
                if "answers" in found:
                    found = {"answers": list(islice(answers, len(portion.texts)))}
                if not portion.found.done():
                    portion.found.set_result(found)
        self._send()

    # Workers

    async def work(self) -> None:
        """Keep workers running until this is cancelled, which ends them.

        `loaded` is set when the first of them has loaded the pipeline. Raises ValueError if it
        cannot.
        """
        tasks = [asyncio.create_task(self._keep_worker()) for _ in range(self._n_workers)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                await task
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep_worker(self) -> None:
        """Start a worker, and another one when it has ended."""
        while True:
            try:
                async with started(self.pipeline) as (worker, self.described):
                    self._workers.add(worker)
                    self._free.append(worker)
                    self.loaded.set()
                    self._send()
                    try:
                        await asyncio.wait({worker.watch})
                        self.n_ended += 1
                        if worker.asking is not None:
                            await asyncio.wait({worker.asking})
                    finally:
                        self._workers.discard(worker)
            except LoadError as error:
                fault = f"the pipeline {self.pipeline} cannot be loaded: {error}"
                if not self.loaded.is_set():
                    raise ValueError(fault) from None
                log(fault)
                await asyncio.sleep(RESTART)


def portions_of(texts: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Cut texts into portions of `PORTION` characters at most, or of a longer text.

    Yields the number of the first text of each, and the texts.
    """
    start = size = 0
    for number, text in enumerate(texts):
        size += len(text)
        if size > PORTION and number > start:
            yield start, texts[start:number]
            start, size = number, len(text)
    if texts:
        yield start, texts[start:]


@asynccontextmanager
async def started(pipeline: str) -> AsyncIterator[tuple[Worker, dict[str, Any]]]:
    """A worker that has loaded a pipeline, and its description; it is ended after the block.

    Raises LoadError if it cannot.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "spacy_structreg.serve.worker",
            pipeline,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # Ctrl-C is for the process that serves.
            start_new_session=True,
        )
    except OSError as error:
        raise LoadError(str(error)) from error
    worker = Worker(process, asyncio.create_task(process.wait()))
    try:
        try:
            hello = await receive(process)
        except asyncio.IncompleteReadError:
            raise LoadError("the worker has ended") from None
        if "failed" in hello:
            raise LoadError(hello["failed"])
        yield worker, hello["pipeline"]
    finally:
        tasks = {task for task in (worker.watch, worker.asking) if task is not None}
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        if process.returncode is None:
            process.kill()
        # What it has written must be read first: else its end is not seen. What it has started may
        # hold its output open.
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.communicate(), END)


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
