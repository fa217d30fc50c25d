"""Results of tasks on a cluster, as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["results_of"]


def results_of(client: Client, futures: Iterable[Future]) -> Iterator[Any]:
    """Yield the results of tasks in the order in which they end; each is then forgotten.

    The caller keeps no reference to the futures. What a worker had done when it died is done again.
    Raises what a task raises, and OSError if workers die of a task again and again.
    """
    from distributed import KilledWorker, as_completed

    completed = as_completed(futures, loop=client.loop, with_results=True)
    del futures
    try:
        for _, result in completed:
            yield result
    except KilledWorker as error:
        raise OSError(
            "workers died one after the other of the same task, perhaps for want of memory; give "
            "them more, or start fewer of them on a machine"
        ) from error
