"""Work that threads do side by side, with its results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

InputT = TypeVar("InputT")
OutputT = TypeVar("OutputT")

# How many inputs wait for each thread.
_WAITING: Final = 2


def side_by_side(
    work: Callable[[InputT], OutputT], inputs: Iterable[InputT], n_threads: int
) -> Generator[OutputT]:
    """The outputs of `work` for a stream of inputs, in their order; threads work side by side.

    Inputs are read in the thread of the caller, a few ahead of the output that comes next.
    """
    if n_threads <= 1:
        yield from map(work, inputs)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads) as pool:
        pending: deque[Future[OutputT]] = deque()
        try:
            for each in inputs:
                pending.append(pool.submit(work, each))
                if len(pending) == n_threads * _WAITING:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            # Nobody asks for what is left after an error, or when the stream is given up.
            for future in pending:
                future.cancel()
